"""The lab's verbs on stack `lesson`'s configuration, beside `kwokctl` and `kubectl` doing the same work.

Both make the same control plane and the same objects, and wait for the same conditions: the node's GPUs, four
running pods, the verdict on the claims. They take turns, so that a busy moment of the machine meets both.
"""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.figures import BenchError, Figure, seconds
from control_plane.incarnation import Incarnation, StackFolder, stack_folder
from control_plane.kwokctl import create, delete
from toolchain.environment import lab_environment

REPO = Path(__file__).resolve().parent.parent
CONFIG = "Pulumi.lesson.yaml"
DEV = "Pulumi.dev.yaml"
STACK = "bench"
BASELINE = "bench-kubectl"

_OWN = "kubernetes:"
_WAITS = (
    ("node/node-01", "--for=condition=Ready"),
    ("node/node-01", r"--for=jsonpath={.status.allocatable.nvidia\.com/gpu}=4"),
    ("deployment/gpu-greedy", "--namespace=greedy", "--for=jsonpath={.status.readyReplicas}=4"),
    ("pod/training-gpu", "--namespace=lab4", "--for=condition=PodScheduled=false"),
)


def measure(rounds: int) -> list[Figure]:
    """Return the readings of `rounds` rounds.

    Raises:
        BenchError: One of the commands failed.

    """
    readings: dict[str, list[float]] = {name: [] for name in _LIMITS}
    try:
        _pulumi("stack", "select", "--create")
        objects: list[dict[str, Any]] = []
        for _ in range(rounds):
            readings["up from nothing"].append(seconds(_up))
            readings["second up"].append(seconds(_up))
            objects = objects or _objects()
            readings["destroy"].append(seconds(_destroy))
            readings["kwokctl create, kubectl apply and wait"].append(seconds(partial(_baseline_up, objects)))
            readings["kubectl apply again"].append(seconds(partial(_apply, objects)))
            readings["delete the cluster"].append(seconds(partial(delete, _folder(BASELINE))))
    finally:
        _destroy()
        _pulumi("stack", "rm", "--yes")
        delete(_folder(STACK))
        delete(_folder(BASELINE))
    return [Figure(what=name, readings=readings[name], limit=limit) for name, limit in _LIMITS.items()]


_LIMITS: dict[str, float | None] = {
    "up from nothing": 15,
    "kwokctl create, kubectl apply and wait": None,
    "second up": 8,
    "kubectl apply again": None,
    "destroy": 4,
    "delete the cluster": None,
}


def measure_course(rounds: int) -> list[Figure]:
    """Return how long all lessons take on top of a stack `dev` that has Lab 4 alone, of half as many rounds.

    Raises:
        BenchError: One of the commands failed.

    """
    readings: list[float] = []
    with tempfile.TemporaryDirectory() as made:
        lab4 = Path(made) / DEV
        text = (REPO / DEV).read_text()
        lab4.write_text(text.replace("config:\n", "config:\n  lab:lessons: [greedy, lab4]\n", 1))
        try:
            _pulumi("stack", "select", "--create")
            for _ in range((rounds + 1) // 2):
                _up(str(lab4))
                readings.append(seconds(partial(_up, DEV)))
                _destroy()
        finally:
            _destroy()
            _pulumi("stack", "rm", "--yes")
            delete(_folder(STACK))
    return [Figure(what="all lessons, on top of Lab 4", readings=readings, limit=30)]


def _folder(stack: str) -> StackFolder:
    return stack_folder(REPO, stack)


def _run(command: Sequence[str], stack: str, stdin: str | None = None) -> str:
    done = subprocess.run(  # noqa: S603 - the lab's own tools, no shell
        command,
        cwd=REPO,
        env=lab_environment(REPO, stack),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchError(f"{' '.join(command)} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _pulumi(*arguments: str) -> str:
    return _run(["pulumi", *arguments, "--stack", STACK, "--non-interactive"], STACK)


def _up(config: str = CONFIG) -> None:
    _pulumi("up", "--yes", "--skip-preview", "--config-file", config)


def _destroy() -> None:
    _pulumi("destroy", "--yes", "--skip-preview", "--config-file", CONFIG)


def _objects() -> list[dict[str, Any]]:
    """Return what the stack made in the cluster, as manifests; the Helm release as its Stages."""
    state = json.loads(_pulumi("stack", "export"))
    stages = json.loads(
        _run(["kubectl", "get", "stages", "-l", "app.kubernetes.io/managed-by=Helm", "-o", "json"], STACK)
    )
    made: list[dict[str, Any]] = [
        {
            "apiVersion": stage["apiVersion"],
            "kind": stage["kind"],
            "metadata": {"name": stage["metadata"]["name"]},
            "spec": stage["spec"],
        }
        for stage in stages["items"]
    ]
    label: dict[str, str] = {}
    for resource in state["deployment"]["resources"]:
        inputs = resource.get("inputs", {})
        if resource["type"] == "kubernetes:core/v1:NodePatch":
            label = inputs["metadata"]["labels"]
        elif resource["type"].startswith(_OWN) and "kind" in inputs:
            made.append({key: value for key, value in inputs.items() if not key.startswith("__")})
    for one in made:
        if one["kind"] == "Node":
            one["metadata"]["labels"] |= label
    return made


def _baseline_up(objects: Sequence[dict[str, Any]]) -> None:
    create(_folder(BASELINE), Incarnation(identity="bench", generation=0))
    _apply(objects)
    for what, *condition in _WAITS:
        _run(["kubectl", "wait", what, *condition, "--timeout=60s"], BASELINE)
    _run(["kubectl", "get", "pods,resourceclaims", "--all-namespaces", "-o", "json"], BASELINE)


def _apply(objects: Sequence[dict[str, Any]]) -> None:
    _run(
        ["kubectl", "apply", "-f", "-"],
        BASELINE,
        json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}),
    )
