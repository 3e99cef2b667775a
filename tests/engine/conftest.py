"""A checkout of its own for each test: its stacks, its state, its control planes, its ports."""

import os
import shutil
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.engine.checkout import PROGRAM, REPO, Checkout
from toolchain.environment import lab_environment


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
