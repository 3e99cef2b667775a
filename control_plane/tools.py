"""The lab's tools in .lab/bin: where they are, and what comes of running one."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
LOOK_EVERY_SECONDS = 0.5


class ControlPlaneError(Exception):
    """The control plane could not be made, started or removed; the text says why and what to do."""


def tool(name: str) -> Path:
    """Return the path of a tool; raises ControlPlaneError where it is not there."""
    tool = REPO / ".lab" / "bin" / name
    if not tool.exists():
        raise ControlPlaneError(f"{name} is not in .lab/bin; `make tools` finds or builds the lab's tools")
    return tool


def environment() -> dict[str, str]:
    """Return the environment of the tools: what they start outlives a run of Pulumi, and its TMPDIR."""
    path = os.pathsep.join([str(REPO / ".lab" / "bin"), os.environ.get("PATH", os.defpath)])
    return {key: value for key, value in os.environ.items() if key != "TMPDIR"} | {"PATH": path}


def run(command: list[str], more: dict[str, str], hopeless: Callable[[], str] = lambda: "") -> str:
    """Run a tool with `more` in its environment, and return what it wrote.

    Raises:
        ControlPlaneError: It failed, or `hopeless` said why it cannot succeed; then it was ended at once.

    """
    with subprocess.Popen(  # noqa: S603 - our own tools, no shell
        command,
        env=environment() | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while True:
            try:
                written, errors = process.communicate(timeout=LOOK_EVERY_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if reason := hopeless():
                    process.kill()
                    raise ControlPlaneError(reason) from None
    if process.returncode:
        raise ControlPlaneError(f"{Path(command[0]).name} failed: {errors.strip()[-2000:]}")
    return written
