"""Ours and the referee's answers to the same question, brought to the same form."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from inventories import Cluster, Document, resource
from referee import Referee

from dra.allocation import Allocated, Failed, Unsatisfied, allocate
from dra.device import Device
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import DraObject, ResourceClaim, ResourceSlice
from dra.validation import admit

TARGET = Target.V1_37
SEED = int(os.environ.get("GPULAB_SEED", "1"))
CASES = int(os.environ.get("GPULAB_CASES", "5000"))
"""Of all tests together. By hand: `GPULAB_CASES=100000 GPULAB_SEED=2 python -m pytest tests/differential`."""

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def cases(parts: int, of: int) -> settings:
    """Return the settings of a test that gets so many parts of all cases, the same ones at each run."""
    return settings(
        max_examples=max(1, CASES * parts // of), deadline=None, database=None, suppress_health_check=_QUIET
    )


VERDICTS = {Allocated: "allocated", Failed: "error", Unsatisfied: "pending"}
GRANTED = {"resource.kubernetes.io/admin-access": "true"}


def admitted(document: Document) -> DraObject:
    """Return our model of a document that the API server lets in."""
    admission = admit(document, TARGET, GRANTED)
    assert admission is not None
    assert not admission.problems, admission.problems
    assert admission.object is not None
    return admission.object


def admitted_device(driver: str, device: Document) -> Device:
    """Return our model of a device."""
    pool = {"name": "pool", "resourceSliceCount": 1, "generation": 1}
    made = admitted(
        resource(
            "ResourceSlice", "slice", {"driver": driver, "pool": pool, "allNodes": True, "devices": [device]}
        )
    )
    assert isinstance(made, ResourceSlice)
    assert made.spec.devices
    return made.spec.devices[0]


def ask(referee: Referee, cluster: Cluster, claims: Sequence[Document]) -> Mapping[str, Any]:
    """Return what the scheduler's plugin says of a pod with these claims."""
    return referee.ask(
        "allocate",
        nodes=cluster.nodes,
        slices=cluster.slices,
        classes=cluster.classes,
        taintRules=cluster.taint_rules,
        allocated=cluster.allocated,
        claims=claims,
    )


def inventory(cluster: Cluster) -> Inventory:
    documents = [*cluster.nodes, *cluster.slices, *cluster.classes, *cluster.taint_rules, *cluster.allocated]
    return Inventory.of(map(admitted, documents))


def our_allocation(claims: Sequence[Document], cluster: Inventory) -> Allocated | Unsatisfied | Failed:
    models = [admitted(claim) for claim in claims]
    return allocate([model for model in models if isinstance(model, ResourceClaim)], cluster, TARGET)


Devices = dict[str, list[tuple[str, ...]]]
"""All that a claim gets, by the claim's name: request, driver, pool, device, admin access and amounts."""


def our_devices(allocated: Allocated) -> Devices:
    return {
        claim: sorted(_device(each.model_dump(by_alias=True)) for each in held)
        for claim, held in allocated.devices.items()
    }


def their_devices(outcome: Mapping[str, Any]) -> Devices:
    """Return the devices of the referee's outcome on one node."""
    return {
        claim: sorted(map(_device, allocation["devices"].get("results", ())))
        for claim, allocation in outcome.get("claims", {}).items()
    }


def _device(result: Mapping[str, Any]) -> tuple[str, ...]:
    named = (str(result[field]) for field in ("request", "driver", "pool", "device"))
    amounts = (f"{name} {amount}" for name, amount in result.get("consumedCapacity", {}).items())
    return (*named, str(bool(result.get("adminAccess"))), *sorted(amounts))
