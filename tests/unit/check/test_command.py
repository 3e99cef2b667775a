"""`lab check` as people call it: arguments, exit codes, and what needs no cluster and no Pulumi."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from lab.check import check
from lab.cluster_inventory import ClusterError, read_cluster

ROOT = Path(__file__).resolve().parents[3]
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {deviceClassName: gpu.nvidia.com, count: COUNT}
"""
POOL = "A100=8/2"


def run(*arguments: str, text: str = "") -> tuple[int, str, str]:
    app = typer.Typer()
    app.command()(check)
    result = CliRunner().invoke(app, arguments, input=text, env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(tmp_path)
    for count in ("2", "9", "-1"):
        Path(f"claim{count}.yaml").write_text(CLAIM.replace("COUNT", count))


def test_clean_is_0_findings_are_1_unreadable_is_2() -> None:
    assert run("claim2.yaml", "--pool", POOL)[0] == 0
    assert run("claim9.yaml", "--pool", POOL)[0] == 1
    assert run("claim-1.yaml")[0] == 1
    Path("broken.yaml").write_text("a: [")
    assert run("claim9.yaml", "broken.yaml", "--pool", POOL)[0] == 2


def test_the_level_decides_what_fails() -> None:
    Path("nothing.yaml").write_text(CLAIM.partition("    requests")[0] + "    requests: []\n")
    assert run("nothing.yaml")[0] == 0
    assert run("nothing.yaml", "--fail-on", "warning")[0] == 0
    assert run("nothing.yaml", "--fail-on", "advice")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing argument"),
        (["claim2.yaml", "--target", "1.33"], "1.33"),
        (["claim2.yaml", "--output", "xml"], "xml"),
        (["claim2.yaml", "--pool", "V100=1"], "products that are known"),
        (["claim2.yaml", "--pool", POOL, "--inventory", "claim2.yaml"], "one of --inventory"),
        (["claim2.yaml", "--pool", POOL, "--from-cluster"], "one of --inventory"),
        (["claim2.yaml", "--from-cluster", "--kubeconfig", "none"], "none"),
        (["claim2.yaml", "--kubeconfig", "none"], "--from-cluster"),
        (["claim2.yaml", "--context", "none"], "--from-cluster"),
    ],
)
def test_wrong_usage_is_2_with_a_sentence(arguments: list[str], says: str) -> None:
    code, _, error = run(*arguments)
    assert code == 2
    assert says in " ".join(error.replace("│", "").split())


def test_what_is_not_there_is_2() -> None:
    code, out, _ = run("none.yaml")
    assert code == 2
    assert "No such file" in out


def test_standard_input_is_read() -> None:
    code, out, _ = run("-", "--pool", POOL, "--output", "json", text=CLAIM.replace("COUNT", "9"))
    assert code == 1
    assert [each["file"] for each in json.loads(out)] == ["-"]


def test_several_pools_are_one_inventory() -> None:
    assert run("claim9.yaml", "--pool", "A100=8", "--pool", "H100=9")[0] == 0


def test_an_inventory_may_be_a_folder_and_its_faults_are_told() -> None:
    Path("cluster").mkdir()
    Path("cluster/slice.yaml").write_text(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: a_b}\n"
    )
    code, out, _ = run("claim2.yaml", "--inventory", "cluster", "--output", "json")
    assert code == 1
    assert [each["file"] for each in json.loads(out)] == ["cluster/slice.yaml", "claim2.yaml"]


@pytest.mark.parametrize("inventory", ["none.yaml", "broken.yaml"])
def test_against_an_inventory_that_cannot_be_read_nothing_is_judged(inventory: str) -> None:
    Path("broken.yaml").write_text("a: [")
    code, out, _ = run("claim9.yaml", "--inventory", inventory, "--output", "json")
    assert code == 2
    assert [each["verdict"] for each in json.loads(out)] == ["unreadable", "accepted"]


@pytest.mark.parametrize("form", ["json", "sarif", "github", "junit", "text"])
def test_each_form_is_whole_and_alone_on_standard_output(form: str) -> None:
    code, out, error = run("claim9.yaml", "claim2.yaml", "--pool", POOL, "--output", form)
    assert code == 1
    assert error == ""
    assert "DRA301" in out


@pytest.mark.parametrize("form", ["json", "sarif", "github", "junit", "text"])
def test_a_result_that_cannot_be_written_is_2_with_a_sentence(form: str) -> None:
    command = [sys.executable, "-m", "lab", "check", str(Path("claim9.yaml").resolve()), "--output", form]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 2
    assert done.stderr == "The result cannot be written: No space left on device.\n"


def test_a_result_that_nobody_takes_is_2_with_a_sentence() -> None:
    command = [
        "sh",
        "-c",
        'exec "$0" -m lab check "$1" >&-',
        sys.executable,
        str(Path("claim9.yaml").resolve()),
    ]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 2
    assert done.stderr == "The result cannot be written: standard output is closed.\n"


def test_a_closed_standard_input_is_a_finding() -> None:
    command = ["sh", "-c", 'exec "$0" -m lab check - <&-', sys.executable]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 2
    assert "It cannot be read: it is closed." in done.stdout
    assert done.stderr == ""


def test_the_target_decides() -> None:
    Path("gated.yaml").write_text(CLAIM.replace("count: COUNT", "tolerations: [{operator: Exists}]"))
    assert "DRA406" in run("gated.yaml", "--target", "1.35")[1]
    assert "DRA406" not in run("gated.yaml", "--target", "1.36")[1]


def test_the_command_needs_no_pulumi_and_no_client() -> None:
    code = (
        "import sys; sys.argv = ['lab', 'check', sys.argv[1]]\n"
        "import lab.__main__\n"
        "try: lab.__main__.app()\n"
        "except SystemExit as exit: assert exit.code == 1, exit.code\n"
        "assert not {'pulumi', 'pulumi_kubernetes', 'lightkube', 'grpc'} & set(sys.modules)\n"
    )
    command = [sys.executable, "-c", code, str(Path("claim-1.yaml").resolve())]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stderr
    assert "1 object: 1 rejected." in done.stdout


def test_a_cluster_that_does_not_answer_is_said_in_a_sentence() -> None:
    config: dict[str, Any] = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "current-context": "c",
    }
    Path("kubeconfig").write_text(json.dumps(config))
    with pytest.raises(ClusterError, match="does not answer"):
        read_cluster("kubeconfig", None)
    with pytest.raises(ClusterError, match="kubeconfig kubeconfig cannot be used"):
        read_cluster("kubeconfig", "other")


@pytest.mark.parametrize(
    "text",
    ["clusters: [", "", "[]", "a", "1", "{}", "clusters: 1", "{clusters: [{}], contexts: [{}]}", "\0", CLAIM],
)
def test_what_is_no_kubeconfig_is_said_in_a_sentence(text: str) -> None:
    Path("kubeconfig").write_text(text)
    with pytest.raises(ClusterError, match=r"^The kubeconfig kubeconfig cannot be used: .*[^.]\.$"):
        read_cluster("kubeconfig", None)


def test_the_pre_commit_hook_runs_what_there_is() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] == "lab-check"
    assert (hook["language"], hook["entry"]) == ("script", "lab/hook.sh")
    assert os.access(ROOT / hook["entry"], os.X_OK)
