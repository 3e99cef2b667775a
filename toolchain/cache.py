"""Where what was built or learnt is kept: outside the work tree, shared by every checkout of the lab."""

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import cast


def cache_root(environ: Mapping[str, str]) -> Path:
    """Return $GPULAB_CACHE, or `gpulab` in the user's cache folder (XDG base directory specification)."""
    if own := environ.get("GPULAB_CACHE"):
        return Path(own).absolute()
    base = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "gpulab"


@contextlib.contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Generator[None]:
    """Hold the lock file; `waiting` is called once if another process has it. The lock dies with its process.

    Raises:
        OSError: The file cannot be made.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:  # not inherited by children (PEP 446), so a stray compiler cannot hold it
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def made_whole(folder: Path) -> Generator[Path]:
    """Give a new folder that becomes `folder` when the block succeeds, and is gone when it fails.

    To be used under `folder`'s lock: what killed predecessors left behind is removed first.

    Raises:
        OSError: The disk is full, or the folder is not writable.

    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    for leftover in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(leftover, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield work
        work.chmod(0o755)  # mkdtemp's is for its maker alone
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def write_atomically(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace the file in one step, so that a reader sees the old text or the new.

    Raises:
        OSError: The disk is full, or the folder is not writable.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, object]:
    """Return the object in the file; an empty one if there is none, since a cache may always be lost."""
    try:
        loaded: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", loaded) if isinstance(loaded, dict) else {}
