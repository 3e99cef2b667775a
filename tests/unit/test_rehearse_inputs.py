"""What of a rehearsal needs no control plane: its folder, its inventory, and what nobody has to be asked."""

import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dra.checker import read_inventory
from dra.claim import ResourceClaimSpec
from dra.document import Document
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import AllocatedDevice, ObjectMeta, ResourceClaim
from dra.pool import GpuPool, Mechanism
from lab import rehearse
from lab.__main__ import app
from lab.rehearsed import inventory_documents
from lab.scratch import REHEARSALS, scratch_folder

REPO = Path(__file__).resolve().parents[2]

HOLD = """
import sys, time
from pathlib import Path
from lab.scratch import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "kwok").mkdir()
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def another(tmp_path: Path) -> Generator[tuple[subprocess.Popen[str], Path]]:
    """Another process with a folder of its own."""
    process = subprocess.Popen(  # noqa: S603 - the test's own program
        [sys.executable, "-c", HOLD, str(tmp_path)], cwd=REPO, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.communicate()


def test_a_folder_goes_with_its_user(tmp_path: Path) -> None:
    def interrupted() -> None:
        with scratch_folder(tmp_path) as folder:
            assert folder.parent == tmp_path / REHEARSALS
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_another_is_left_alone(
    another: tuple[subprocess.Popen[str], Path], tmp_path: Path
) -> None:
    _, theirs = another
    with scratch_folder(tmp_path) as ours:
        assert {*(tmp_path / REHEARSALS).iterdir()} == {ours, theirs}
    assert theirs.is_dir()


def test_the_next_user_removes_the_folder_and_the_processes_of_a_killed_one(
    another: tuple[subprocess.Popen[str], Path], tmp_path: Path
) -> None:
    process, theirs = another
    component = theirs / "etcd"
    component.symlink_to("/bin/sleep")
    running = subprocess.Popen([component, "600"])  # noqa: S603 - as above
    process.kill()
    process.wait()
    with scratch_folder(tmp_path) as ours:
        assert list((tmp_path / REHEARSALS).iterdir()) == [ours]
    assert running.wait(timeout=10) == -signal.SIGKILL


def test_an_inventory_as_documents_is_the_same_inventory() -> None:
    pools = [
        GpuPool(name="a", product="NVIDIA T4", count=2, nodes=["one", "two"], mechanism=Mechanism.CLAIMED),
        GpuPool(name="b", product="NVIDIA L40S", count=4, nodes=["three"]),
    ]
    of_pools = Inventory.of_pools(pools)
    share = AllocatedDevice(
        request="r", driver="gpu.nvidia.com", pool="one", device="gpu-0", share_id="x" * 36
    )
    holder = ResourceClaim(metadata=ObjectMeta(name="held"), spec=ResourceClaimSpec(), allocated=[share])
    inventory = Inventory(of_pools.nodes, of_pools.slices, of_pools.classes, (), [holder])
    documents = [Document("inventory", 1, document) for document in inventory_documents(inventory)]
    read, _, wrong = read_inventory(documents, Target.V1_37)
    assert wrong == []
    assert read.slices == inventory.slices
    assert read.claims[0].allocated == [share]
    assert {node.metadata.name: node.allocatable for node in read.nodes} == {
        "one": {},
        "two": {},
        "three": {"nvidia.com/gpu": "4"},
    }


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("kind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\n", 0, "Nothing about DRA was found."),
        ("{", 2, "DRA001"),
        ("apiVersion: resource.k8s.io/v1\n", 1, "kind not set"),
        ("kind: ResourceClaim\n", 1, "apiVersion not set"),
        ("kind: ResourceClaim\nkind: ResourceClaim\napiVersion: resource.k8s.io/v1\n", 1, "DRA002"),
    ],
)
def test_what_nobody_has_to_be_asked_about_needs_no_control_plane(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int, said: str
) -> None:
    monkeypatch.setattr(rehearse, "REPO", tmp_path)
    file = tmp_path / "input.yaml"
    file.write_text(text)
    done = CliRunner().invoke(app, ["rehearse", str(file)])
    assert done.exit_code == code, done.output
    assert said in done.output
    assert list(tmp_path.iterdir()) == [file]


def test_one_cluster_is_rehearsed_on(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["rehearse", str(tmp_path), "--inventory", "a.yaml", "--pool", "NVIDIA T4=1"]
    )
    assert done.exit_code == 2
    assert "give one of --inventory and --pool" in done.output
