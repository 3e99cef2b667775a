"""Programs and a Go that only pretend, so that no test builds or downloads anything."""

from collections.abc import Callable
from pathlib import Path

import pytest

Script = Callable[[Path, str], Path]


@pytest.fixture
def script() -> Script:
    """Return a maker of shell scripts."""

    def make(path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return make
