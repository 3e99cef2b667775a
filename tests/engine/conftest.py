"""A checkout of its own for each test: its stacks, its state, its control planes, its ports."""

import os
import shutil
import signal
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolchain.environment import lab_environment

REPO = Path(__file__).resolve().parent.parent.parent
PROGRAM = (
    "__main__.py",
    "Pulumi.yaml",
    "Pulumi.dev.yaml",
    "Pulumi.lesson.yaml",
    "charts",
    "components",
    "control_plane",
    "dra",
    "lab",
    "toolchain",
)


@dataclass(frozen=True)
class Checkout:
    """The program in a folder of its own, with this checkout's tools."""

    path: Path

    def run(self, *command: str, stack: str = "dev") -> subprocess.CompletedProcess[str]:
        """Run a command as `make shell` would."""
        return subprocess.run(  # noqa: S603 - the test's own commands
            command,
            cwd=self.path,
            env=self.environment(stack),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def environment(self, stack: str = "dev") -> dict[str, str]:
        return lab_environment(self.path, stack)

    def lab(self, verb: str, stack: str = "dev") -> subprocess.CompletedProcess[str]:
        return self.run(".venv/bin/python", "-m", "lab", verb, "--stack", stack, stack=stack)

    def kubectl(self, *arguments: str, stack: str = "dev") -> str:
        done = self.run("kubectl", *arguments, stack=stack)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def processes(self) -> dict[int, str]:
        """Return the processes whose command line names this folder."""
        found: dict[int, str] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            if f"{self.path}/.lab" in line:
                found[int(folder.name)] = line
        return found


@pytest.fixture(scope="session", autouse=True)
def tools_on_path() -> Generator[None]:
    """Put the lab's tools first on PATH, for what is not run with an environment of its own."""
    before = os.environ["PATH"]
    os.environ["PATH"] = lab_environment(REPO)["PATH"]
    try:
        yield
    finally:
        os.environ["PATH"] = before


@pytest.fixture
def checkout(tmp_path: Path) -> Generator[Checkout]:
    """A copy of the program; whatever a test leaves running there is stopped."""
    made = Checkout(tmp_path / "gpulab")
    made.path.mkdir()
    for name in PROGRAM:
        source = REPO / name
        if source.is_dir():
            shutil.copytree(source, made.path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, made.path / name)
    (made.path / ".venv").symlink_to(REPO / ".venv")
    (made.path / ".lab").mkdir()
    # The tools' links are relative to nothing: a copy of the folder of links serves as well.
    shutil.copytree(REPO / ".lab" / "bin", made.path / ".lab" / "bin", symlinks=True)
    try:
        yield made
    finally:
        for stack in ("dev", "lesson"):
            made.run(".venv/bin/python", "-m", "control_plane", "delete", stack)
        for pid in made.processes():
            os.kill(pid, signal.SIGKILL)
