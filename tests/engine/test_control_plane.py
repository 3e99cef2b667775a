"""A control plane in bad luck, without Pulumi around it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest

from control_plane import configuration
from control_plane.incarnation import COMPONENTS, Incarnation, StackFolder, command_line, stack_folder
from control_plane.kwokctl import create, delete
from control_plane.tools import ControlPlaneError
from tests.engine.checkout import REPO


class DiskUsage(NamedTuple):
    total: int
    used: int
    free: int


WANTED = Incarnation(identity="test", generation=0)


@pytest.fixture
def folder(tmp_path: Path) -> Generator[StackFolder]:
    made = stack_folder(tmp_path, "test")
    try:
        yield made
    finally:
        delete(made)


@pytest.mark.parametrize("port", [0, 1], ids=["kube-apiserver", "etcd"])
def test_another_port_is_taken_when_one_was_lost(
    folder: StackFolder, monkeypatch: pytest.MonkeyPatch, port: int
) -> None:
    free = configuration._free_ports  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - a port must be lost here
    attempts: list[list[int]] = []
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()

        def first_time_a_taken_one(count: int) -> list[int]:
            ports = free(count)
            if not attempts:
                ports[port] = stranger.getsockname()[1]
            attempts.append(ports)
            return ports

        monkeypatch.setattr(configuration, "_free_ports", first_time_a_taken_one)
        assert "client-key-data" in create(folder, WANTED)
    assert len(attempts) == 2
    assert set(folder.processes()) == set(COMPONENTS)


def test_a_full_disk_is_said_before_anything_is_begun(
    folder: StackFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A disk that is full for real needs a mount, and so root.
    def almost_full(_path: Path) -> DiskUsage:
        return DiskUsage(total=100 * 2**20, used=93 * 2**20, free=7 * 2**20)

    monkeypatch.setattr(shutil, "disk_usage", almost_full)
    with pytest.raises(ControlPlaneError, match="has 7 MiB of disk left, and a control plane needs 200"):
        create(folder, WANTED)
    assert not folder.kwok.exists()


def test_pods_run_again_soon_after_a_killed_kwok(folder: StackFolder) -> None:
    create(folder, WANTED)
    node = {"metadata": {"name": "node", "annotations": {"kwok.x-k8s.io/node": "fake"}}}
    kubectl(folder, "apply", "-f", "-", document={"apiVersion": "v1", "kind": "Node", **node})
    kubectl(folder, "wait", "--for=condition=Ready", "node/node", "--timeout=30s")
    kubectl(folder, "wait", "--for=create", "serviceaccount/default", "--timeout=30s")
    kwok = folder.processes()["kwok-controller"]
    os.kill(kwok, signal.SIGKILL)
    # It is there for a moment more, and would be taken for one that runs.
    deadline = time.monotonic() + 10
    while command_line(kwok):
        assert time.monotonic() < deadline
    create(folder, Incarnation(identity="test", generation=1))
    kubectl(folder, "run", "pod", "--image=none")
    # Its predecessor's leases run for 15 seconds; KWOK's default are 200.
    kubectl(folder, "wait", "--for=condition=Ready", "pod/pod", "--timeout=60s")


def kubectl(folder: StackFolder, *arguments: str, document: dict[str, object] | None = None) -> None:
    subprocess.run(  # noqa: S603 - the lab's own tool, no shell
        [REPO / ".lab" / "bin" / "kubectl", "--kubeconfig", folder.kubeconfig, *arguments],
        input=json.dumps(document) if document else None,
        text=True,
        check=True,
    )
