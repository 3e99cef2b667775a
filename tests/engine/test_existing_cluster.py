"""`existing`: the lab in a cluster that somebody else made, here a control plane that no stack knows of."""

import json
from collections.abc import Generator

import pytest

from tests.engine.checkout import Checkout

BASE = "base"
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node-01", "annotations": {"kwok.x-k8s.io/node": "fake"}},
}


@pytest.fixture
def existing(checkout: Checkout) -> Generator[Checkout]:
    """A checkout with a control plane that no stack made, and a stack `mine` that is to use it."""
    made = checkout.run(".venv/bin/python", "-m", "control_plane", "create", BASE)
    assert made.returncode == 0, made.stderr
    kubeconfig = checkout.path / ".lab" / BASE / "kubeconfig"
    text = (checkout.path / "Pulumi.lesson.yaml").read_text()
    context = checkout.kubectl("config", "current-context", stack=BASE).strip()
    (checkout.path / "Pulumi.mine.yaml").write_text(
        text.replace(
            "lab:cluster: embedded",
            f"lab:cluster: existing\n  lab:kubeconfig: {kubeconfig}\n  lab:context: {context}",
        )
    )
    try:
        yield checkout
    finally:
        checkout.run(".venv/bin/python", "-m", "control_plane", "delete", BASE)


def test_it_gets_the_lab_and_keeps_its_nodes(existing: Checkout) -> None:
    (existing.path / "node.json").write_text(json.dumps(NODE))
    existing.kubectl("apply", "-f", str(existing.path / "node.json"), stack=BASE)
    existing.kubectl("wait", "--for=condition=Ready", "node/node-01", "--timeout=30s", stack=BASE)
    up = existing.lab("up", "mine")
    assert up.returncode == 0, up.stdout + up.stderr
    down = existing.lab("down", "mine")
    assert down.returncode == 0, down.stdout + down.stderr
    node = json.loads(existing.kubectl("get", "node", "node-01", "-o", "json", stack=BASE))
    assert "nvidia.com/gpu" not in node["status"]["allocatable"]
    assert "run.ai/simulated-gpu-node-pool" not in node["metadata"].get("labels", {})
    assert "greedy" not in existing.kubectl("get", "namespaces", "-o", "name", stack=BASE)


def test_a_pool_whose_node_is_not_there_is_said(existing: Checkout) -> None:
    up = existing.lab("up", "mine")
    assert up.returncode != 0
    assert "node-01" in up.stdout + up.stderr
    assert "lab:pools" in up.stdout + up.stderr
    assert existing.lab("down", "mine").returncode == 0


def test_a_cluster_that_does_not_answer_is_said(existing: Checkout) -> None:
    existing.run(".venv/bin/python", "-m", "control_plane", "delete", BASE)
    up = existing.lab("up", "mine")
    assert up.returncode != 0
    assert "lab:kubeconfig" in up.stdout + up.stderr or "does not answer" in up.stdout + up.stderr
