"""`python -m lab`: bring a stack up, show what came of it, take it down."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import TypeAdapter
from rich.console import Console

from components.expectation import Outcome
from components.lessons.course import COURSE, OF_LAB4, ONE_MORE
from control_plane.incarnation import stack_folder
from control_plane.kwokctl import delete
from lab.check import check
from lab.recovery import holder, release_stale_lock, stop_orphaned_plugins, was_interrupted
from lab.rehearse import rehearse
from lab.report import closing, table
from toolchain.environment import DEFAULT_STACK, lab_environment

if TYPE_CHECKING:
    from types import FrameType

REPO = Path(__file__).resolve().parent.parent
NARROWEST = 100
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(check)
app.command()(rehearse)


def _usable(stack: str) -> str:
    try:
        stack_folder(REPO, stack)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return stack


Stack = Annotated[
    str, typer.Option(help="The stack: dev, lesson or one of yours.", envvar="LAB_STACK", callback=_usable)
]


def _known(lesson: str) -> str:
    if lesson not in COURSE:
        raise typer.BadParameter(f"there is no lesson {lesson!r}; the lessons are {', '.join(COURSE)}")
    return lesson


Lesson = Annotated[str, typer.Argument(help="A lesson of `lab lessons`.", callback=_known)]


def pulumi(
    stack: str, *arguments: str, capture: bool = False, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the lab's pulumi on a stack; its output goes to the terminal unless captured."""
    temporary = _temporary(stack)
    temporary.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=temporary) as folder:
        process = subprocess.Popen(  # noqa: S603 - the lab's own tool, no shell
            ["pulumi", *arguments, "--stack", stack, "--non-interactive"],  # noqa: S607 - found on the lab's PATH
            cwd=REPO,
            env=lab_environment(REPO, stack) | {"TMPDIR": folder},
            stdin=None if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.PIPE if capture else None,
            text=True,
        )
        with _ended_in_good_order(process):
            out, error = process.communicate(stdin)
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def _temporary(stack: str) -> Path:
    """Return the folder for pulumi's temporary files; the plugin kubernetes leaves kubeconfigs there."""
    return REPO / ".lab" / "tmp" / stack


@contextlib.contextmanager
def _ended_in_good_order(process: subprocess.Popen[str]) -> Generator[None]:
    """Let pulumi finish what it has begun before a signal ends us.

    Ctrl-C reaches it by itself. A SIGTERM is for us alone, so it is passed on.
    """
    came: list[int] = []

    def end(number: int, _: "FrameType | None") -> None:
        came.append(number)
        if number == signal.SIGTERM:
            process.terminate()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            raise KeyboardInterrupt


def outcomes(stack: str) -> list[Outcome]:
    """Return what the last `up` of a stack observed; empty when there was none."""
    shown = pulumi(stack, "stack", "output", "--json", capture=True)
    if shown.returncode:
        return []
    seen = json.loads(shown.stdout).get("outcomes", [])
    return TypeAdapter(list[Outcome]).validate_python(seen)


@app.command()
def up(stack: Stack = "dev") -> None:
    """Bring the stack up, and show each step of the lesson: expected, observed, ok."""
    if was_interrupted(_ready(stack)):
        typer.echo(f"the last run on stack {stack} was interrupted: it starts from a fresh cluster", err=True)
        # What it had begun is neither in the state nor surely absent; on a new cluster it is surely absent.
        delete(stack_folder(REPO, stack))
        _forget_pending(stack)
    done = pulumi(stack, "up", "--yes", "--skip-preview", "--suppress-outputs")
    # Where an outcome is not as expected the table says more than pulumi did.
    if done.returncode and all(outcome.ok for outcome in outcomes(stack)):
        raise typer.Exit(done.returncode)
    report(stack)


@app.command()
def report(stack: Stack = "dev") -> None:
    """Show what the last `up` observed; exit 1 if a step came out otherwise than expected."""
    seen = outcomes(stack)
    if not seen:
        typer.echo(f"stack {stack} has observed nothing yet; run `{_make_up(stack)}` first", err=True)
        raise typer.Exit(1)
    _show(closing(seen))


@app.command()
def lessons() -> None:
    """List the lessons in the order of the course, each with what it shows."""
    for name, shows in COURSE.items():
        typer.echo(f"{name:20} {shows}")


@app.command()
def run(lesson: Lesson, stack: Stack = "dev") -> None:
    """Run one lesson from its start on the stack's cluster, and show what was expected and observed."""
    if not outcomes(stack):
        typer.echo(f"stack {stack} is not up; run `{_make_up(stack)}` first", err=True)
        raise typer.Exit(1)
    state = _ready(stack)
    if was_interrupted(state):
        typer.echo(f"the last run on stack {stack} was interrupted; run `{_make_up(stack)}` first", err=True)
        raise typer.Exit(1)
    folder = stack_folder(REPO, stack)
    # Of a cluster that does not run, or whose Kueue does not, the lesson could not be deleted.
    if embedded(json.loads(state)) and folder.desired() != folder.recorded():
        typer.echo(f"the control plane of stack {stack} has died; run `{_make_up(stack)}` first", err=True)
        raise typer.Exit(1)
    if before := below(json.loads(state), lesson):
        targets = [word for urn in before for word in ("--target", urn)]
        done = pulumi(stack, "destroy", "--yes", "--skip-preview", "--suppress-outputs", *targets)
        if done.returncode:
            raise typer.Exit(done.returncode)
    os.environ[ONE_MORE] = lesson
    done = pulumi(stack, "up", "--yes", "--skip-preview", "--suppress-outputs")
    seen = outcomes(stack)
    _show([outcome for outcome in seen if outcome.lesson == (None if lesson in OF_LAB4 else lesson)])
    # What is not as expected of another lesson is not this one's failure.
    if done.returncode and all(outcome.ok for outcome in seen):
        raise typer.Exit(done.returncode)


def _make_up(stack: str) -> str:
    """Return the command that brings a stack up."""
    return "make up" if stack == DEFAULT_STACK else f"STACK={stack} make up"


def embedded(state: Mapping[str, Any]) -> bool:
    """Return whether a stack's exported state has a control plane of the lab's own."""
    resources = state["deployment"].get("resources", [])
    return any(resource["urn"].endswith("::lab-control-plane") for resource in resources)


def below(state: Mapping[str, Any], lesson: str) -> list[str]:
    """Return the URNs of a lesson's component and of all below it, in a stack's exported state."""
    found: list[str] = []
    for resource in state["deployment"].get("resources", []):
        of_lesson = resource["type"].startswith("gpulab:lessons:")
        if (of_lesson and resource["urn"].endswith(f"::{lesson}")) or resource.get("parent") in found:
            found.append(resource["urn"])
    return found


def _show(seen: Sequence[Outcome]) -> None:
    """Show the table; exit 1 if a step came out otherwise than expected."""
    console = Console()
    # In a pipe or a narrow terminal the columns would break inside words.
    console.width = max(console.width, NARROWEST)
    console.print(table(seen))
    if not all(outcome.ok for outcome in seen):
        raise typer.Exit(1)


@app.command()
def down(stack: Stack = "dev") -> None:
    """Destroy the stack and all that it made on this machine."""
    if pulumi(stack, "stack", "select", capture=True).returncode == 0:
        if was_interrupted(_ready(stack)):
            _forget_pending(stack)
        done = pulumi(stack, "destroy", "--yes", "--skip-preview", "--suppress-outputs")
        if done.returncode:
            raise typer.Exit(done.returncode)
    # A run that was killed may have left a control plane that no state knows of.
    delete(stack_folder(REPO, stack))
    shutil.rmtree(_temporary(stack), ignore_errors=True)


@app.command()
def shell(stack: Stack = "dev") -> None:
    """Open a shell in which pulumi and kubectl work on the stack."""
    environment = lab_environment(REPO, stack)
    command = os.environ.get("SHELL", "/bin/sh")
    raise typer.Exit(subprocess.run([command], env=environment, check=False).returncode)  # noqa: S603 - the user's own


def _ready(stack: str) -> str:
    """See that the stack exists and nobody is at it, clear away what a killed run left; return the state."""
    stop_orphaned_plugins(REPO)
    selected = pulumi(stack, "stack", "select", "--create", capture=True)
    if selected.returncode:
        typer.echo(selected.stderr.strip() or selected.stdout.strip(), err=True)
        raise typer.Exit(1)
    if release_stale_lock(REPO, stack):
        typer.echo(
            f"the last run on stack {stack} died without letting go of it; its lock was removed", err=True
        )
    state = pulumi(stack, "stack", "export", capture=True).stdout
    # Asked after the state was read: what is pending in it is then not what another run is doing.
    if at_it := holder(REPO, stack):
        typer.echo(
            f"another run is at stack {stack} (process {at_it.pid} on {at_it.hostname}); wait until it ends,"
            f" or stop it, and try again",
            err=True,
        )
        raise typer.Exit(1)
    return state


def _forget_pending(stack: str) -> None:
    """Take the operations that a killed run left pending out of the state."""
    state = json.loads(pulumi(stack, "stack", "export", capture=True).stdout)
    state["deployment"].pop("pending_operations", None)
    pulumi(stack, "stack", "import", capture=True, stdin=json.dumps(state)).check_returncode()


if __name__ == "__main__":
    app()
