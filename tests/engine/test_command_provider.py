"""`command:local` under the real engine: the same tests hold for the official plugin and for the stand-in."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from toolchain.environment import lab_environment

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]

# What the test writes to resources.json becomes resources; the outputs of each are exported.
PROGRAM = """
import json
from pathlib import Path
import pulumi
from pulumi_command import local

def value(item):
    if isinstance(item, dict) and "secret" in item:
        return pulumi.Output.secret(item["secret"])
    if isinstance(item, dict) and "of" in item:
        return made[item["of"]].stdout
    if isinstance(item, dict):
        return {key: value(one) for key, one in item.items()}
    return item

made = {}
for name, inputs in json.loads(Path("resources.json").read_text()).items():
    arguments = {key: value(item) for key, item in inputs.items()}
    options = pulumi.ResourceOptions(additional_secret_outputs=arguments.pop("secret_outputs", None))
    if name == "run":
        made[name] = local.run_output(**arguments)
    else:
        made[name] = local.Command(name, **arguments, opts=options)
    pulumi.export(name, {"stdout": made[name].stdout, "stderr": made[name].stderr})
"""


@dataclass(frozen=True)
class Lab:
    """A Pulumi program in a folder, with a home and a state of its own."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)

    def pulumi(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - the lab's own pulumi
            ["pulumi", "--non-interactive", *words],  # noqa: S607 - found through the lab's PATH
            cwd=self.folder,
            env=dict(self.environ),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def ok(self, *words: str) -> str:
        done = self.pulumi(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def write(self, **resources: object) -> None:
        (self.folder / "resources.json").write_text(json.dumps(resources))

    def up(self, **resources: object) -> dict[str, dict[str, str]]:
        """Update to these resources; return their outputs."""
        self.write(**resources)
        self.ok("up", "--yes", "--skip-preview")
        return json.loads(self.ok("stack", "output", "--json", "--show-secrets"))

    def steps(self, **resources: object) -> dict[str, str]:
        """Preview these resources; return what would be done with each command that is not left alone."""
        self.write(**resources)
        steps = json.loads(self.ok("preview", "--json"))["steps"]
        return {
            step["urn"].rpartition("::")[2]: step["op"] for step in steps if "local:Command" in step["urn"]
        }

    def state(self) -> str:
        return self.ok("stack", "export")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    own = {
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path}",
        "PULUMI_CONFIG_PASSPHRASE": "test",
    }
    environ = lab_environment(ROOT) | own
    folder = tmp_path / "program"
    folder.mkdir()
    runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
    (folder / "Pulumi.yaml").write_text(json.dumps({"name": "commands", "runtime": runtime}))
    (folder / "__main__.py").write_text(PROGRAM)
    made = Lab(folder, environ)
    made.ok("stack", "init", "test")
    try:
        yield made
    finally:
        made.pulumi("cancel", "--yes")
        made.write()
        made.pulumi("destroy", "--yes", "--skip-preview")


def test_a_command_is_created_updated_and_deleted(lab: Lab, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = {
        "create": f"echo create >> '{log}'; echo made; echo warned >&2",
        "update": f"echo update of $PULUMI_COMMAND_STDOUT, $PULUMI_COMMAND_STDERR >> '{log}'; echo updated",
        "delete": f"echo delete of $PULUMI_COMMAND_STDOUT $WORD >> '{log}'",
    }
    assert lab.up(c=command) == {"c": {"stdout": "made", "stderr": "warned"}}
    assert lab.up(c=command)["c"]["stdout"] == "made"
    changed = {**command, "environment": {"WORD": "word"}}
    assert lab.steps(c=changed) == {"c": "update"}
    assert lab.up(c=changed)["c"] == {"stdout": "updated", "stderr": ""}
    assert lab.steps(c=changed) == {}
    lab.ok("refresh", "--yes", "--skip-preview")
    assert lab.steps(c=changed) == {}
    lab.up()
    assert log.read_text().splitlines() == ["create", "update of made, warned", "delete of updated word"]


def test_without_update_the_create_command_runs_again(lab: Lab) -> None:
    command = {"create": "echo $WORD ${PULUMI_COMMAND_STDOUT-new}", "environment": {"WORD": "a"}}
    assert lab.up(c=command)["c"]["stdout"] == "a new"
    assert lab.up(c={**command, "environment": {"WORD": "b"}})["c"]["stdout"] == "b a new"


def test_a_changed_trigger_replaces_and_an_equal_one_does_not(lab: Lab, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = {"create": f"echo create >> '{log}'", "delete": f"echo delete >> '{log}'"}
    lab.up(c={**command, "triggers": [1, {"deep": ["a"]}]})
    assert lab.steps(c={**command, "triggers": [1, {"deep": ["a"]}]}) == {}
    lab.up(c={**command, "triggers": [1, {"deep": ["b"]}]})
    assert log.read_text().splitlines() == ["create", "create", "delete"]


def test_input_folder_environment_and_interpreter(lab: Lab, tmp_path: Path) -> None:
    code = "import os, sys; print(sys.stdin.read() + os.environ['WORD'] + os.getcwd())"
    command = {
        "create": code,
        "stdin": "from stdin\n",
        "dir": str(tmp_path),
        "environment": {"WORD": "word in "},
        "interpreter": [sys.executable, "-c"],
    }
    assert lab.up(c=command)["c"]["stdout"] == f"from stdin\nword in {tmp_path}"


def test_a_preview_runs_nothing_and_knows_no_output(lab: Lab, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    steps = lab.steps(first={"create": f"touch '{touched}'"}, second={"create": {"of": "first"}})
    assert steps == {"first": "create", "second": "create"}
    assert not touched.exists()


def test_one_command_s_output_is_another_s_input(lab: Lab) -> None:
    got = lab.up(first={"create": "echo echo made by another"}, second={"create": {"of": "first"}})
    assert got["second"]["stdout"] == "made by another"


def test_a_failing_command_is_reported_with_status_and_output(lab: Lab) -> None:
    lab.write(c={"create": "echo its output; echo its error >&2; exit 7"})
    failed = lab.pulumi("up", "--yes", "--skip-preview")
    assert failed.returncode != 0
    for part in ("exit status 7", "its output", "its error"):
        assert part in failed.stdout + failed.stderr
    assert "local:Command" not in lab.state()


def test_a_failed_update_keeps_the_old_state(lab: Lab) -> None:
    lab.up(c={"create": "echo first"})
    lab.write(c={"create": "echo first", "update": "exit 1"})
    assert lab.pulumi("up", "--yes", "--skip-preview").returncode != 0
    assert lab.up(c={"create": "echo first"})["c"]["stdout"] == "first"


def test_secrets_are_nowhere_in_clear(lab: Lab) -> None:
    command = {
        "create": "echo the $WORD",
        "environment": {"WORD": {"secret": "hidden-word"}},
        "logging": "none",
    }
    told = {"create": "echo hidden-output", "secret_outputs": ["stdout"], "logging": "none"}
    assert lab.up(c=command, told=told)["c"]["stdout"] == "the hidden-word"
    assert "hidden-word" not in lab.state()
    state = json.loads(lab.state())
    outputs = {
        resource["urn"].rpartition("::")[2]: resource["outputs"]
        for resource in state["deployment"]["resources"]
        if resource["type"] == "command:local:Command"
    }
    assert "hidden" not in json.dumps(outputs["told"]["stdout"])
    assert lab.steps(c=command, told=told) == {}
    assert lab.up() == {}


def test_a_failing_command_does_not_tell_its_secrets(lab: Lab) -> None:
    lab.write(c={"create": "echo $WORD; exit 1", "environment": {"WORD": {"secret": "hidden-word"}}})
    failed = lab.pulumi("up", "--yes", "--skip-preview")
    assert failed.returncode != 0
    assert "hidden-word" not in failed.stdout + failed.stderr


def test_output_is_shown_unless_not_wanted(lab: Lab) -> None:
    loud, quiet = "echo loud-$((1 + 1))", "echo quiet-$((1 + 1))"
    lab.write(loud={"create": loud}, quiet={"create": quiet, "logging": "none"})
    said = lab.ok("up", "--yes", "--skip-preview", "--suppress-outputs")
    assert "loud-2" in said
    assert "quiet-2" not in said


def test_run_runs_every_time(lab: Lab, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run = {"command": f"cat; echo run >> '{log}'; echo error >&2", "stdin": "from stdin"}
    for _ in range(2):
        assert lab.up(run=run) == {"run": {"stdout": "from stdin", "stderr": "error"}}
    assert log.read_text() == "run\nrun\n"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_an_engine_that_is_stopped_leaves_no_process(lab: Lab, tmp_path: Path, sent: signal.Signals) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    lab.write(c={"create": f"exec 3> '{alive}'; exec tail -f /dev/null"})
    command = ["pulumi", "--non-interactive", "up", "--yes", "--skip-preview"]
    with (
        subprocess.Popen(  # noqa: S603 - the lab's own pulumi
            command, cwd=lab.folder, env=dict(lab.environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process,
        alive.open() as pipe,  # opens when the command runs
    ):
        process.send_signal(sent)
        process.communicate(timeout=20)  # returns when the program and the plugins have ended as well
        pipe.read()  # returns when no process of the command is left
    assert process.returncode != 0
