"""The checker as a process: from the shell's call to its exit, imports, reading and all."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bench.figures import BenchError, Figure, seconds
from dra.claim import (
    DeviceClaim,
    DeviceConstraint,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaimSpec,
    selector,
)
from dra.device import Device, DeviceAttribute, ResourcePool, ResourceSliceSpec
from dra.pool import GPU_DRIVER, NUMA_ATTRIBUTE, GpuPool, Mechanism

REPO = Path(__file__).resolve().parent.parent
_API = "resource.k8s.io/v1"


def measure(rounds: int) -> list[Figure]:
    """Return the readings of `rounds` checks of many claims, and of as many against many devices."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        few, many = folder / "few.yaml", folder / "many.yaml"
        _write(few, inventory(nodes=1, gpus=12))
        _write(many, inventory(nodes=1000, gpus=8))
        _write(folder / "1000.yaml", claims(1000))
        _write(folder / "100.yaml", claims(100))
        _check(folder / "100.yaml", few)
        runs = {
            "check 1,000 claims, 12 devices": (folder / "1000.yaml", few, 2.0),
            "check 100 claims, 8,000 devices": (folder / "100.yaml", many, 5.0),
        }
        return [
            Figure(
                what=what,
                limit=limit,
                readings=[seconds(lambda f=file, d=devices: _check(f, d)) for _ in range(rounds)],
            )
            for what, (file, devices, limit) in runs.items()
        ]


def claims(count: int) -> Iterator[dict[str, Any]]:
    """Return claims, each with a selector of its own: a compute capability and a memory size to exceed."""
    for index in range(count):
        request = ExactDeviceRequest(
            device_class_name=GPU_DRIVER,
            count=1 + index % 4,
            selectors=[
                selector(
                    f"device.capacity['{GPU_DRIVER}'].memory.isGreaterThan(quantity('{index % 60}Gi'))"
                    f" && device.attributes['{GPU_DRIVER}'].productName != 'claim {index}'"
                )
            ],
        )
        constraints = [DeviceConstraint(match_attribute=NUMA_ATTRIBUTE)] if index % 2 else None
        spec = ResourceClaimSpec(
            devices=DeviceClaim(
                requests=[DeviceRequest(name="gpu", exactly=request)], constraints=constraints
            )
        )
        yield _object("ResourceClaim", f"claim-{index}", spec.document())


def inventory(nodes: int, gpus: int) -> Iterator[dict[str, Any]]:
    """Return a DeviceClass and the nodes' slices; each device has a uuid of its own, as real ones have."""
    guard = f"device.driver == '{GPU_DRIVER}'"
    yield _object("DeviceClass", GPU_DRIVER, {"selectors": [selector(guard).document()]})
    pool = GpuPool(
        name="pool",
        product="NVIDIA H100 80GB HBM3",
        count=gpus,
        numa_nodes=2,
        mechanism=Mechanism.CLAIMED,
        nodes=["node"],
    )
    for index in range(nodes):
        node = f"node-{index}"
        spec = ResourceSliceSpec(
            driver=GPU_DRIVER,
            node_name=node,
            pool=ResourcePool(name=node, resource_slice_count=1),
            devices=[_with_uuid(device, node) for device in pool.devices()],
        )
        yield _object("ResourceSlice", f"{node}-gpu", spec.document())


def _with_uuid(device: Device, node: str) -> Device:
    uuid = DeviceAttribute(string=f"GPU-{node}-{device.name}")
    return device.model_copy(update={"attributes": {**device.attributes, "uuid": uuid}})


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": _API, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _write(file: Path, objects: Iterator[dict[str, Any]]) -> None:
    with file.open("w") as out:
        yaml.dump_all(objects, out, Dumper=yaml.CSafeDumper)  # pyright: ignore[reportUnknownMemberType] - a width in its stubs has no type


def _check(file: Path, devices: Path) -> None:
    # As on anybody's machine, where Python keeps what it compiled of the modules.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [
        sys.executable,
        "-m",
        "lab",
        "check",
        str(file),
        "--inventory",
        str(devices),
        "--output",
        "json",
    ]
    done = subprocess.run(command, cwd=REPO, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    said = json.loads(done.stdout)
    if done.returncode > 1 or not any(one["verdict"] == "allocated" for one in said):
        raise BenchError(f"{' '.join(command)} said: {done.stdout[-500:]}{done.stderr[-500:]}")
