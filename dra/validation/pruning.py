"""Which fields belong to a feature gate: dropped where it is off, unknown where it does not exist yet.

Source: `dropDisabledFields` of the strategies in `pkg/registry/resource` and `pkg/api/resourceclaimspec`, and
the `+featureGate` tags of `k8s.io/api/resource/v1`, Kubernetes 1.34 to 1.37.
"""

from dra.claim import DeviceClassSpec, DeviceConstraint, DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dra.device import Device, DeviceAttribute, DeviceCapacity, DeviceCounterConsumption, ResourceSliceSpec
from dra.gates import Gate, Target, is_on
from dra.model import Model

_BINDING = (Gate.DRA_DEVICE_BINDING_CONDITIONS, Gate.DRA_RESOURCE_CLAIM_DEVICE_STATUS)
_PARTITIONABLE = (Gate.DRA_PARTITIONABLE_DEVICES,)
_CONSUMABLE = (Gate.DRA_CONSUMABLE_CAPACITY,)
_TAINTS = (Gate.DRA_DEVICE_TAINTS,)
_LISTS = (Gate.DRA_LIST_TYPE_ATTRIBUTES,)
_DERIVED = (Gate.DRA_DERIVED_ATTRIBUTES,)

_GATES: dict[tuple[type[Model], str], tuple[Gate, ...]] = {
    (DeviceRequest, "first_available"): (Gate.DRA_PRIORITIZED_LIST,),
    (ExactDeviceRequest, "admin_access"): (Gate.DRA_ADMIN_ACCESS,),
    (ExactDeviceRequest, "tolerations"): _TAINTS,
    (ExactDeviceRequest, "capacity"): _CONSUMABLE,
    (ExactDeviceRequest, "derived_attributes"): _DERIVED,
    (DeviceSubRequest, "tolerations"): _TAINTS,
    (DeviceSubRequest, "capacity"): _CONSUMABLE,
    (DeviceSubRequest, "derived_attributes"): _DERIVED,
    (DeviceConstraint, "distinct_attribute"): _CONSUMABLE,
    (DeviceClassSpec, "extended_resource_name"): (Gate.DRA_EXTENDED_RESOURCE,),
    (ResourceSliceSpec, "shared_counters"): _PARTITIONABLE,
    (ResourceSliceSpec, "per_device_node_selection"): _PARTITIONABLE,
    (ResourceSliceSpec, "partition_type_attribute"): (Gate.DRA_PARTITIONABLE_DEVICES_TYPE,),
    (ResourceSliceSpec, "skip_node_operations"): (Gate.DRA_OPTIONAL_NODE_OPERATIONS,),
    (Device, "consumes_counters"): _PARTITIONABLE,
    (Device, "node_name"): _PARTITIONABLE,
    (Device, "node_selector"): _PARTITIONABLE,
    (Device, "all_nodes"): _PARTITIONABLE,
    (Device, "taints"): _TAINTS,
    (Device, "binds_to_node"): _BINDING,
    (Device, "binding_conditions"): _BINDING,
    (Device, "binding_failure_conditions"): _BINDING,
    (Device, "allow_multiple_allocations"): _CONSUMABLE,
    (Device, "node_allocatable_resources"): (Gate.DRA_NODE_ALLOCATABLE_RESOURCES,),
    (DeviceCapacity, "request_policy"): _CONSUMABLE,
    (DeviceCounterConsumption, "compatibility_groups"): (Gate.DRA_DEVICE_COMPATIBILITY_GROUPS,),
    (DeviceAttribute, "ints"): _LISTS,
    (DeviceAttribute, "bools"): _LISTS,
    (DeviceAttribute, "strings"): _LISTS,
    (DeviceAttribute, "versions"): _LISTS,
}

_NEW_IN = {
    Gate.DRA_LIST_TYPE_ATTRIBUTES: Target.V1_36,
    Gate.DRA_NODE_ALLOCATABLE_RESOURCES: Target.V1_37,
    Gate.DRA_DERIVED_ATTRIBUTES: Target.V1_37,
    Gate.DRA_OPTIONAL_NODE_OPERATIONS: Target.V1_37,
    Gate.DRA_DEVICE_COMPATIBILITY_GROUPS: Target.V1_37,
    Gate.DRA_PARTITIONABLE_DEVICES_TYPE: Target.V1_37,
}
"""The release that brought the fields of a gate, where it is younger than 1.34.

`nodeAllocatableResources` has that name since 1.37; 1.36 had an older form of it.
"""


def is_gated(model: type[Model], field: str) -> bool:
    """Tell whether a field belongs to a gate at all."""
    return (model, field) in _GATES


def new_in(model: type[Model], field: str, target: Target) -> Target | None:
    """Return the release that brings a field, if the target does not know it yet."""
    return next(
        (_NEW_IN[gate] for gate in _GATES.get((model, field), ()) if _NEW_IN.get(gate, target) > target), None
    )


def gate_off(model: type[Model], field: str, target: Target) -> Gate | None:
    """Return the gate for want of which the target drops a field, if there is one."""
    return next((gate for gate in _GATES.get((model, field), ()) if not is_on(gate, target)), None)
