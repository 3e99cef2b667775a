"""Which control plane to ask for, by the marker, the data and the processes that are there."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from control_plane.incarnation import COMPONENTS, KUEUE, Incarnation, StackFolder, command_line, stack_folder

RECORDED = Incarnation(identity="same", generation=2)
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Generator[Start]:
    """Return a starter of processes that wait, with these arguments on their command line."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: str) -> subprocess.Popen[bytes]:
        waiting = [sys.executable, "-S", "-c", "import sys; print(flush=True); sys.stdin.read()", *arguments]
        process = subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own
        started.append(process)
        # Popen returns a moment before the kernel shows the new command line.
        assert process.stdout
        process.stdout.readline()
        return process

    try:
        yield begin
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> StackFolder:
    """Return a complete control plane's folder, of which nothing runs."""
    made = stack_folder(tmp_path, "dev")
    (made.cluster / "etcd").mkdir(parents=True)
    (made.cluster / "pids").mkdir()
    made.record(RECORDED)
    made.kubeconfig.write_text("kind: Config")
    return made


def note(folder: StackFolder, component: str, pid: int | str) -> None:
    (folder.cluster / "pids" / f"{component}.pid").write_text(str(pid), encoding="utf-8")


def run_all(folder: StackFolder, start: Start) -> dict[str, subprocess.Popen[bytes]]:
    processes = {component: start(str(folder.cluster / component)) for component in COMPONENTS}
    for component, process in processes.items():
        note(folder, component, process.pid)
    return processes


def test_a_living_control_plane_is_asked_for_as_it_is(folder: StackFolder, start: Start) -> None:
    processes = run_all(folder, start)
    assert folder.processes() == {component: process.pid for component, process in processes.items()}
    assert folder.desired() == RECORDED


def test_one_whose_kubeconfig_is_gone_is_asked_for_anew(folder: StackFolder, start: Start) -> None:
    run_all(folder, start)
    folder.kubeconfig.unlink()
    assert folder.desired() == Incarnation(identity="same", generation=3)


def test_a_queue_that_was_begun_has_to_live_as_well(folder: StackFolder, start: Start) -> None:
    run_all(folder, start)
    note(folder, KUEUE, 2**22 + 1)
    assert folder.desired() == Incarnation(identity="same", generation=3)


@pytest.mark.parametrize("dead", COMPONENTS)
def test_one_dead_process_asks_for_the_next_generation(folder: StackFolder, start: Start, dead: str) -> None:
    killed = run_all(folder, start)[dead]
    killed.kill()
    # Dead, and not yet reaped by its parent: a zombie does not run either.
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
    assert set(folder.processes()) == set(COMPONENTS) - {dead}
    assert folder.desired() == Incarnation(identity="same", generation=3)


def test_a_dead_control_plane_keeps_its_identity(folder: StackFolder) -> None:
    assert folder.processes() == {}
    assert folder.desired() == Incarnation(identity="same", generation=3)


def test_a_recorded_id_that_is_a_stranger_s_is_not_ours(folder: StackFolder, start: Start) -> None:
    run_all(folder, start)
    stranger = start("/another/cluster/etcd")
    note(folder, "etcd", stranger.pid)
    assert "etcd" not in folder.processes()
    assert folder.desired().generation == 3


def test_another_stack_s_process_is_not_ours(folder: StackFolder, start: Start, tmp_path: Path) -> None:
    other = stack_folder(tmp_path, "other")
    note(folder, "etcd", start(str(other.cluster / "etcd")).pid)
    assert folder.processes() == {}


@pytest.mark.parametrize("text", ["", "no number"])
def test_a_broken_process_id_is_none(folder: StackFolder, text: str) -> None:
    note(folder, "etcd", text)
    assert folder.processes() == {}


def test_lost_data_asks_for_another_identity(folder: StackFolder, start: Start) -> None:
    run_all(folder, start)
    (folder.cluster / "etcd").rmdir()
    desired = folder.desired()
    assert desired.generation == 0
    assert desired.identity != "same"
    assert folder.desired().identity != desired.identity


@pytest.mark.parametrize("marker", [None, "", "{", "{}", '{"identity": "same"}', '{"other": 1}'])
def test_a_half_made_control_plane_is_made_anew(
    folder: StackFolder, start: Start, marker: str | None
) -> None:
    run_all(folder, start)
    if marker is None:
        folder.marker.unlink()
    else:
        folder.marker.write_text(marker, encoding="utf-8")
    assert folder.recorded() is None
    desired = folder.desired()
    assert (desired.generation, desired.identity == "same") == (0, False)


def test_a_record_is_whole_or_not_there(folder: StackFolder) -> None:
    wanted = Incarnation(identity="next", generation=0)
    folder.record(wanted)
    assert folder.recorded() == wanted
    assert sorted(path.name for path in folder.path.iterdir()) == ["incarnation.json", "kubeconfig", "kwok"]


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", ".hidden", "a b", "-x", "dev\n"])
def test_a_stack_s_name_is_one_folder_s(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no stack name"):
        stack_folder(tmp_path, name)


def test_a_stack_s_folder_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert stack_folder(Path(), "dev.1").path == tmp_path / ".lab" / "dev.1"


def test_a_process_s_command_line_is_empty_once_it_is_gone(start: Start) -> None:
    process = start("some-mark")
    assert command_line(process.pid).rstrip().endswith("some-mark")
    process.kill()
    process.communicate()
    assert command_line(process.pid) == ""


@pytest.mark.parametrize("name", ["bin", "env", "pulumi", "rehearsals", "state"])
def test_a_stack_cannot_take_what_all_stacks_share(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="belongs to all stacks"):
        stack_folder(tmp_path, name)
