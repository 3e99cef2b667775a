"""Short ways to write the claims that lessons want most."""

from collections.abc import Sequence

from components.driver import GPU_CLASS
from dra.claim import (
    DeviceClaim,
    DeviceConstraint,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaimSpec,
    selector,
)


def exactly(name: str, count: int = 1, *, of: str = GPU_CLASS, where: str | None = None) -> DeviceRequest:
    """Return the request for `count` devices of a class, `where` a CEL expression holds."""
    return DeviceRequest(
        name=name,
        exactly=ExactDeviceRequest(
            device_class_name=of,
            count=count if count > 1 else None,
            selectors=[selector(where)] if where else None,
        ),
    )


def claim_of(
    *requests: DeviceRequest, constraints: Sequence[DeviceConstraint] | None = None
) -> ResourceClaimSpec:
    """Return the claim of some requests, under some constraints."""
    return ResourceClaimSpec(devices=DeviceClaim(requests=requests, constraints=constraints))


def gpus(count: int = 1, *, where: str | None = None) -> ResourceClaimSpec:
    """Return the claim of some GPUs."""
    return claim_of(exactly("gpu", count, where=where))


def matching(attribute: str, *requests: str) -> DeviceConstraint:
    """Return the constraint that the devices of some requests (of all, if none is named) share a value."""
    return DeviceConstraint(match_attribute=attribute, requests=requests or None)


def differing(attribute: str, *requests: str) -> DeviceConstraint:
    """Return the constraint that no two of the devices have the same value."""
    return DeviceConstraint(distinct_attribute=attribute, requests=requests or None)
