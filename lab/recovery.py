"""What a killed `pulumi` leaves behind in a file backend, and how to tell."""

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ValidationError

from control_plane.incarnation import command_line

PROJECT = "lab"


class Lock(BaseModel):
    """A lock file of Pulumi's file backend."""

    pid: int
    hostname: str


def release_stale_lock(repo: Path, stack: str) -> bool:
    """Remove the locks of a stack whose process on this host is gone; return whether there was one."""
    removed = False
    for file, lock in _locks(repo, stack):
        if lock.hostname == socket.gethostname() and "pulumi" not in command_line(lock.pid):
            file.unlink(missing_ok=True)
            removed = True
    return removed


def holder(repo: Path, stack: str) -> Lock | None:
    """Return the lock of the run that is at a stack, once those of dead runs were removed."""
    return next((lock for _, lock in _locks(repo, stack)), None)


def _locks(repo: Path, stack: str) -> Iterator[tuple[Path, Lock]]:
    folder = repo / ".lab" / "state" / ".pulumi" / "locks" / "organization" / PROJECT / stack
    for file in folder.glob("*.json"):
        with contextlib.suppress(ValidationError, FileNotFoundError):
            yield file, Lock.model_validate_json(file.read_text())


def stop_orphaned_plugins(repo: Path) -> bool:
    """Kill this checkout's resource plugins whose pulumi was killed; return whether there were any.

    A plugin of a run that goes on has that run's pulumi as its parent. (Seen on Linux; elsewhere there is no
    /proc to look at, and nothing is done.)
    """
    ours = f"{repo.absolute()}/.lab/bin/pulumi-resource-"
    stopped = False
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        if command_line(pid).startswith(ours) and "pulumi" not in command_line(_parent(pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                stopped = True
    return stopped


def _parent(pid: int) -> int:
    try:
        stat = (Path("/proc") / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    # The name in parentheses may hold spaces; after it come the state and the parent (proc(5)).
    return int(stat.rpartition(")")[2].split()[1])


def was_interrupted(exported: str) -> bool:
    """Return whether an exported state has operations that were begun and not ended."""
    try:
        return bool(json.loads(exported).get("deployment", {}).get("pending_operations"))
    except ValueError:
        return False
