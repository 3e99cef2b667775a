"""What a killed run leaves behind: locks of processes that are gone, and operations that never ended."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lab.recovery import holder, release_stale_lock, was_interrupted

HERE = socket.gethostname()


def lock(repo: Path, text: str, stack: str = "dev") -> Path:
    path = repo / ".lab/state/.pulumi/locks/organization/lab" / stack / "some.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def of(pid: int, hostname: str = HERE) -> str:
    return json.dumps({"pid": pid, "username": "u", "hostname": hostname, "timestamp": "t"})


@pytest.fixture
def gone() -> int:
    """Return the id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as process:
        process.wait()
    return process.pid


def test_without_a_lock_nothing_is_released(tmp_path: Path) -> None:
    assert release_stale_lock(tmp_path, "dev") is False


def test_a_dead_run_s_lock_is_released(tmp_path: Path, gone: int) -> None:
    mine, other = lock(tmp_path, of(gone)), lock(tmp_path, of(gone), "other")
    assert release_stale_lock(tmp_path, "dev") is True
    assert (mine.exists(), other.exists()) == (False, True)
    assert release_stale_lock(tmp_path, "dev") is False


@pytest.mark.parametrize(("name", "released"), [("pulumi", False), ("stranger", True)])
def test_a_lock_stays_while_its_pulumi_runs(tmp_path: Path, name: str, released: bool) -> None:  # noqa: FBT001
    program = "import sys; print(flush=True); sys.stdin.read()"
    waiting = [sys.executable, "-S", "-c", program, name]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own
        try:
            assert process.stdout
            process.stdout.readline()
            held = lock(tmp_path, of(process.pid))
            assert release_stale_lock(tmp_path, "dev") is released
            assert held.exists() is not released
            at_it = holder(tmp_path, "dev")
            assert (at_it and at_it.pid) == (None if released else process.pid)
        finally:
            process.kill()


def test_another_host_s_lock_stays(tmp_path: Path, gone: int) -> None:
    held = lock(tmp_path, of(gone, f"not-{HERE}"))
    assert release_stale_lock(tmp_path, "dev") is False
    assert held.exists()


@pytest.mark.parametrize("text", ["", "{", "{}", '{"pid": "x", "hostname": "h"}'])
def test_a_lock_that_cannot_be_read_stays(tmp_path: Path, text: str) -> None:
    held = lock(tmp_path, text)
    assert release_stale_lock(tmp_path, "dev") is False
    assert held.exists()


@pytest.mark.parametrize(
    ("exported", "interrupted"),
    [
        ('{"deployment": {"pending_operations": [{"type": "creating"}]}}', True),
        ('{"deployment": {"pending_operations": []}}', False),
        ('{"deployment": {"resources": []}}', False),
        ("{}", False),
        ("", False),
    ],
)
def test_operations_that_never_ended_are_noticed(exported: str, interrupted: bool) -> None:  # noqa: FBT001
    assert was_interrupted(exported) is interrupted
