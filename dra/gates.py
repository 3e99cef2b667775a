"""Which feature gates are on in which Kubernetes release.

Source: the versioned table of `pkg/features/kube_features.go`, Kubernetes 1.37.2.
"""

from enum import StrEnum


class Target(StrEnum):
    """The Kubernetes release that an object is for."""

    V1_34 = "1.34"
    V1_35 = "1.35"
    V1_36 = "1.36"
    V1_37 = "1.37"


class Gate(StrEnum):
    """A feature gate that decides about fields or functions of resource.k8s.io."""

    DRA_PRIORITIZED_LIST = "DRAPrioritizedList"
    DRA_ADMIN_ACCESS = "DRAAdminAccess"
    DRA_RESOURCE_CLAIM_DEVICE_STATUS = "DRAResourceClaimDeviceStatus"
    DRA_DEVICE_TAINTS = "DRADeviceTaints"
    DRA_DEVICE_TAINT_RULES = "DRADeviceTaintRules"
    DRA_EXTENDED_RESOURCE = "DRAExtendedResource"
    DRA_PARTITIONABLE_DEVICES = "DRAPartitionableDevices"
    DRA_CONSUMABLE_CAPACITY = "DRAConsumableCapacity"
    DRA_DEVICE_BINDING_CONDITIONS = "DRADeviceBindingConditions"
    DRA_LIST_TYPE_ATTRIBUTES = "DRAListTypeAttributes"
    DRA_NODE_ALLOCATABLE_RESOURCES = "DRANodeAllocatableResources"
    DRA_WORKLOAD_RESOURCE_CLAIMS = "DRAWorkloadResourceClaims"
    DRA_FRACTIONAL_CAPACITY_RANGE = "DRAFractionalCapacityRange"
    DRA_DERIVED_ATTRIBUTES = "DRADerivedAttributes"
    DRA_OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"
    DRA_DEVICE_COMPATIBILITY_GROUPS = "DRADeviceCompatibilityGroups"
    DRA_PARTITIONABLE_DEVICES_TYPE = "DRAPartitionableDevicesType"


_ON_SINCE = {
    Gate.DRA_PRIORITIZED_LIST: Target.V1_34,
    Gate.DRA_ADMIN_ACCESS: Target.V1_34,
    Gate.DRA_RESOURCE_CLAIM_DEVICE_STATUS: Target.V1_34,
    Gate.DRA_DEVICE_TAINTS: Target.V1_36,
    Gate.DRA_DEVICE_TAINT_RULES: Target.V1_37,
    Gate.DRA_EXTENDED_RESOURCE: Target.V1_36,
    Gate.DRA_PARTITIONABLE_DEVICES: Target.V1_36,
    Gate.DRA_CONSUMABLE_CAPACITY: Target.V1_36,
    Gate.DRA_DEVICE_BINDING_CONDITIONS: Target.V1_36,
}
"""The first of our targets in which a gate is on by default; the others are off in all of them.

DRAFractionalCapacityRange is among those: it is on in 1.37 only where the whole control plane is told to be
no longer compatible with 1.36 (`--min-compatibility-version`).
"""


def is_on(gate: Gate, target: Target) -> bool:
    """Tell whether a gate is on by default in a release."""
    since = _ON_SINCE.get(gate)
    return since is not None and target >= since


def on_since(gate: Gate) -> Target | None:
    """Return the first release (of those that can be targeted) in which a gate is on by default, if any."""
    return _ON_SINCE.get(gate)
