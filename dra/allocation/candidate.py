"""A device as the allocator sees it: with the taints that rules add, its attributes and amounts read once."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from dra.allocation.held import DeviceId, Held
from dra.device import Device, DeviceAttribute, DeviceTaint, ResourceSliceSpec
from dra.objects import DeviceTaintRule
from dra.quantity import Quantity

_PREVENTING = frozenset({"NoSchedule", "NoExecute"})
"""Effects that keep a claim away. Others, None among them, are information (API reference, DeviceTaint)."""


class Value(NamedTuple):
    """An attribute's value with its type: the integer 1 and the text 1 are two values."""

    type_: str
    value: object

    def __str__(self) -> str:
        """Return the value as a reader would write it."""
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


LIST = "list"
"""The type of an attribute with several values. Constraints understand those only with an alpha gate on."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A device of a slice. Two with the same `kind` differ in nothing but their attributes and their name."""

    id: DeviceId
    device: Device
    taints: Sequence[DeviceTaint]
    """Those that keep a claim without a toleration away, the rules' among them."""
    shared: bool
    """Whether several claims may each have a part of it (DRAConsumableCapacity)."""
    kind: int
    _values: dict[str, Value | None] = field(default_factory=dict[str, Value | None])

    @cached_property
    def counters(self) -> Mapping[tuple[str, str], Quantity]:
        """What it takes of shared counters, by counter set and counter."""
        return {
            (consumption.counter_set, name): Quantity.parse(counter.value)
            for consumption in self.device.consumes_counters or ()
            for name, counter in (consumption.counters or {}).items()
        }

    def attribute(self, name: str) -> Value | None:
        """Return the attribute of a fully qualified name.

        A slice may leave out the domain of its own driver's attributes.
        """
        if name not in self._values:
            given = self.device.attributes
            found = given.get(name)
            if found is None:
                domain, slash, identifier = name.partition("/")
                found = given.get(identifier) if slash and domain == self.id.driver else None
            self._values[name] = None if found is None else value_of(found)
        return self._values[name]


class Candidates:
    """Makes the candidates of slices, and numbers their kinds."""

    def __init__(self, rules: Iterable[DeviceTaintRule], held: Held, *, sharing: bool) -> None:
        self._rules = [rule.spec for rule in rules]
        self._held, self._sharing = held, sharing
        self._kinds: dict[object, int] = {}
        self._unlike = itertools.count(-1, -1)

    def of(self, spec: ResourceSliceSpec) -> list[Candidate]:
        """Return the devices of a slice."""
        return [self._candidate(spec, device) for device in spec.devices or ()]

    def _candidate(self, spec: ResourceSliceSpec, device: Device) -> Candidate:
        identity = DeviceId(spec.driver, spec.pool.name, device.name)
        taints = [
            taint
            for taint in (*(device.taints or ()), *self._taints_by_rule(identity))
            if taint.effect in _PREVENTING
        ]
        return Candidate(
            id=identity,
            device=device,
            taints=taints,
            shared=self._sharing and bool(device.allow_multiple_allocations),
            kind=self._kind(identity, device, taints),
        )

    def _taints_by_rule(self, device: DeviceId) -> Iterable[DeviceTaint]:
        for rule in self._rules:
            selector = rule.device_selector
            # A rule without a selector is for no device, one with an empty selector for all of them.
            if selector is not None and all(
                asked is None or asked == name
                for asked, name in zip((selector.driver, selector.pool, selector.device), device, strict=True)
            ):
                yield rule.taint

    def _kind(self, identity: DeviceId, device: Device, taints: Sequence[DeviceTaint]) -> int:
        if identity in self._held.shares:
            return next(self._unlike)
        plain = (
            identity.driver,
            identity in self._held.whole,
            bool(device.allow_multiple_allocations),
            bool(device.binding_conditions),
            tuple((name, repr(capacity)) for name, capacity in device.capacity.items()),
            repr(device.consumes_counters) if device.consumes_counters else "",
            tuple((taint.key, taint.value, taint.effect) for taint in taints),
        )
        return self._kinds.setdefault(plain, len(self._kinds))


def value_of(attribute: DeviceAttribute) -> Value:
    """Return the one value of an attribute."""
    for type_, value in (
        ("string", attribute.string),
        ("int", attribute.int_),
        ("bool", attribute.bool_),
        ("version", attribute.version),
    ):
        if value is not None:
            return Value(type_, value)
    lists = (attribute.strings, attribute.ints, attribute.bools, attribute.versions)
    return Value(LIST, tuple(itertools.chain.from_iterable(each or () for each in lists)))
