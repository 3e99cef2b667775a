"""A control plane for one use: beside all others, and gone afterwards, however its user ends.

Each has a folder of its own in `.lab/rehearsals`. Its user holds a lock on the folder, which dies with the
process: a folder that can be locked was left by one that was killed, and the next user removes it.
"""

import contextlib
import fcntl
import os
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path

from control_plane.incarnation import Incarnation, StackFolder, command_line
from control_plane.kwokctl import create, delete

REHEARSALS = "rehearsals"
"""The folder's name in .lab, which no stack can have."""

_ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@contextlib.contextmanager
def scratch_control_plane(repo: Path) -> Generator[str]:
    """Make a control plane, hand on its kubeconfig, and remove all of it at the end.

    Raises:
        ControlPlaneError: It did not come up.

    """
    with scratch_folder(repo.absolute() / ".lab") as path:
        yield create(StackFolder(path), Incarnation(identity=path.name, generation=0))


@contextlib.contextmanager
def scratch_folder(lab: Path) -> Generator[Path]:
    """Hand on a folder in `.lab`, and remove it at the end with what runs in it, and what dead users left."""
    rehearsals = lab / REHEARSALS
    lab.mkdir(exist_ok=True)
    with _lock(lab):
        rehearsals.mkdir(exist_ok=True)
        for left in rehearsals.iterdir():
            # It may be somebody's, or go this moment.
            with (
                contextlib.suppress(BlockingIOError, FileNotFoundError),
                _lock(left, fcntl.LOCK_EX | fcntl.LOCK_NB),
            ):
                _remove(left)
        path = Path(tempfile.mkdtemp(dir=rehearsals, prefix="run-"))
        owned = contextlib.ExitStack()
        owned.enter_context(_lock(path))
    with owned:
        try:
            yield path
        finally:
            # A second Ctrl-C must not cut this short.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
            _remove(path)
            with _lock(lab), contextlib.suppress(OSError):  # not empty: others are at work
                rehearsals.rmdir()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _lock(folder: Path, how: int = fcntl.LOCK_EX) -> Generator[None]:
    """Hold a folder's lock."""
    # On the folder itself, so that no file has to stay for it.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    # kwokctl first: cut off in its work, it goes on to start what is not recorded yet.
    while found := _processes(path):
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    delete(StackFolder(path))


def _processes(path: Path) -> list[int]:
    """Return what runs of a control plane, its kwokctl first; nothing where there is no /proc."""
    lines = {int(folder.name): command_line(int(folder.name)) for folder in Path("/proc").glob("[0-9]*")}
    making = [pid for pid, line in lines.items() if "/kwokctl " in line and f"{path}/" in line]
    return making + [pid for pid, line in lines.items() if line.startswith(f"{path}/")]
