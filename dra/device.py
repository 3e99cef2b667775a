"""Devices, and the ResourceSlice of resource.k8s.io/v1 that publishes them.

The models hold the shape; the API server's rules are in `dra.validation`.
Source: the API reference of Kubernetes 1.37, group resource.k8s.io.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from dra.claim import QuantityText
from dra.model import Model

GivenQuantityText = Annotated[str, "given quantity"]
"""A quantity that must be given: it is empty, and not 0, in an object that lacks it."""
TimeText = Annotated[str, "time"]
"""A time in the form of RFC 3339."""


class DeviceAttribute(Model):
    """A value of exactly one type. The lists are alpha in 1.36 and 1.37 (DRAListTypeAttributes)."""

    int_: Annotated[int | None, Field(alias="int")] = None
    bool_: Annotated[bool | None, Field(alias="bool")] = None
    string: str | None = None
    version: str | None = None
    ints: Sequence[int] | None = None
    bools: Sequence[bool] | None = None
    strings: Sequence[str] | None = None
    versions: Sequence[str] | None = None


class CapacityRequestPolicyRange(Model):
    """Amounts from `min` to `max`, in steps."""

    min: GivenQuantityText
    max: QuantityText | None = None
    step: QuantityText | None = None


class CapacityRequestPolicy(Model):
    """How a request for a part of a capacity is rounded up, and which amounts there are."""

    default: QuantityText | None = None
    valid_values: Sequence[QuantityText] | None = None
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Model):
    """A quantity that the device has."""

    value: QuantityText
    request_policy: CapacityRequestPolicy | None = None


class Counter(Model):
    """A quantity that several devices draw on."""

    value: QuantityText


class CounterSet(Model):
    """Named counters of a pool, such as the memory slices of one GPU."""

    name: str
    counters: Mapping[str, Counter] | None = None


class DeviceCounterConsumption(Model):
    """What a device takes from a counter set while it is allocated."""

    counter_set: str
    counters: Mapping[str, Counter] | None = None
    compatibility_groups: Sequence[str] | None = None


class NodeAllocatableMapping(Model):
    """How much of a node's resource a device is: all of it alike, or by one of its capacities."""

    capacity_key: str | None = None
    capacity_multiplier: QuantityText | None = None
    device_multiplier: QuantityText | None = None


class NodeAllocatableOverhead(Model):
    """How much of a node's resource the use of a device costs."""

    per_pod: QuantityText | None = None
    per_container: QuantityText | None = None


class NodeAllocatableResource(Model):
    """What a device takes from a node's resource (alpha in 1.36 and 1.37, DRANodeAllocatableResources)."""

    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class DeviceTaint(Model):
    """Keeps claims without a toleration away. `effect`: NoSchedule, NoExecute (which also evicts) or None."""

    key: str
    effect: str
    value: str | None = None
    time_added: TimeText | None = None


class NodeSelectorRequirement(Model):
    """A condition on a node's label or field."""

    key: str
    operator: str
    values: Sequence[str] | None = None


class NodeSelectorTerm(Model):
    """Conditions that must all hold."""

    match_expressions: Sequence[NodeSelectorRequirement] | None = None
    match_fields: Sequence[NodeSelectorRequirement] | None = None


class NodeSelector(Model):
    """Terms of which one must hold."""

    node_selector_terms: Sequence[NodeSelectorTerm]


class Device(Model):
    """One device of a slice; bare attribute and capacity names belong to the driver's domain."""

    name: str
    attributes: Mapping[str, DeviceAttribute] = {}
    capacity: Mapping[str, DeviceCapacity] = {}
    consumes_counters: Sequence[DeviceCounterConsumption] | None = None
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: Sequence[DeviceTaint] | None = None
    binds_to_node: bool | None = None
    binding_conditions: Sequence[str] | None = None
    binding_failure_conditions: Sequence[str] | None = None
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: Mapping[str, NodeAllocatableResource] | None = None


class ResourcePool(Model):
    """The pool that a slice is part of, complete when all slices of its newest generation are there."""

    name: str
    resource_slice_count: int
    generation: int = 0


class ResourceSliceSpec(Model):
    """Devices of one driver, and the nodes that can use them."""

    driver: str
    pool: ResourcePool
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: Sequence[Device] | None = None
    shared_counters: Sequence[CounterSet] | None = None
    partition_type_attribute: str | None = None
    skip_node_operations: Sequence[str] | None = None


class DeviceTaintSelector(Model):
    """Which devices a taint rule is for; what is left out matches any."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(Model):
    """A taint for devices, set by an administrator and not by their driver."""

    taint: DeviceTaint
    device_selector: DeviceTaintSelector | None = None
