""".lab/env in the shells that people use, and the same for subprocesses."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from toolchain.cache import cache_root
from toolchain.environment import env_text, lab_environment, lab_variables, prepare

REPO = Path(__file__).resolve().parents[3]
SHELLS = [shell for shell in ("bash", "dash", "sh") if shutil.which(shell)]
DUMP = "import json, os; print(json.dumps(dict(os.environ)))"


def sourced(shell: str, repo: Path, environ: dict[str, str], times: int = 1) -> dict[str, str]:
    prepare(repo)
    (repo / ".lab/env").write_text(env_text(repo))
    script = 'set -eu; for i in $(seq "$3"); do . "$1"; done; exec "$2" -c "$4"'
    words = [shell, "-c", script, shell, str(repo / ".lab/env"), sys.executable, str(times), DUMP]
    out = subprocess.run(words, cwd="/", env=environ, check=True, capture_output=True, text=True, timeout=10)  # noqa: S603 - this test's own script
    return json.loads(out.stdout)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", ["plain", "with space", "it's $HOME"])
def test_the_shell_and_the_subprocess_have_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, name: str
) -> None:
    monkeypatch.delenv("LAB_STACK", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    repo = tmp_path / name
    got, expected = sourced(shell, repo, dict(os.environ)), lab_environment(repo)
    for variable in [*lab_variables(repo), "PATH", "KUBECONFIG"]:
        assert got[variable] == expected[variable]
    assert got["PATH"] == f"{repo}/.lab/bin:{repo}/.venv/bin:/usr/bin:/bin"
    assert got["KUBECONFIG"] == f"{repo}/.lab/dev/kubeconfig"


@pytest.mark.parametrize("shell", SHELLS)
def test_read_twice_it_changes_nothing_more(tmp_path: Path, shell: str) -> None:
    environ = {"PATH": "/usr/bin:/bin"}
    assert sourced(shell, tmp_path, environ, 2)["PATH"] == sourced(shell, tmp_path, environ)["PATH"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_stack_can_be_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("LAB_STACK", "ci")
    kubeconfig = f"{tmp_path}/.lab/ci/kubeconfig"
    assert sourced(shell, tmp_path, dict(os.environ))["KUBECONFIG"] == kubeconfig
    assert lab_environment(tmp_path)["KUBECONFIG"] == kubeconfig
    assert lab_environment(tmp_path)["LAB_STACK"] == "ci"
    other = lab_environment(tmp_path, "other")
    assert other["KUBECONFIG"] == f"{tmp_path}/.lab/other/kubeconfig"
    assert other["LAB_STACK"] == "other"


@pytest.mark.parametrize(
    ("variables", "stack"),
    [({}, "dev"), ({"LAB_STACK": "ci"}, "ci"), ({"LAB_STACK": "ci", "STACK": "lesson"}, "lesson")],
)
def test_make_is_at_the_stack_that_the_shell_is_at(variables: dict[str, str], stack: str) -> None:
    environ = {key: value for key, value in os.environ.items() if key not in {"STACK", "LAB_STACK"}}
    out = subprocess.run(
        # Not a word about its folder, which make says where another make runs the tests.
        ["make", "--no-print-directory", "--dry-run", "report"],  # noqa: S607 - found on PATH
        cwd=REPO,
        env=environ | variables,
        check=True,
        capture_output=True,
        text=True,
        timeout=10,
    )
    assert out.stdout.rstrip().endswith(f"-m lab report --stack {stack}")


def test_the_lab_s_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    for _ in range(2):
        prepare(tmp_path)
    assert stat.S_IMODE((tmp_path / ".lab").stat().st_mode) == 0o700
    assert sorted(path.name for path in (tmp_path / ".lab").iterdir()) == ["bin", "pulumi", "state"]


def test_the_cache_is_where_it_is_told(tmp_path: Path) -> None:
    assert cache_root({"GPULAB_CACHE": str(tmp_path), "XDG_CACHE_HOME": "/x"}) == tmp_path
    assert cache_root({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "gpulab"
    assert cache_root({}) == Path.home() / ".cache/gpulab"
