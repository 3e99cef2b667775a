"""DeviceClass, ResourceClaim and ResourceClaimTemplate specs of resource.k8s.io/v1.

The models hold the shape. What the API server refuses beyond the shape is in `dra.validation`, so that a
claim which it rejects can still be written down, shown and explained.
Source: the API reference of Kubernetes 1.37, group resource.k8s.io.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from dra.model import Model

QuantityText = Annotated[str, "quantity"]
"""A quantity such as `40Gi`, as its text: JSON and YAML may also have it as a number."""


class CelSelector(Model):
    """One CEL expression over `device` (its driver, attributes and capacity)."""

    expression: str


class DeviceSelector(Model):
    """What a device must satisfy."""

    cel: CelSelector | None = None


class DeviceToleration(Model):
    """Taints with which a device may be taken all the same. `operator`: Equal (default) or Exists."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class CapacityRequirements(Model):
    """How much of each capacity is asked for: capacity name to quantity."""

    requests: Mapping[str, QuantityText] | None = None


class DeviceDerivedAttribute(Model):
    """An attribute computed by CEL (alpha in 1.37, DRADerivedAttributes)."""

    name: str
    expression: str


class ExactDeviceRequest(Model):
    """A request for `count` devices of a class, or for all that match.

    `allocation_mode`: ExactCount (default, with `count` 1 unless given) or All.
    """

    device_class_name: str
    selectors: Sequence[DeviceSelector] | None = None
    allocation_mode: str | None = None
    count: int | None = None
    admin_access: bool | None = None
    tolerations: Sequence[DeviceToleration] | None = None
    capacity: CapacityRequirements | None = None
    derived_attributes: Sequence[DeviceDerivedAttribute] | None = None


class DeviceSubRequest(Model):
    """One alternative of a prioritized list; as an exact request, with a name and without admin access."""

    name: str
    device_class_name: str
    selectors: Sequence[DeviceSelector] | None = None
    allocation_mode: str | None = None
    count: int | None = None
    tolerations: Sequence[DeviceToleration] | None = None
    capacity: CapacityRequirements | None = None
    derived_attributes: Sequence[DeviceDerivedAttribute] | None = None


class DeviceRequest(Model):
    """One named request of a claim: `exactly` one thing, or the `first_available` of several."""

    name: str
    exactly: ExactDeviceRequest | None = None
    first_available: Sequence[DeviceSubRequest] | None = None


class DeviceConstraint(Model):
    """What the devices of several requests must have in common, or must not."""

    requests: Sequence[str] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class OpaqueDeviceConfiguration(Model):
    """Parameters for a driver, which nobody but the driver looks into."""

    driver: str
    parameters: Any


class DeviceClaimConfiguration(Model):
    """Configuration of the devices of some requests (all, if none are named)."""

    requests: Sequence[str] | None = None
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(Model):
    """The devices of a claim: requests, constraints over them, configuration for the drivers."""

    requests: Sequence[DeviceRequest] | None = None
    constraints: Sequence[DeviceConstraint] | None = None
    config: Sequence[DeviceClaimConfiguration] | None = None


class ResourceClaimSpec(Model):
    """The spec of a ResourceClaim, and of what a ResourceClaimTemplate makes. Immutable in the API."""

    devices: DeviceClaim = DeviceClaim()


class DeviceClassConfiguration(Model):
    """Configuration of all devices of a class."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Model):
    """The spec of a DeviceClass: which devices belong to it."""

    selectors: Sequence[DeviceSelector] | None = None
    config: Sequence[DeviceClassConfiguration] | None = None
    extended_resource_name: str | None = None


def selector(expression: str) -> DeviceSelector:
    """Return the selector of one CEL expression."""
    return DeviceSelector(cel=CelSelector(expression=expression))
