"""The stand-ins' decisions, without an engine."""

from pathlib import Path

import pytest
from pulumi.runtime.proto import language_pb2 as lang
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.rpc import UNKNOWN

from toolchain.standins.command import check, differences, outputs
from toolchain.standins.language_python import exec_arguments, python_of
from toolchain.standins.processes import Processes
from toolchain.standins.run_command import CommandError, CommandInputs, Printed, RunInputs, run_command
from toolchain.standins.values import is_secret, masked, plain, secret, secrets_in


def unheard(_line: str) -> None:
    """Take a line that the engine would show."""


def run(command: str, inputs: CommandInputs | None = None, previous: Printed | None = None) -> Printed:
    return run_command(command, inputs or CommandInputs(), previous or Printed(), Processes(), unheard)


def test_one_newline_at_the_end_is_taken_off() -> None:
    assert run("printf 'a\\n\\n'; printf b >&2") == Printed("a\n", "b")


def test_a_command_need_not_read_its_input() -> None:
    assert run("echo done", CommandInputs(stdin="x" * 10_000_000)) == Printed("done")


def test_the_previous_output_is_in_the_environment_unless_not_wanted() -> None:
    show = 'echo "${PULUMI_COMMAND_STDOUT-none}"'
    assert run(show, previous=Printed("before")) == Printed("before")
    without = CommandInputs.model_validate({"addPreviousOutputInEnv": False})
    assert run(show, without, Printed("before")) == Printed("none")


def test_a_failure_tells_its_status_and_all_output() -> None:
    with pytest.raises(CommandError) as failure:
        run("echo out; echo err >&2; exit 3")
    assert str(failure.value).startswith('exit status 3: running "echo out; ')
    assert {"out", "err"} <= set(str(failure.value).split("\n"))


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file or directory"):
        run("true", CommandInputs(dir=str(tmp_path / "gone")))


def test_cancelling_kills_what_the_command_started() -> None:
    processes = Processes()
    # The background process holds the pipe: that the call returns says that it is gone.
    with pytest.raises(CommandError, match="killed by signal 9"):
        run_command(
            "tail -f /dev/null & echo started; wait",
            CommandInputs(),
            Printed(),
            processes,
            lambda _: processes.stop(),
        )
    with pytest.raises(CommandError, match="cancelled"):
        run_command("true", CommandInputs(), Printed(), processes, unheard)


@pytest.mark.parametrize(
    ("inputs", "wrong"),
    [
        ({"create": "true"}, []),
        ({"create": UNKNOWN, "environment": {"A": UNKNOWN}, "triggers": [1.0, {"a": None}]}, []),
        ({"create": secret("true")}, []),
        ({"create": 1.0}, ["create"]),
        ({"environment": {"A": 1.0}}, ["environment.A"]),
        ({"logging": "loud"}, ["logging"]),
        ({"crate": "true"}, ["crate"]),
        ({"assetPaths": ["*"]}, ["assetPaths"]),
        ({"archivePaths": ["*"]}, ["archivePaths"]),
    ],
)
def test_wrong_inputs_are_named(inputs: dict[str, object], wrong: list[str]) -> None:
    assert [failure.property for failure in check(CommandInputs, inputs)] == wrong


def test_run_needs_a_command() -> None:
    assert [failure.property for failure in check(RunInputs, {"stdin": ""})] == ["command"]


def test_only_changed_triggers_replace() -> None:
    kinds = pb.PropertyDiff.Kind
    old = {"create": "a", "stdin": "x", "triggers": [{"a": [1.0]}]}
    assert differences(old, {**old, "triggers": [{"a": [1.0]}]}) == {}
    found = differences(old, {"create": "b", "dir": "/", "triggers": [{"a": [2.0]}]})
    assert {name: kinds.Name(diff.kind) for name, diff in found.items()} == {
        "create": "UPDATE",
        "dir": "ADD",
        "stdin": "DELETE",
        "triggers": "UPDATE_REPLACE",
    }


def test_what_a_command_with_secrets_prints_is_secret() -> None:
    state = outputs({"environment": {"A": secret("hidden")}}, Printed("hidden"))
    assert is_secret(state["stdout"])
    assert plain(state) == {"environment": {"A": "hidden"}, "stdout": "hidden", "stderr": ""}
    assert outputs({"create": "echo"}, Printed("a"))["stdout"] == "a"


def test_secrets_are_masked_line_by_line() -> None:
    hidden = secrets_in({"a": [secret({"b": "first line\nsecond line"})], "c": "open"})
    assert hidden == {"first line\nsecond line"}
    assert masked("open, second line: x", hidden) == "open, [secret]: x"


def test_the_executor_is_told_what_the_engine_says() -> None:
    info = lang.ProgramInfo(root_directory="/p", entry_point=".")
    request = lang.RunRequest(
        project="p",
        stack="s",
        pwd="/p",  # noqa: S106 - the working directory in the protocol
        dryRun=True,
        parallel=4,
        monitor_address="m:1",
        info=info,
        args=["x"],
    )
    words = exec_arguments(request, "e:2", "")
    assert words[-2:] == [".", "x"]
    assert dict(zip(words[:-2:2], words[1:-2:2], strict=True)) == {
        "--monitor": "m:1",
        "--engine": "e:2",
        "--project": "p",
        "--root_directory": "/p",
        "--stack": "s",
        "--pwd": "/p",
        "--dry_run": "true",
        "--parallel": "4",
    }


def test_the_virtualenv_is_relative_to_the_project(tmp_path: Path) -> None:
    info = lang.ProgramInfo(root_directory=str(tmp_path))
    info.options.update({"virtualenv": ".venv"})
    with pytest.raises(FileNotFoundError, match=r"has no bin/python"):
        python_of(info)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").touch()
    python, environ = python_of(info)
    assert python == str(tmp_path / ".venv/bin/python")
    assert environ["VIRTUAL_ENV"] == str(tmp_path / ".venv")
