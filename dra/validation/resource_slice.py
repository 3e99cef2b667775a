"""The rules for the spec of ResourceSlices.

Source: `pkg/apis/resource/validation`, Kubernetes 1.37.2. What 1.37 checks of fields that no target of ours
has on by default is left out, since such fields are dropped before.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from dra import codes
from dra.device import (
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    ResourceSliceSpec,
)
from dra.gates import Target
from dra.validation import names
from dra.validation.claim import unique_names
from dra.validation.nodes import device_nodes, slice_nodes
from dra.validation.problem import (
    Problem,
    duplicate,
    forbidden,
    invalid,
    required,
    too_long,
    too_many,
    too_many_items,
)
from dra.validation.request_policy import request_policy
from dra.validation.taints import taint

Value = TypeVar("Value")

MAX_DEVICES = 128
MAX_DEVICES_WITH_MORE = 64
"""Where any device has taints or consumes counters."""
MAX_ATTRIBUTES_AND_CAPACITIES = 32
MAX_ATTRIBUTE_VALUES = 48
MAX_VALUE_LENGTH = 64
MAX_TAINTS = 16
MAX_COUNTER_SETS = 8
MAX_COUNTERS = 32
MAX_CONSUMPTIONS = 2
MAX_CONDITIONS = 4
_MAX_KEY = names.MAX_DOMAIN + 1 + names.MAX_IDENTIFIER

_NUMBER = r"(0|[1-9]\d*)"
_PRERELEASE = rf"({_NUMBER}|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)
_VALUES = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")


def slice_spec(spec: ResourceSliceSpec, path: str, target: Target) -> Iterator[Problem]:
    """Yield what is wrong with the spec of a slice."""
    yield from names.driver(f"{path}.driver", spec.driver)
    yield from names.pool(f"{path}.pool.name", spec.pool.name)
    if spec.pool.resource_slice_count <= 0:
        remedy = "Write how many slices the pool has, this one included."
        count = spec.pool.resource_slice_count
        yield invalid(f"{path}.pool.resourceSliceCount", count, "must be greater than zero", remedy)
    if spec.pool.generation < 0:
        detail = "must be greater than or equal to zero"
        yield invalid(f"{path}.pool.generation", spec.pool.generation, detail, "Start with 0 and count up.")
    yield from slice_nodes(spec, path)
    if spec.shared_counters is not None and spec.devices is not None:
        detail = "only one of `sharedCounters` or `devices` is allowed"
        remedy = (
            "Put the counter sets into a slice of their own in the pool, which counts in resourceSliceCount."
        )
        yield invalid(path, "", detail, remedy, codes.ONE_OF)
    yield from _devices(spec, f"{path}.devices", target)
    yield from _counter_sets(spec.shared_counters or (), f"{path}.sharedCounters", target)


def _devices(spec: ResourceSliceSpec, path: str, target: Target) -> Iterator[Problem]:
    devices = spec.devices or ()
    more = any(device.taints or device.consumes_counters for device in devices)
    limit = MAX_DEVICES_WITH_MORE if more else MAX_DEVICES
    if len(devices) > limit:
        remedy = (
            f"Spread the {len(devices)} devices over slices of the pool, which count in resourceSliceCount."
        )
        yield too_many(path, len(devices), limit, remedy)
        return
    for index, device in enumerate(devices):
        at = f"{path}[{index}]"
        yield from _device(device, at, target)
        yield from device_nodes(device, at, chosen_per_device=bool(spec.per_device_node_selection))
        yield from _conditions(device, at)
    seen: set[str] = set()
    for index, device in enumerate(devices):
        if device.name in seen:
            yield duplicate(f"{path}[{index}]", device.name, "Give the device another name.")
        seen.add(device.name)


def _device(device: Device, path: str, target: Target) -> Iterator[Problem]:
    yield from names.label(f"{path}.name", device.name)
    keys = len(device.attributes) + len(device.capacity)
    if keys > MAX_ATTRIBUTES_AND_CAPACITIES:
        detail = (
            f"the total number of attributes and capacities must not exceed {MAX_ATTRIBUTES_AND_CAPACITIES}"
        )
        remedy = "Keep those that claims select by."
        yield invalid(path, keys, detail, remedy, codes.TOO_MANY)
    if len(device.attributes) > MAX_ATTRIBUTE_VALUES and target >= Target.V1_36:
        detail = f"the total number of attribute values must not exceed {MAX_ATTRIBUTE_VALUES}"
        remedy = "Keep those that claims select by."
        yield invalid(path, len(device.attributes), detail, remedy, codes.TOO_MANY)
    yield from _map(device.attributes, f"{path}.attributes", lambda value, at: _attribute(value, at, target))
    shared = bool(device.allow_multiple_allocations)
    yield from _map(
        device.capacity, f"{path}.capacity", lambda value, at: _capacity(value, at, shared=shared)
    )
    taints = device.taints or ()
    yield from too_many_items(f"{path}.taints", len(taints), MAX_TAINTS, "taints")
    if len(taints) <= MAX_TAINTS:
        for index, value in enumerate(taints):
            yield from taint(value, f"{path}.taints[{index}]")
    yield from _consumptions(device.consumes_counters or (), f"{path}.consumesCounters", target)


def _map(
    given: Mapping[str, Value], path: str, rules: Callable[[Value, str], Iterator[Problem]]
) -> Iterator[Problem]:
    """Yield what is wrong with a map whose keys are names of attributes or capacities."""
    for key, value in given.items():
        yield from names.qualified(path, key)
        yield from rules(value, f"{path}[{_shortened(key, _MAX_KEY)}]")


def _attribute(attribute: DeviceAttribute, path: str, target: Target) -> Iterator[Problem]:
    if attribute.string is not None:
        yield from _not_too_long(attribute.string, f"{path}.string")
    if attribute.version is not None:
        if not _SEMVER.fullmatch(attribute.version):
            detail = "must be a string compatible with semver.org spec 2.0.0"
            remedy = _version_remedy(attribute.version)
            yield invalid(f"{path}.version", attribute.version, detail, remedy)
        yield from _not_too_long(attribute.version, f"{path}.version")
    given = attribute.document()
    if len(given) == 1:
        return
    remedy = "Write one value: string, int, bool or version, as in {string: gpu}."
    shown = f"{{{', '.join(name for name in _VALUES if name in given)}}}" if given else ""
    if target < Target.V1_37:
        yield invalid(path, given or "", "exactly one value must be specified", remedy, codes.ONE_OF)
        return
    one_of = "exactly one of" if given else "one of"
    detail = f"must specify {one_of}: {', '.join(f'`{name}`' for name in _VALUES)}"
    yield invalid(path, shown, detail, remedy, codes.ONE_OF)


def _not_too_long(text: str, path: str) -> Iterator[Problem]:
    if names.byte_length(text) > MAX_VALUE_LENGTH:
        yield too_long(path, MAX_VALUE_LENGTH, f"Cut it to {MAX_VALUE_LENGTH} bytes.")


def _version_remedy(version: str) -> str:
    numbers = re.fullmatch(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?", version, re.ASCII)
    remedy = "Write major.minor.patch, all three, without zeros in front and without a v"
    if numbers:
        return f"{remedy}: {'.'.join(str(int(number or 0)) for number in numbers.groups())}."
    return f"{remedy}, such as 580.65.6."


def _capacity(capacity: DeviceCapacity, path: str, *, shared: bool) -> Iterator[Problem]:
    if capacity.request_policy is None:
        return
    if shared:
        yield from request_policy(capacity.value, capacity.request_policy, f"{path}.requestPolicy")
    else:
        remedy = "Write allowMultipleAllocations: true in the device, or take the policy out."
        yield forbidden(f"{path}.requestPolicy", "allowMultipleAllocations must be true", remedy)


def _counter_sets(sets: Sequence[CounterSet], path: str, target: Target) -> Iterator[Problem]:
    yield from too_many_items(path, len(sets), MAX_COUNTER_SETS, "counter sets")
    if len(sets) > MAX_COUNTER_SETS:
        return
    for index, counter_set in enumerate(sets):
        at = f"{path}[{index}]"
        yield from _counter_set_name(counter_set.name, f"{at}.name", target)
        yield from _counters(counter_set.counters or {}, f"{at}.counters", target)
    yield from unique_names(sets, path, target)


def _consumptions(given: Sequence[DeviceCounterConsumption], path: str, target: Target) -> Iterator[Problem]:
    yield from too_many_items(path, len(given), MAX_CONSUMPTIONS, "counter sets")
    if len(given) > MAX_CONSUMPTIONS:
        return
    seen: set[str] = set()
    for index, consumption in enumerate(given):
        at, name = f"{path}[{index}]", consumption.counter_set
        yield from _counter_set_name(name, f"{at}.counterSet", target)
        yield from _counters(consumption.counters or {}, f"{at}.counters", target)
        if name in seen:
            value = name if target < Target.V1_37 else consumption
            yield duplicate(at, value, "Add its counters up in one entry.")
        seen.add(name)


def _counter_set_name(name: str, path: str, target: Target) -> Iterator[Problem]:
    if name:
        yield from names.label(path, name, names.length_unit(target))
    else:
        yield required(path, "Name the counter set.")


def _counters(counters: Mapping[str, Counter], path: str, target: Target) -> Iterator[Problem]:
    if not counters:
        yield required(path, "Write a counter: a name and a value, as in {memory: {value: 40Gi}}.")
    yield from too_many_items(path, len(counters), MAX_COUNTERS, "counters")
    if len(counters) <= MAX_COUNTERS:
        for name in counters:
            yield from names.label(path, name, names.length_unit(target))


def _conditions(device: Device, path: str) -> Iterator[Problem]:
    """Yield what is wrong with the conditions that a device's binding waits for, and fails on."""
    wanted, feared = device.binding_conditions or (), device.binding_failure_conditions or ()
    for field, given in (("bindingConditions", wanted), ("bindingFailureConditions", feared)):
        yield from too_many_items(f"{path}.{field}", len(given), MAX_CONDITIONS, "conditions")
        if len(given) <= MAX_CONDITIONS:
            for index, condition in enumerate(given):
                yield from names.key(f"{path}.{field}[{index}]", condition)
    yield from _repeated(wanted, f"{path}.bindingConditions")
    yield from _repeated(feared, f"{path}.bindingFailureConditions")
    wanted_ones = frozenset(wanted)
    for index, condition in enumerate(feared):
        if condition in wanted_ones:
            detail = "bindingFailureConditions must not overlap with bindingConditions"
            at = f"{path}.bindingFailureConditions[{index}]"
            yield invalid(at, condition, detail, "Keep the condition in one of the two lists.")
    for field, other, missing in (
        ("bindingConditions", "bindingFailureConditions", bool(feared) and not wanted),
        ("bindingFailureConditions", "bindingConditions", bool(wanted) and not feared),
    ):
        if missing:
            detail = f"{field} are required to use {other}"
            given = (
                device.binding_conditions
                if field == "bindingConditions"
                else device.binding_failure_conditions
            )
            yield invalid(f"{path}.{field}", given, detail, "Write both lists, or neither.")


def _repeated(conditions: Sequence[str], path: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        if condition in seen:
            yield duplicate(f"{path}[{index}]", condition, "Take the second one out.")
        seen.add(condition)


def _shortened(text: str, limit: int) -> str:
    """Return a key as a path has it: a long one without its middle."""
    if names.byte_length(text) <= limit:
        return text
    left = limit - len("...")
    encoded = text.encode()
    return (encoded[: (left + 1) // 2] + b"..." + encoded[len(encoded) - left // 2 :]).decode(
        errors="replace"
    )
