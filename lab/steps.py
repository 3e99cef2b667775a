"""The steps of Lab 4 that are about the cluster as a whole: which GPUs each node has, which API is served."""

from collections.abc import Sequence

from components.expectation import ApiServed, Expectation, NodeGpus
from dra.pool import GpuPool, Mechanism


def gpus_of_nodes(pools: Sequence[GpuPool], *, dra_driver: bool) -> list[Expectation]:
    """Return step 2: what each node has."""
    return [
        NodeGpus(
            step="2 GPUs",
            node=node,
            pool=pool.name,
            count=pool.count if pool.mechanism is Mechanism.COUNTED or dra_driver else 0,
            mechanism="counted"
            if pool.mechanism is Mechanism.COUNTED
            else "claimed"
            if dra_driver
            else "none",
        )
        for pool in pools
        for node in pool.nodes
    ]


def dra_api() -> Expectation:
    """Return step 7: the kinds that every cluster since 1.34 serves."""
    return ApiServed(
        step="7 DRA API",
        group="resource.k8s.io",
        version="v1",
        resources=["deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"],
    )
