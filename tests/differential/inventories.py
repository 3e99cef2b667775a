"""Clusters as hypothesis makes them: nodes, slices of three drivers, classes, taint rules and claims in use.

Attributes are those that NVIDIA's driver publishes (ResourceSlice attributes, in its documentation), and a
network driver's. The vocabulary is small, so that what claims ask for is often there, and often nearly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

Document = dict[str, Any]
GPU, NET, OTHER = "gpu.nvidia.com", "dra.net", "gpu.example.com"
STANDARD = "resource.kubernetes.io"
LABELS = {"node-a": {"zone": "east"}, "node-b": {"zone": "west"}, "node-c": {"zone": "west"}}


@dataclass(frozen=True)
class Cluster:
    """The documents of an inventory, as the API server would be given them."""

    nodes: Sequence[Document]
    slices: Sequence[Document]
    classes: Sequence[Document]
    taint_rules: Sequence[Document]
    allocated: Sequence[Document] = ()


def resource(kind: str, name: str, spec: Document, **metadata: object) -> Document:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name} | metadata,
        "spec": spec,
    }


def node(name: str) -> Document:
    labels = {"kubernetes.io/hostname": name} | LABELS[name]
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def rarely(
    strategy: st.SearchStrategy[Any], otherwise: object = None, *, once_in: int = 8
) -> st.SearchStrategy[Any]:
    """Return the strategy once in so many draws, else the other value (which shrinking prefers)."""
    return st.integers(1, once_in).flatmap(lambda drawn: strategy if drawn == once_in else st.just(otherwise))


@cache
def seldom(once_in: int) -> st.SearchStrategy[bool]:
    """Return a strategy that says yes once in so many draws."""
    return st.integers(1, once_in).map(lambda drawn: drawn == once_in)


def _typed(kind: str, *values: object) -> st.SearchStrategy[Document]:
    return st.sampled_from([{kind: value} for value in values])


_FLAG: st.SearchStrategy[Document] = st.sampled_from([{"bool": True}, {"bool": False}])
ATTRIBUTES: dict[str, dict[str, st.SearchStrategy[Document]]] = {
    GPU: {
        "type": _typed("string", "gpu", "gpu", "gpu", "mig"),
        "productName": _typed("string", "NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3"),
        "architecture": _typed("string", "Ampere", "Hopper"),
        "index": _typed("int", 0, 1, 2),
        "cudaComputeCapability": _typed("version", "8.0.0", "9.0.0"),
        "driverVersion": _typed("version", "580.126.20", "550.54.15-rc.1"),
        "fabric": _FLAG,
        f"{STANDARD}/numaNode": _typed("int", 0, 1),
        f"{STANDARD}/pcieRoot": _typed("string", "pci0000:00", "pci0000:40"),
    },
    NET: {
        "ifName": _typed("string", "eth0", "eth1"),
        "rdma": _FLAG,
        f"{STANDARD}/numaNode": _typed("int", 0, 1),
        f"{STANDARD}/pcieRoot": _typed("string", "pci0000:00", "pci0000:40"),
    },
    OTHER: {
        "type": _typed("string", "gpu"),
        "model": _typed("string", "LATEST-GPU-MODEL"),
        "index": _typed("int", 0, 1),
        f"{GPU}/productName": _typed("string", "NVIDIA A100-SXM4-40GB"),
    },
}
MISTYPED = st.sampled_from([{"int": 1}, {"string": "1"}, {"bool": True}, {"version": "1.0.0"}])
CAPACITIES = {
    GPU: {"memory": ("40Gi", "80Gi", "40960Mi"), "multiprocessors": ("98", "132")},
    NET: {"bandwidth": ("10G", "25G")},
    OTHER: {"memory": ("80Gi",), f"{GPU}/memory": ("40Gi",)},
}
POLICIES: st.SearchStrategy[Document | None] = st.sampled_from(
    [
        None,
        {"default": "10Gi"},
        {"default": "10Gi", "validValues": ["10Gi", "20Gi", "40Gi"]},
        {"default": "5Gi", "validRange": {"min": "5Gi"}},
        {"default": "5Gi", "validRange": {"min": "5Gi", "max": "20Gi", "step": "5Gi"}},
        {"default": "1Gi", "validRange": {"min": "1Gi", "step": "9Gi"}},
        {"default": "0", "validRange": {"min": "0", "step": "15Gi"}},
        {"default": "1", "validRange": {"min": "1", "max": "7"}},
    ]
)
TAINTS = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["example.com/unhealthy", "maintenance"]),
        "effect": st.sampled_from(["NoSchedule", "NoExecute", "None"]),
    },
    optional={"value": st.sampled_from(["", "ecc", "tonight"])},
)
NODE_SELECTORS: st.SearchStrategy[Document] = st.sampled_from(
    [
        {"key": "zone", "operator": "In", "values": ["west"]},
        {"key": "zone", "operator": "NotIn", "values": ["west"]},
        {"key": "gpu", "operator": "DoesNotExist"},
        {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-a", "node-c"]},
    ]
).map(lambda term: {"nodeSelectorTerms": [{"matchExpressions": [term]}]})


@st.composite
def _devices(draw: st.DrawFn, driver: str, names: Sequence[str]) -> list[Document]:
    """Devices alike in which keys they have, now and then but one: as a driver publishes them."""
    missing = draw(
        rarely(st.sets(st.sampled_from(sorted(ATTRIBUTES[driver])), max_size=3), set[str](), once_in=3)
    )
    keys = [key for key in ATTRIBUTES[driver] if key not in missing]
    shared = draw(rarely(POLICIES, once_in=3)) if driver == GPU else None
    taint = draw(rarely(TAINTS, once_in=3))
    devices: list[Document] = []
    for name in names:
        attributes = {key: draw(ATTRIBUTES[driver][key]) for key in keys}
        if keys and draw(seldom(16)):
            odd = draw(st.sampled_from(keys))
            changed = draw(st.none() | MISTYPED)
            attributes = {key: value for key, value in attributes.items() if key != odd}
            attributes |= {odd: changed} if changed else {}
        device: Document = {"name": name, "attributes": attributes}
        device["capacity"] = {
            key: {"value": draw(st.sampled_from(values))} for key, values in CAPACITIES[driver].items()
        }
        if shared is not None or draw(seldom(12)):
            device["allowMultipleAllocations"] = True
            first = next(iter(device["capacity"].values()))
            first |= {"requestPolicy": shared} if shared else {}
        taints = [taint] if taint and draw(st.integers(0, 3)) else []
        if taints := taints + draw(rarely(TAINTS.map(lambda other: [other]), [], once_in=16)):
            device["taints"] = taints
        if conditions := draw(rarely(st.just(["example.com/attached"]), once_in=24)):
            device["bindingConditions"] = conditions
            device["bindingFailureConditions"] = ["example.com/failed"]
        devices.append(device)
    return devices


DEVICES: st.SearchStrategy[tuple[str, Document]] = st.sampled_from(sorted(ATTRIBUTES)).flatmap(
    lambda driver: st.tuples(st.just(driver), _devices(driver, ["gpu-0"]).map(lambda devices: devices[0]))
)
"""A driver and a device of it."""


@st.composite
def _where(draw: st.DrawFn, host: str) -> Document:
    elsewhere = st.one_of(
        st.just({"allNodes": True}), NODE_SELECTORS.map(lambda chosen: {"nodeSelector": chosen})
    )
    return draw(rarely(elsewhere, {"nodeName": host}, once_in=5))


@st.composite
def _pool(draw: st.DrawFn, driver: str, host: str) -> list[Document]:
    """The slices of one pool: of one generation or two, complete or not, partitioned or not."""
    size = draw(st.integers(0, 8 if driver == GPU else 2))
    devices = draw(_devices(driver, [f"{'eth' if driver == NET else 'gpu'}-{i}" for i in range(size)]))
    counters = _partition(draw, devices) if devices and draw(seldom(4)) else []
    parts = [devices]
    if len(devices) > 1 and draw(seldom(5)):
        cut = draw(st.integers(1, len(devices) - 1))
        parts = [devices[:cut], devices[cut:]]
    where = draw(_where(host))
    if "nodeName" in where and draw(seldom(6)):
        where = {"perDeviceNodeSelection": True}
        for device in devices:
            device.update(draw(_where(host)))
    generation = draw(rarely(st.just(2), 1))
    bodies: list[Document] = [{"devices": part} for part in parts]
    bodies += [{"sharedCounters": counters}] if counters else []
    count = len(bodies) + draw(rarely(st.sampled_from([1, -1]), 0, once_in=12))
    pool = {"name": host, "generation": generation, "resourceSliceCount": max(count, 1)}
    slices = [
        resource("ResourceSlice", f"{driver}-{host}-{i}", {"driver": driver, "pool": pool} | where | body)
        for i, body in enumerate(bodies)
    ]
    if generation > 1 and draw(st.booleans()):
        old: Document = {"name": host, "generation": 1, "resourceSliceCount": 1}
        left = {"driver": driver, "pool": old} | where | {"devices": devices[:1]}
        slices.append(resource("ResourceSlice", f"{driver}-{host}-old", left))
    return slices


def _partition(draw: st.DrawFn, devices: list[Document]) -> list[Document]:
    """Let the devices draw on a counter set, which may not be enough for all of them."""
    slots = draw(st.integers(1, len(devices)))
    for device in devices:
        if draw(st.integers(0, 9)):
            taken = {"slots": {"value": str(draw(st.integers(1, 3)))}}
            device["consumesCounters"] = [{"counterSet": "gpu-0", "counters": taken}]
    name = draw(rarely(st.just("another"), "gpu-0", once_in=16))
    return [{"name": name, "counters": {"slots": {"value": str(slots)}}}]


def _class(name: str, *expressions: str, **more: object) -> Document:
    return resource(
        "DeviceClass", name, {"selectors": [{"cel": {"expression": text}} for text in expressions]} | more
    )


CLASSES = (
    _class(GPU, f"device.driver == '{GPU}' && device.attributes['{GPU}'].type == 'gpu'"),
    _class("any"),
    _class("net", f"device.driver == '{NET}'"),
    _class("nvidia", f"device.driver == '{GPU}'", extendedResourceName="example.com/gpu"),
    _class("sloppy", f"device.attributes['{GPU}'].type == 'gpu'"),
    _class("two", f"device.driver == '{GPU}'", f"device.attributes['{GPU}'].?fabric.orValue(false)"),
)


@st.composite
def _taint_rule(draw: st.DrawFn, number: int) -> Document:
    choices = {
        "driver": st.sampled_from([GPU, NET]),
        "pool": st.sampled_from(sorted(LABELS)),
        "device": st.sampled_from(["gpu-0", "gpu-1"]),
    }
    chosen = draw(st.none() | st.fixed_dictionaries({}, optional=choices))
    spec: Document = {"taint": draw(TAINTS)} | ({"deviceSelector": chosen} if chosen is not None else {})
    return resource("DeviceTaintRule", f"rule-{number}", spec)


@st.composite
def _in_use(draw: st.DrawFn, slices: Sequence[Document]) -> list[Document]:
    """A claim that holds a few of the devices, or shares of them."""
    held: list[Document] = []
    for each in slices:
        for device in each["spec"].get("devices", ()):
            if not draw(seldom(4)):
                continue
            result: Document = {
                "request": "r",
                "driver": each["spec"]["driver"],
                "pool": each["spec"]["pool"]["name"],
                "device": device["name"],
            }
            if device.get("allowMultipleAllocations"):
                capacity = next(iter(device["capacity"]))
                result["shareID"] = f"00000000-0000-4000-8000-{len(held):012}"
                result["consumedCapacity"] = {capacity: draw(st.sampled_from(["5Gi", "20Gi", "40Gi", "1"]))}
            elif draw(seldom(8)):
                result["adminAccess"] = True
            held.append(result)
    if not held:
        return []
    requests = [
        {
            "name": "r",
            "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": len(held)},
        }
    ]
    claim = resource("ResourceClaim", "in-use", {"devices": {"requests": requests}}, namespace="default")
    return [claim | {"status": {"allocation": {"devices": {"results": held}}}}]


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    hosts = sorted(LABELS)[: draw(st.integers(1, 3))]
    slices: list[Document] = []
    for host in hosts:
        for driver in draw(st.sampled_from([[GPU], [GPU], [GPU, NET], [NET, OTHER], [GPU, NET, OTHER]])):
            slices += draw(_pool(driver, host))
    missing = draw(rarely(st.sampled_from(CLASSES), once_in=16))
    return Cluster(
        nodes=[node(host) for host in hosts],
        slices=draw(st.permutations(slices)),
        classes=[each for each in CLASSES if each is not missing],
        taint_rules=[draw(_taint_rule(i)) for i in range(draw(rarely(st.integers(1, 2), 0, once_in=5)))],
        allocated=draw(rarely(_in_use(slices), [], once_in=2)),
    )
