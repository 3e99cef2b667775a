"""What every unit test needs: an event loop of its own, and no leftovers of another test."""

import asyncio
import shutil
from collections.abc import Callable, Generator
from pathlib import Path

import pulumi
import pytest

from components import cluster

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _loop(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    # An Output in an f-string raises instead of writing prose into a manifest.
    monkeypatch.setenv("PULUMI_ERROR_OUTPUT_STRING", "true")
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    pulumi.runtime.set_all_config({})
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout of its own for `components.cluster`, with nothing in .lab."""
    for file in cluster.MADE_BY:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    monkeypatch.setattr(cluster, "REPO", tmp_path)
    return tmp_path


@pytest.fixture
def kubectl(repo: Path) -> Callable[[str], Path]:
    """Return a maker of a kubectl that only pretends; it notes its arguments in the file it returns."""

    def make(text: str) -> Path:
        noted = repo / "arguments"
        path = repo / ".lab" / "bin" / "kubectl"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\necho \"$@\" > '{noted}'\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return noted

    return make
