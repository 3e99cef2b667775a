"""How much a claim asks for, before any allocation."""

from collections.abc import Callable

from dra.claim import DeviceRequest, DeviceSubRequest, ExactDeviceRequest, ResourceClaimSpec


def devices_asked(spec: ResourceClaimSpec, counts: Callable[[str], bool]) -> int | None:
    """Return how many devices of the classes that count a claim can get at most; None if nothing bounds it.

    Of alternatives only one is taken, so the largest counts. Admin access takes no device from anyone.
    """
    total = 0
    for request in spec.devices.requests or ():
        most = _most(request, counts)
        if most is None:
            return None
        total += most
    return total


def asks_for_admin_access(spec: ResourceClaimSpec) -> bool:
    """Tell whether some request of a claim asks for admin access."""
    return any(
        request.exactly is not None and request.exactly.admin_access
        for request in spec.devices.requests or ()
    )


def _most(request: DeviceRequest, counts: Callable[[str], bool]) -> int | None:
    counted = [each for each in _alternatives(request) if counts(each.device_class_name)]
    if any(each.allocation_mode == "All" for each in counted):
        return None
    return max((1 if each.count is None else each.count for each in counted), default=0)


def _alternatives(request: DeviceRequest) -> list[ExactDeviceRequest | DeviceSubRequest]:
    if request.exactly is not None:
        return [] if request.exactly.admin_access else [request.exactly]
    return list(request.first_available or ())
