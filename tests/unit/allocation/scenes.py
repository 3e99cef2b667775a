"""Inventories and claims in few words, for the tests of the allocator."""

from collections.abc import Mapping, Sequence
from typing import Any

from dra.allocation import Allocated, Failed, Unsatisfied, allocate
from dra.claim import DeviceClassSpec, ResourceClaimSpec
from dra.device import DeviceTaintRuleSpec, ResourceSliceSpec
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import (
    AllocatedDevice,
    DeviceClass,
    DeviceTaintRule,
    DraObject,
    Node,
    ObjectMeta,
    ResourceClaim,
    ResourceSlice,
)

DRIVER = "gpu.example.com"
NUMA = "resource.kubernetes.io/numaNode"
ANY = DeviceClass(metadata=ObjectMeta(name="any"))
"""A class that every device is of."""


def attribute(value: object) -> dict[str, object]:
    kind = "string" if isinstance(value, str) else "bool" if isinstance(value, bool) else "int"
    return {kind: value}


def device(name: str, attributes: Mapping[str, object] | None = None, **more: object) -> dict[str, Any]:
    """Return a device as YAML has it; a plain value stands for an attribute of its type."""
    made = {key: attribute(value) for key, value in (attributes or {}).items()}
    return {"name": name, "attributes": made} | more


def gpus(count: int, **more: object) -> list[dict[str, Any]]:
    return [device(f"gpu-{number}", None, **more) for number in range(count)]


def slice_of(  # noqa: PLR0913 - the parts of a slice
    node: str | None,
    devices: Sequence[Mapping[str, Any]] | None = None,
    *,
    pool: str = "",
    generation: int = 1,
    count: int = 1,
    name: str = "",
    **more: object,
) -> ResourceSlice:
    spec = {
        "driver": DRIVER,
        "nodeName": node,
        "pool": {"name": pool or node, "generation": generation, "resourceSliceCount": count},
        "devices": devices,
    }
    return ResourceSlice(
        metadata=ObjectMeta(name=name or f"{node}-{generation}"),
        spec=ResourceSliceSpec.model_validate(spec | more),
    )


def request(
    name: str = "gpu", *, cls: str = "any", cel: Sequence[str] = (), **more: object
) -> dict[str, Any]:
    selectors = [{"cel": {"expression": each}} for each in cel]
    return {"name": name, "exactly": {"deviceClassName": cls, "selectors": selectors} | more}


def alternatives(name: str, *each: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "firstAvailable": [{"deviceClassName": "any", **one} for one in each]}


def claim(
    *requests: Mapping[str, Any],
    name: str = "claim",
    constraints: Sequence[Mapping[str, Any]] = (),
    held: Sequence[AllocatedDevice] | None = None,
) -> ResourceClaim:
    return ResourceClaim(
        metadata=ObjectMeta(name=name, namespace="team"),
        spec=ResourceClaimSpec.model_validate(
            {"devices": {"requests": list(requests), "constraints": list(constraints)}}
        ),
        allocated=held,
    )


def held(*names: str, pool: str = "node", admin: bool = False) -> list[AllocatedDevice]:
    return [
        AllocatedDevice(request="gpu", driver=DRIVER, pool=pool, device=name, admin_access=admin)
        for name in names
    ]


def share(name: str, share_id: str, **consumed: str) -> AllocatedDevice:
    return AllocatedDevice(
        request="gpu",
        driver=DRIVER,
        pool="node",
        device=name,
        share_id=share_id,
        consumed_capacity=consumed,
    )


def class_of(name: str, *expressions: str) -> DeviceClass:
    selectors = [{"cel": {"expression": each}} for each in expressions]
    return DeviceClass(
        metadata=ObjectMeta(name=name), spec=DeviceClassSpec.model_validate({"selectors": selectors})
    )


def taint_rule(taint: Mapping[str, Any], selector: Mapping[str, Any] | None) -> DeviceTaintRule:
    spec = {"taint": taint, "deviceSelector": selector}
    return DeviceTaintRule(metadata=ObjectMeta(name="rule"), spec=DeviceTaintRuleSpec.model_validate(spec))


def node(name: str, *, unschedulable: bool = False, **labels: str) -> Node:
    return Node(metadata=ObjectMeta(name=name, labels=labels), unschedulable=unschedulable)


def outcome(
    claims: ResourceClaim | Sequence[ResourceClaim], *objects: DraObject, target: Target = Target.V1_37
) -> Allocated | Unsatisfied | Failed:
    several = [claims] if isinstance(claims, ResourceClaim) else claims
    return allocate(several, Inventory.of([ANY, *objects]), target)


def devices_of(result: Allocated | Unsatisfied | Failed, name: str = "claim") -> list[str]:
    """Return the allocated devices' names; fails on any other outcome."""
    assert isinstance(result, Allocated), result
    return [each.device for each in result.devices[name]]


def why(result: Allocated | Unsatisfied | Failed) -> str:
    assert isinstance(result, Unsatisfied), result
    return result.why


def message(result: Allocated | Unsatisfied | Failed) -> str:
    assert isinstance(result, Failed), result
    return result.message
