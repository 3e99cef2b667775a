"""A device that was taken, and the results of an allocation."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dra.allocation.judge import Spot
from dra.allocation.request import Ask
from dra.objects import AllocatedDevice
from dra.quantity import Quantity


@dataclass(frozen=True, eq=False)
class Pick:
    """A device that was taken for a request, with what it takes of a shared device."""

    ask: Ask
    spot: Spot
    consumed: Mapping[str, Quantity] | None


def results(picks: Sequence[Pick], claim: int) -> list[AllocatedDevice]:
    """Return what was taken for a claim, as its status would have it."""
    return [
        AllocatedDevice(
            request=pick.ask.full_name,
            driver=pick.spot.candidate.id.driver,
            pool=pick.spot.candidate.id.pool,
            device=pick.spot.candidate.id.name,
            admin_access=pick.ask.admin,
            # The scheduler's is random; this one is the same in each run.
            share_id=None
            if pick.consumed is None
            else str(uuid.uuid5(uuid.NAMESPACE_OID, f"{pick.ask.claim_name}/{number}")),
            consumed_capacity={name: str(amount) for name, amount in (pick.consumed or {}).items()},
        )
        for number, pick in enumerate(picks)
        if pick.ask.claim == claim
    ]
