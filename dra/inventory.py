"""What a cluster has: the nodes, devices and classes that claims are judged against."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dra.claim import DeviceClassSpec, selector
from dra.device import ResourcePool, ResourceSliceSpec
from dra.objects import (
    DeviceClass,
    DeviceTaintRule,
    DraObject,
    Node,
    ObjectMeta,
    ResourceClaim,
    ResourceSlice,
)
from dra.pool import GPU_DRIVER, GPU_RESOURCE, POOL_LABEL, GpuPool, Mechanism

GPU_CLASS = DeviceClass(
    metadata=ObjectMeta(name=GPU_DRIVER),
    spec=DeviceClassSpec(
        selectors=[
            selector(f"device.driver == '{GPU_DRIVER}' && device.attributes['{GPU_DRIVER}'].type == 'gpu'")
        ]
    ),
)
"""The class that NVIDIA's DRA driver brings for whole GPUs (its Helm chart)."""


@dataclass(frozen=True, eq=False)
class Inventory:
    """The cluster's side of an allocation. `claims` are those that hold devices already.

    A slice on a `nodeName` that no Node object has still stands for a node of that name. Compared by
    identity, so that what is worked out for an inventory once can be kept with it.
    """

    nodes: Sequence[Node] = ()
    slices: Sequence[ResourceSlice] = ()
    classes: Sequence[DeviceClass] = ()
    taint_rules: Sequence[DeviceTaintRule] = ()
    claims: Sequence[ResourceClaim] = ()
    labels_known: bool = True
    """Whether the nodes have no other labels than those that are given. Those of pools are made up."""

    @classmethod
    def of(cls, objects: Iterable[DraObject]) -> "Inventory":
        """Return the inventory that some objects make up; those that offer or hold nothing are left out."""
        every = list(objects)
        return cls(
            nodes=[each for each in every if isinstance(each, Node)],
            slices=[each for each in every if isinstance(each, ResourceSlice)],
            classes=[each for each in every if isinstance(each, DeviceClass)],
            taint_rules=[each for each in every if isinstance(each, DeviceTaintRule)],
            claims=[each for each in every if isinstance(each, ResourceClaim) and each.allocated is not None],
        )

    @classmethod
    def of_pools(cls, pools: Sequence[GpuPool]) -> "Inventory":
        """Return the inventory of simulated GPU pools, with the class for their GPUs."""
        return cls(
            nodes=[_node(pool, node) for pool in pools for node in pool.nodes],
            slices=[
                _slice(pool, node)
                for pool in pools
                if pool.mechanism is Mechanism.CLAIMED
                for node in pool.nodes
            ],
            classes=[GPU_CLASS],
            labels_known=False,
        )


def _node(pool: GpuPool, name: str) -> Node:
    counted = pool.mechanism is Mechanism.COUNTED
    return Node(
        metadata=ObjectMeta(name=name, labels={"kubernetes.io/hostname": name, POOL_LABEL: pool.name}),
        allocatable={GPU_RESOURCE: str(pool.count)} if counted else {},
    )


def _slice(pool: GpuPool, node: str) -> ResourceSlice:
    return ResourceSlice(
        metadata=ObjectMeta(name=f"kwok-{node}-gpu"),
        spec=ResourceSliceSpec(
            driver=GPU_DRIVER,
            node_name=node,
            pool=ResourcePool(name=node, generation=1, resource_slice_count=1),
            devices=pool.devices(),
        ),
    )
