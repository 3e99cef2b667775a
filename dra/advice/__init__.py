"""Advice: what the control plane takes in silence, and a person would regret.

Each piece of advice is a function over one object and the world around it, and has a page in docs/findings/.
"""

from collections.abc import Iterator

from dra.advice.claims import on_claim
from dra.advice.cluster import on_class, on_node, on_slice
from dra.advice.workloads import on_workload
from dra.advice.world import World
from dra.finding import Finding
from dra.objects import (
    DeviceClass,
    DraObject,
    Node,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Workload,
)

__all__ = ["World", "advise"]


def advise(subject: DraObject, world: World) -> Iterator[Finding]:
    """Yield all advice on an object. What is wrong in a harder way is not repeated here."""
    match subject:
        case ResourceClaim():
            yield from on_claim(subject.spec, "spec", world)
        case ResourceClaimTemplate():
            yield from on_claim(subject.spec, "spec.spec", world)
        case DeviceClass():
            yield from on_class(subject, world)
        case ResourceSlice():
            yield from on_slice(subject, world)
        case Node():
            yield from on_node(subject, world)
        case Workload():
            yield from on_workload(subject, world)
        case _:
            pass
