"""Nodes that look the same to some claims, so that one of them is tried for all of them.

A thousand nodes of eight GPUs differ in the UUIDs of their GPUs, and in nothing that a claim asks about.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from dra.allocation.candidate import Candidate, value_of
from dra.allocation.judge import Spot
from dra.allocation.pools import Pool, Pools
from dra.objects import Node

Attributes = frozenset[str]
"""Fully qualified names."""


class Views:
    """What claims that read only some attributes of devices see on each node; None: they may read any."""

    def __init__(self, pools: Pools, attributes: Attributes | None) -> None:
        self._pools = pools
        self._names = None if attributes is None else [_spellings(name) for name in sorted(attributes)]
        self._kinds: dict[object, int] = {}
        self._kind_of: dict[Candidate, int] = {}
        self._shapes: dict[object, int] = {}
        self._shape_of: dict[Pool, int] = {}
        self._of_node: dict[str, int] = {}

    def shape(self, node: Node) -> int:
        """Return a number that is the same for nodes that look the same; raises ValueError as `Pools.on`."""
        name = node.metadata.name
        if name not in self._of_node:
            pools = tuple(self._pool_shape(pool) for pool in self._pools.on(node))
            self._of_node[name] = self._shapes.setdefault(pools, len(self._shapes))
        return self._of_node[name]

    def spots(self, node: Node) -> list[Spot]:
        """Return the devices that a node sees, in the allocator's order."""
        return [
            Spot(
                pool,
                candidate,
                here := candidate.id not in pool.elsewhere,
                (index, here, self.kind(candidate)),
            )
            for index, pool in enumerate(self._pools.on(node))
            for candidate in pool.devices
        ]

    def kind(self, candidate: Candidate) -> int:
        """Return a number that is the same for devices that differ in nothing that can be read of them."""
        if candidate not in self._kind_of:
            seen = candidate.kind, self._seen(candidate)
            self._kind_of[candidate] = self._kinds.setdefault(seen, len(self._kinds))
        return self._kind_of[candidate]

    def _seen(self, candidate: Candidate) -> Sequence[object]:
        attributes = candidate.device.attributes
        if self._names is None:
            return tuple(sorted((name, value_of(each)) for name, each in attributes.items()))
        # A slice may have both spellings.
        given = [
            attributes.get(spelling) if spelling else None
            for full, domain, bare in self._names
            for spelling in (full, bare if domain == candidate.id.driver else "")
        ]
        return tuple(each and value_of(each) for each in given)

    def census(self, nodes: Sequence[Node]) -> Sequence[tuple[Candidate, int]]:
        """Return the devices on some nodes: one of each kind, and how many there are of it."""
        if len(nodes) == len(self._pools.nodes):
            return self._whole_census
        return self._census(nodes)

    @cached_property
    def _whole_census(self) -> Sequence[tuple[Candidate, int]]:
        return self._census(self._pools.nodes)

    def _census(self, nodes: Sequence[Node]) -> Sequence[tuple[Candidate, int]]:
        seen = dict.fromkeys(
            device
            for pool in dict.fromkeys(pool for node in nodes for pool in self._pools.on(node))
            for device in pool.devices
            if device.id not in pool.elsewhere
        )
        counts: Counter[int] = Counter()
        one: dict[int, Candidate] = {}
        for device in seen:
            kind = self.kind(device)
            counts[kind] += 1
            one.setdefault(kind, device)
        return [(one[kind], count) for kind, count in counts.items()]

    def _pool_shape(self, pool: Pool) -> int:
        if pool not in self._shape_of:
            seen = (
                bool(pool.incomplete),
                bool(pool.invalid),
                tuple((self.kind(each), each.id in pool.elsewhere) for each in pool.devices),
                tuple(sorted((name, amount.key) for name, amount in pool.counters.items())),
            )
            self._shape_of[pool] = self._shapes.setdefault(("pool", seen), len(self._shapes))
        return self._shape_of[pool]


def _spellings(name: str) -> tuple[str, str, str]:
    domain, _, identifier = name.partition("/")
    return name, domain, identifier
