"""The GPUs that a stack gives its nodes by a Helm release of charts/gpu-simulator.

A Release shows its values and not its objects, so what comes of them is written out here as the chart's
Stages write it. A real DRA driver's slices come of the hardware: the setting `inventory` is for those.
"""

from collections.abc import Iterator

from dra.pool import GPU_DRIVER, GPU_RESOURCE, POOL_LABEL, Mechanism
from policies.objects import Document, mapping
from policies.stack import Stack, is_simulator


def nodes_and_slices(stack: Stack) -> tuple[dict[str, Document], list[Document]]:
    """Return the stack's nodes by name, with what the stack gives them, and the slices of its pools."""
    nodes = _labelled(stack)
    slices: list[Document] = []
    for values in _values(stack):
        topology, driver = mapping(values.get("topology")), mapping(values.get("draDriver"))
        pools = mapping(topology.get("nodePools"))
        key = str(topology.get("nodePoolLabelKey") or POOL_LABEL)
        for name, node in nodes.items():
            pool = mapping(pools.get(str(mapping(mapping(node["metadata"]).get("labels")).get(key))))
            if not pool:
                continue
            if pool.get("mechanism", Mechanism.COUNTED) == Mechanism.COUNTED:
                has = {GPU_RESOURCE: str(pool.get("gpuCount", 0))}
                nodes[name] = {**node, "status": {"capacity": has, "allocatable": has}}
            elif driver.get("enabled", True):
                slices.extend(_slices(name, str(driver.get("driver") or GPU_DRIVER), pool))
    return nodes, slices


def _labelled(stack: Stack) -> dict[str, Document]:
    nodes = {item.name: item.document for item in stack.objects if item.kind == "Node" and not item.group}
    for patch in stack.patches:
        metadata = mapping(patch.get("metadata"))
        name = str(metadata.get("name", ""))
        node = nodes.get(name, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        before = mapping(node.get("metadata"))
        labels = {**mapping(before.get("labels")), **mapping(metadata.get("labels"))}
        nodes[name] = {**node, "metadata": {**before, "labels": labels}}
    return nodes


def _values(stack: Stack) -> Iterator[Document]:
    for release in stack.releases:
        if is_simulator(release):
            yield mapping(release.get("values"))


def _slices(node: str, driver: str, pool: Document) -> Iterator[Document]:
    parts = {"gpu": {"devices": pool.get("devices") or _minimal(pool)}}
    if pool.get("sharedCounters"):
        parts["gpu-counters"] = {"sharedCounters": pool["sharedCounters"]}
    for suffix, part in parts.items():
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"kwok-{node}-{suffix}"},
            "spec": {
                "driver": driver,
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": len(parts)},
                **part,
            },
        }


def _minimal(pool: Document) -> list[Document]:
    """Return the devices of a pool that lists none."""
    return [
        {
            "name": f"gpu-{index}",
            "attributes": {"type": {"string": "gpu"}, "productName": {"string": pool.get("gpuProduct")}},
            "capacity": {"memory": {"value": f"{pool.get('gpuMemory')}Mi"}},
        }
        for index in range(int(pool.get("gpuCount", 0)))
    ]
