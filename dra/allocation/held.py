"""What the cluster's allocated claims hold.

Source: `pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go`, Kubernetes 1.37.2.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dra.objects import ResourceClaim
from dra.quantity import Quantity


class DeviceId(NamedTuple):
    """What a device is called in the whole cluster."""

    driver: str
    pool: str
    name: str

    def __str__(self) -> str:
        """Return it as the scheduler writes it."""
        return f"{self.driver}/{self.pool}/{self.name}"


@dataclass(frozen=True)
class Held:
    """Devices held whole, and shares of devices that several claims may have, each with the claims.

    A device taken with admin access is not held.
    """

    whole: Mapping[DeviceId, Sequence[str]]
    shares: Mapping[DeviceId, Sequence[str]]
    consumed: Mapping[DeviceId, Mapping[str, Quantity]]

    def __contains__(self, device: DeviceId) -> bool:
        """Tell whether anything of the device is held."""
        return device in self.whole or device in self.shares

    def by(self, device: DeviceId) -> Sequence[str]:
        """Return the claims that hold something of the device."""
        return self.whole.get(device) or self.shares.get(device, ())


def held_by(claims: Iterable[ResourceClaim], *, sharing: bool) -> Held:
    """Return what claims hold. Without `sharing` (DRAConsumableCapacity) a share takes the whole device."""
    whole: dict[DeviceId, list[str]] = defaultdict(list)
    shares: dict[DeviceId, list[str]] = defaultdict(list)
    consumed: dict[DeviceId, dict[str, Quantity]] = defaultdict(dict)
    for claim in claims:
        for result in claim.allocated or ():
            device = DeviceId(result.driver, result.pool, result.device)
            if result.admin_access:
                continue
            if not sharing or result.share_id is None:
                whole[device].append(full_name(claim))
                continue
            shares[device].append(full_name(claim))
            for name, amount in result.consumed_capacity.items():
                consumed[device][name] = _sum(consumed[device].get(name), amount)
    return Held(dict(whole), dict(shares), dict(consumed))


def _sum(before: Quantity | None, amount: str) -> Quantity:
    try:
        more = Quantity.parse(amount)
        return before + more if before else more
    except ValueError:
        # A status that no API server would have: count it as nothing.
        return before or Quantity(0)


def full_name(claim: ResourceClaim) -> str:
    """Return a claim's namespace and name as the scheduler writes them."""
    return f"{claim.metadata.namespace}/{claim.metadata.name}"
