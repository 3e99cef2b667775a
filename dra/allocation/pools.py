"""The pools that a node sees, in the order in which the allocator looks through them.

Source: `structured/internal/incubating/pools_incubating.go` of `k8s.io/dynamic-resource-allocation` 0.37.2,
the variant that the scheduler of 1.37 picks with its default gates.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property

from dra.allocation.candidate import Candidate, Candidates
from dra.allocation.held import DeviceId, held_by
from dra.allocation.nodeselection import selects
from dra.device import NodeSelector, ResourceSliceSpec
from dra.gates import Gate, Target, is_on
from dra.inventory import Inventory
from dra.objects import Node, ObjectMeta, ResourceSlice
from dra.quantity import Quantity

Counters = Mapping[tuple[str, str], Quantity]
"""Amounts by counter set and counter."""


@dataclass(frozen=True, eq=False)
class Pool:
    """What a node sees of a pool. From one that is incomplete or invalid nothing is allocated."""

    driver: str
    name: str
    incomplete: str = ""
    """Why not all slices are there; empty if they are."""
    invalid: str = ""
    """What is wrong with the slices; empty if nothing is."""
    devices: Sequence[Candidate] = ()
    elsewhere: AbstractSet[DeviceId] = frozenset()
    """Devices that are on a slice for this node, and for another node themselves."""
    counters: Counters = field(default_factory=dict[tuple[str, str], Quantity])
    """The shared counters, less what allocated devices take of them."""

    @cached_property
    def overdrawn(self) -> bool:
        """Whether allocated devices take more of a counter than there is."""
        return any(left.sign < 0 for left in self.counters.values())

    def __str__(self) -> str:
        """Return it as the scheduler writes it."""
        return f"{self.driver}/{self.name}"


class Pools:
    """The pools of an inventory, gathered for one node after the other."""

    def __init__(self, inventory: Inventory, target: Target) -> None:
        self.held = held_by(inventory.claims, sharing=is_on(Gate.DRA_CONSUMABLE_CAPACITY, target))
        self.nodes: Sequence[Node] = [*inventory.nodes, *_implied_nodes(inventory)]
        self._partitions = is_on(Gate.DRA_PARTITIONABLE_DEVICES, target)
        self._groups = is_on(Gate.DRA_DEVICE_COMPATIBILITY_GROUPS, target)
        rules = inventory.taint_rules if is_on(Gate.DRA_DEVICE_TAINT_RULES, target) else ()
        made = Candidates(rules, self.held, sharing=is_on(Gate.DRA_CONSUMABLE_CAPACITY, target))
        self._devices = {id(each): made.of(each.spec) for each in inventory.slices}
        self._local: dict[str, list[ResourceSlice]] = defaultdict(list)
        self._network: list[ResourceSlice] = []
        self._by_pool: dict[tuple[str, str], list[ResourceSlice]] = defaultdict(list)
        for each in inventory.slices:
            (self._local[each.spec.node_name] if each.spec.node_name else self._network).append(each)
            self._by_pool[each.spec.driver, each.spec.pool.name].append(each)
        self._views: dict[object, Pool] = {}
        self._on: dict[str, Sequence[Pool]] = {}

    @property
    def devices(self) -> Iterable[Candidate]:
        """All devices of the inventory."""
        return (device for devices in self._devices.values() for device in devices)

    def on(self, node: Node) -> Sequence[Pool]:
        """Return the pools that a node sees.

        Raises:
            ValueError: A node selector cannot be read, in the scheduler's words.

        """
        name = node.metadata.name
        if name not in self._on:
            self._on[name] = self._gather(node)
        return self._on[name]

    def _gather(self, node: Node) -> Sequence[Pool]:
        newest: dict[tuple[str, str], list[ResourceSlice]] = {}
        for each in (*self._local.get(node.metadata.name, ()), *self._network):
            if not self._is_known(each.spec) or not _is_for(each, node):
                continue
            pool = each.spec.driver, each.spec.pool.name
            slices = newest.setdefault(pool, [])
            if slices and slices[0].spec.pool.generation > each.spec.pool.generation:
                continue
            if slices and slices[0].spec.pool.generation < each.spec.pool.generation:
                slices.clear()
            slices.append(each)
        pools = [pool for slices in newest.values() if (pool := self._view(slices, node)) is not None]
        return sorted(pools, key=lambda pool: (_binds(pool), pool.driver, pool.name))

    def _is_known(self, spec: ResourceSliceSpec) -> bool:
        if not self._partitions and (spec.per_device_node_selection is not None or spec.shared_counters):
            return False
        return self._groups or not _has_compatibility_groups(spec)

    def _view(self, slices: Sequence[ResourceSlice], node: Node) -> Pool | None:
        """Return the pool that some slices make up for a node, or None if newer ones replace them."""
        elsewhere = frozenset(
            candidate.id
            for each in slices
            if each.spec.per_device_node_selection
            for candidate in self._devices[id(each)]
            if not _device_is_for(candidate, node)
        )
        key = (elsewhere, *(id(each) for each in slices))
        if key in self._views:
            return self._views[key]
        spec = slices[0].spec
        every = slices
        if len(slices) != spec.pool.resource_slice_count:
            every = [
                each
                for each in self._by_pool[spec.driver, spec.pool.name]
                if each.spec.pool.generation >= spec.pool.generation
            ]
            if any(each.spec.pool.generation > spec.pool.generation for each in every):
                return None
            every = [each for each in every if self._groups or not _has_compatibility_groups(each.spec)]
        self._views[key] = self._build(slices, every, elsewhere)
        return self._views[key]

    def _build(
        self, here: Sequence[ResourceSlice], every: Sequence[ResourceSlice], elsewhere: AbstractSet[DeviceId]
    ) -> Pool:
        spec = here[0].spec
        if len(every) != spec.pool.resource_slice_count:
            return Pool(
                spec.driver,
                spec.pool.name,
                incomplete=f"{len(every)} of {spec.pool.resource_slice_count} slices of its generation "
                f"{spec.pool.generation} are there",
            )
        devices = [
            candidate
            for each in sorted(here, key=lambda each: each.metadata.name)
            if not each.spec.shared_counters
            for candidate in self._devices[id(each)]
        ]
        names = [device.id.name for device in devices]
        if len(set(names)) < len(names):
            twice = next(name for index, name in enumerate(names) if name in names[:index])
            return Pool(spec.driver, spec.pool.name, invalid=f"duplicate device name {twice}")
        if not self._partitions:
            return Pool(spec.driver, spec.pool.name, devices=devices)
        # Those that this node does not see count too: what is allocated of them takes counters.
        seen = {id(each) for each in here}
        rest = [
            candidate
            for each in every
            if not each.spec.shared_counters and id(each) not in seen
            for candidate in self._devices[id(each)]
        ]
        try:
            counters = _counters(every)
            for device in (*devices, *rest):
                _take(counters, device, allocated=device.id in self.held)
        except ValueError as error:
            return Pool(spec.driver, spec.pool.name, invalid=str(error))
        return Pool(spec.driver, spec.pool.name, devices=devices, elsewhere=elsewhere, counters=counters)


def _implied_nodes(inventory: Inventory) -> list[Node]:
    known = {node.metadata.name for node in inventory.nodes}
    names = dict.fromkeys(each.spec.node_name for each in inventory.slices if each.spec.node_name)
    return [Node(metadata=ObjectMeta(name=name)) for name in names if name not in known]


def _is_for(each: ResourceSlice, node: Node) -> bool:
    spec = each.spec
    try:
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            return _matches(node, spec.node_name, spec.node_selector, all_nodes=bool(spec.all_nodes))
    except ValueError as error:
        raise ValueError(
            f"failed to perform node selection for slice {each.metadata.name}: failed to parse node "
            f"selector: {error}"
        ) from None
    return bool(spec.per_device_node_selection) and any(
        _matches(node, device.node_name, device.node_selector, all_nodes=bool(device.all_nodes))
        for device in spec.devices or ()
    )


def _device_is_for(candidate: Candidate, node: Node) -> bool:
    device = candidate.device
    return _matches(node, device.node_name, device.node_selector, all_nodes=bool(device.all_nodes))


def _matches(node: Node, name: str | None, selector: NodeSelector | None, *, all_nodes: bool) -> bool:
    if name:
        return node.metadata.name == name
    return all_nodes or (selector is not None and selects(selector, node))


def _binds(pool: Pool) -> bool:
    """Pools with a device that has to be bound first come last."""
    return any(candidate.device.binding_conditions is not None for candidate in pool.devices)


def _has_compatibility_groups(spec: ResourceSliceSpec) -> bool:
    return any(
        consumption.compatibility_groups
        for device in spec.devices or ()
        for consumption in device.consumes_counters or ()
    )


def _counters(slices: Iterable[ResourceSlice]) -> dict[tuple[str, str], Quantity]:
    counters: dict[tuple[str, str], Quantity] = {}
    sets: set[str] = set()
    for each in slices:
        for counter_set in each.spec.shared_counters or ():
            if counter_set.name in sets:
                raise ValueError(f"duplicate counter set name {counter_set.name}")
            sets.add(counter_set.name)
            for name, counter in (counter_set.counters or {}).items():
                counters[counter_set.name, name] = Quantity.parse(counter.value)
    return counters


def _take(counters: dict[tuple[str, str], Quantity], device: Candidate, *, allocated: bool) -> None:
    for (counter_set, name), amount in device.counters.items():
        if (counter_set, name) not in counters:
            if not any(known == counter_set for known, _ in counters):
                raise ValueError(f"counter set {counter_set} not found")
            raise ValueError(f"counter {name} not found in counter set {counter_set}")
        if allocated:
            counters[counter_set, name] -= amount
