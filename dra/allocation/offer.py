"""What a node offers to requests, before any device is taken."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dra.allocation.judge import Judge, Spot
from dra.allocation.outcome import AllocationError
from dra.allocation.plan import ClaimPlan
from dra.allocation.pools import Pool
from dra.allocation.request import MAX_DEVICES, Ask


class Options(NamedTuple):
    """The devices that a request may still have, from `start` on; `sure` if no selector fails on any."""

    spots: Sequence[Spot]
    start: int
    sure: bool


@dataclass(frozen=True, eq=False)
class Offer:
    """The pools and devices of a node, with what the requests make of them."""

    pools: Sequence[Pool]
    spots: Sequence[Spot]
    judge: Judge
    _all: dict[Ask, list[Spot]] = field(default_factory=dict[Ask, list[Spot]])
    _options: dict[Ask, Options] = field(default_factory=dict[Ask, Options])

    def check(self, plans: Iterable[ClaimPlan]) -> None:
        """Look at each claim before any device is taken: every device of All, and the claim limit.

        Raises:
            AllocationError: The scheduler gives up the pod.

        """
        for plan in plans:
            total = 0
            for asks in plan.requests:
                for ask in asks:
                    if ask.unusable:
                        raise ask.error(ask.path, ask.unusable)
                least = min(self.needed(ask) for ask in asks)
                if least > MAX_DEVICES - total:
                    path = asks[0].path.partition(".firstAvailable")[0]
                    raise AllocationError(
                        plan.index,
                        asks[0].path if len(asks) == 1 else path,
                        f"claim {plan.name}, request {asks[0].request}: adding {least} devices exceeds the "
                        f"claim limit of {MAX_DEVICES}, with {total} already accounted for",
                    )
                total += least

    def is_short(self, ask: Ask) -> bool:
        """Tell whether there are too few devices for a request, whatever else is asked."""
        needed = self.needed(ask)
        if not ask.all_:
            return needed > min(len(self.options(ask).spots), MAX_DEVICES)
        return needed == 0 or any(
            self.judge.keeps_away(ask, spot.candidate)
            or (not ask.admin and spot.candidate.id in self.judge.held.whole)
            for spot in self._all[ask]
        )

    def needed(self, ask: Ask) -> int:
        """Return how many devices a request is for."""
        if not ask.all_:
            return ask.count
        if ask not in self._all:
            self._all[ask] = self._every(ask)
        return len(self._all[ask])

    def _every(self, ask: Ask) -> list[Spot]:
        """Return the devices that All stands for: those in use too, so that All is all or nothing."""
        matching: list[Spot] = []
        for pool in self.pools:
            if pool.incomplete or pool.invalid:
                state = "being updated" if pool.incomplete else "invalid"
                raise ask.error(
                    f"{ask.path}.allocationMode",
                    f"asks for all devices, but resource pool {pool} is currently {state}",
                )
            matching.extend(
                spot for spot in self.spots if spot.pool is pool and self.judge.is_match(ask, spot)
            )
        return matching

    def options(self, ask: Ask) -> Options:
        """Return the devices that a request could have."""
        if ask not in self._options:
            spots = [
                spot
                for spot in self.spots
                if (ask.admin or spot.candidate.id not in self.judge.held.whole)
                and (matches := self.judge.matches(ask, spot))
                and (isinstance(matches, AllocationError) or not self.judge.keeps_away(ask, spot.candidate))
            ]
            sure = not any(isinstance(self.judge.matches(ask, spot), AllocationError) for spot in spots)
            self._options[ask] = Options(spots, 0, sure)
        return self._options[ask]

    def every(self, ask: Ask) -> Sequence[Spot]:
        """Return the devices that a request for all of them is for."""
        return self._all[ask] if self.needed(ask) else ()
