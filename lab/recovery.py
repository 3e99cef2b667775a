"""What a killed `pulumi` leaves behind in a file backend, and how to tell."""

import json
import socket
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
    folder = repo / ".lab" / "state" / ".pulumi" / "locks" / "organization" / PROJECT / stack
    removed = False
    for file in folder.glob("*.json"):
        try:
            lock = Lock.model_validate_json(file.read_text())
        except (ValidationError, FileNotFoundError):
            continue
        if lock.hostname == socket.gethostname() and "pulumi" not in command_line(lock.pid):
            file.unlink(missing_ok=True)
            removed = True
    return removed


def was_interrupted(exported: str) -> bool:
    """Return whether an exported state has operations that were begun and not ended."""
    try:
        return bool(json.loads(exported).get("deployment", {}).get("pending_operations"))
    except ValueError:
        return False
