"""DeviceClass and ResourceClaim specs of resource.k8s.io/v1.

The models hold the shape. What the API server refuses beyond the shape is not theirs to know, so that
a claim which it rejects can still be written down, shown and explained.
Source: the API reference of Kubernetes 1.37, group resource.k8s.io.
"""

from collections.abc import Sequence
from typing import Literal

from dra.model import Model


class CelSelector(Model):
    """One CEL expression over `device` (its driver, attributes and capacity)."""

    expression: str


class DeviceSelector(Model):
    """What a device must satisfy."""

    cel: CelSelector


class ExactDeviceRequest(Model):
    """A request for `count` devices of a class, or for all that match."""

    device_class_name: str
    selectors: Sequence[DeviceSelector] | None = None
    allocation_mode: Literal["ExactCount", "All"] | None = None
    count: int | None = None


class DeviceRequest(Model):
    """One named request of a claim."""

    name: str
    exactly: ExactDeviceRequest


class DeviceConstraint(Model):
    """What the devices of several requests must have in common."""

    requests: Sequence[str] | None = None
    match_attribute: str | None = None


class DeviceClaim(Model):
    """The devices of a claim: requests, and constraints over them."""

    requests: Sequence[DeviceRequest]
    constraints: Sequence[DeviceConstraint] | None = None


class ResourceClaimSpec(Model):
    """The spec of a ResourceClaim, and of what a ResourceClaimTemplate makes. Immutable in the API."""

    devices: DeviceClaim


class DeviceClassSpec(Model):
    """The spec of a DeviceClass: which devices belong to it."""

    selectors: Sequence[DeviceSelector] | None = None
    extended_resource_name: str | None = None


def selector(expression: str) -> DeviceSelector:
    """Return the selector of one CEL expression."""
    return DeviceSelector(cel=CelSelector(expression=expression))
