"""`.lab/bin`: a link or a launcher for each resolved tool, and nothing else."""

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from toolchain.builder import cached_folder
from toolchain.cache import write_atomically
from toolchain.environment import lab_folder
from toolchain.resolver import LAUNCHER_MARK, Resolved
from toolchain.tools import PYTHON_EXEC

EXEC = "pulumi-language-python-exec"


def place(repo: Path, cache: Path, resolved: Resolved) -> None:
    """Put the tool into `.lab/bin`, replacing what was there in one step.

    Raises:
        OSError: The folder cannot be written.

    """
    entry = lab_folder(repo) / "bin" / resolved.tool.name
    if resolved.path:
        _link(entry, resolved.path)
        shim = resolved.path.resolve().with_name(EXEC)
        if resolved.tool.name == "pulumi-language-python" and shim.exists():
            _link(entry.with_name(EXEC), shim)  # the official host looks for it beside itself
    elif resolved.origin == "stand-in":
        write_atomically(entry, _launcher(repo, cache, resolved.tool.standin), 0o755)


def remove_others(repo: Path, resolved: Sequence[Resolved]) -> None:
    """Remove what is no tool of the table, and links that lead nowhere.

    Raises:
        OSError: The folder cannot be written.

    """
    names = {one.tool.name for one in resolved} | {EXEC}
    for entry in (lab_folder(repo) / "bin").iterdir():
        if entry.name not in names or not entry.exists():
            entry.unlink()


def _link(entry: Path, to: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".new.", dir=entry.parent.parent) as folder:
        new = Path(folder) / entry.name
        new.symlink_to(to.absolute())
        new.replace(entry)


def _launcher(repo: Path, cache: Path, module: str) -> str:
    """Return a script that runs the stand-in in the venv; -I keeps its children's environment as it was."""
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); "
        f"from toolchain.standins.{module} import main; main()"
    )
    words = [str(repo.absolute() / ".venv" / "bin" / "python"), "-I", "-c", program, str(repo.absolute())]
    if module == "language_python":
        words += ["--use-executor", str(cached_folder(PYTHON_EXEC, cache) / "bin" / EXEC)]
    mark = LAUNCHER_MARK.decode()
    return f'#!/bin/sh\n# {mark}, made by `python -m toolchain tools`\nexec {shlex.join(words)} "$@"\n'
