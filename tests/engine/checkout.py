"""A copy of the program in a folder of its own, with this checkout's tools."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

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

    def bring(self, verb: str, stack: str = "dev") -> None:
        """Bring the lab up or down, which has to succeed."""
        done = self.lab(verb, stack)
        assert done.returncode == 0, done.stdout + done.stderr

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
