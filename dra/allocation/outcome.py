"""What becomes of the claims of a pod."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dra.objects import AllocatedDevice


@dataclass(frozen=True)
class Allocated:
    """A node has devices for all claims: one possible allocation, by the claims' names."""

    node: str
    devices: Mapping[str, Sequence[AllocatedDevice]]


@dataclass(frozen=True)
class Unsatisfied:
    """No node has devices for all claims, and the pod waits.

    `why` is about the node that comes nearest; `path` is the part of the claim that fails there.
    """

    claim: str
    path: str
    why: str
    for_nodes: bool = False
    """It is the nodes that fail, whatever devices they have."""


@dataclass(frozen=True)
class Failed:
    """The scheduler gives the pod up with an error, in its words.

    `possible_otherwise`: it may also find a node before it meets the error. See `dra.allocation`.
    """

    claim: str
    path: str
    message: str
    possible_otherwise: bool = False


class AllocationError(ValueError):
    """An error that ends the allocation of all claims on all nodes; the text is the scheduler's."""

    def __init__(self, claim: int, path: str, message: str) -> None:
        super().__init__(message)
        self.claim, self.path = claim, path
