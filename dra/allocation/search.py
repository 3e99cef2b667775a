"""The search for devices on one node.

Claim by claim, request by request and device by device the first candidate is taken that goes with those
taken before, and given back if no way leads on from there: the order and the rules are the allocator's
(`allocateOne` and `allocateDevice` of `structured/internal/incubating/allocator_incubating.go` of
`k8s.io/dynamic-resource-allocation` 0.37.2), and so is the first solution. Branches that cannot lead to one
are cut where the original tries them: too few devices left, and devices that differ from one that failed in
nothing but their name. Neither cut hides an error that the original would meet.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from dra.allocation.capacity import lacking
from dra.allocation.held import DeviceId
from dra.allocation.judge import Budget, Judge, Spot
from dra.allocation.outcome import AllocationError
from dra.allocation.pick import Pick
from dra.allocation.plan import ClaimPlan
from dra.allocation.pools import Pool
from dra.allocation.request import MAX_DEVICES, Ask
from dra.quantity import Quantity

Choices: TypeAlias = Iterator["Choices | None"]
"""Makes one choice after the other, and hands on what follows it; None where nothing is left to choose."""


@dataclass(eq=False)
class Search:
    """A search over the devices of one node."""

    pools: Sequence[Pool]
    spots: Sequence[Spot]
    plans: Sequence[ClaimPlan]
    judge: Judge
    budget: Budget
    picks: list[Pick] = field(default_factory=list[Pick])
    _all: dict[Ask, list[Spot]] = field(default_factory=dict[Ask, list[Spot]])
    _options: dict[Ask, tuple[list[Spot], bool]] = field(default_factory=dict[Ask, tuple[list[Spot], bool]])
    _taken_by: dict[DeviceId, list[int]] = field(
        default_factory=lambda: defaultdict[DeviceId, list[int]](list)
    )
    _shares: dict[DeviceId, list[Mapping[str, Quantity]]] = field(
        default_factory=lambda: defaultdict[DeviceId, list[Mapping[str, Quantity]]](list)
    )
    _counters: dict[tuple[Pool, tuple[str, str]], Quantity] = field(
        default_factory=dict[tuple[Pool, tuple[str, str]], Quantity]
    )

    def run(self) -> bool:
        """Tell whether there are devices for all; they are in `picks`.

        Raises:
            AllocationError: The scheduler gives up the pod.
            OutOfSteps: The budget is spent.

        """
        self._check()
        slots = [(plan, asks) for plan in self.plans for asks in plan.requests]
        # Each choice is a generator that makes it, hands on the next one, and undoes it when it is resumed:
        # a pod with many claims goes deeper than Python's stack.
        stack: list[Iterator[Choices | None]] = [self._request(slots, 0)]
        while stack:
            self.budget.spend()
            try:
                following = next(stack[-1])
            except StopIteration:
                stack.pop()
                continue
            if following is None:
                return True
            stack.append(following)
        return False

    def _check(self) -> None:
        """Look at each claim before any device is taken: every device of All, and the claim limit."""
        for plan in self.plans:
            total = 0
            for asks in plan.requests:
                for ask in asks:
                    if ask.unusable:
                        raise ask.error(ask.path, ask.unusable)
                least = min(self._needed(ask) for ask in asks)
                if least > MAX_DEVICES - total:
                    path = asks[0].path.partition(".firstAvailable")[0]
                    raise AllocationError(
                        plan.index,
                        asks[0].path if len(asks) == 1 else path,
                        f"claim {plan.name}, request {asks[0].request}: adding {least} devices exceeds the "
                        f"claim limit of {MAX_DEVICES}, with {total} already accounted for",
                    )
                total += least

    def _needed(self, ask: Ask) -> int:
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

    def _request(self, slots: Sequence[tuple[ClaimPlan, Sequence[Ask]]], number: int) -> Choices:
        if number == len(slots):
            yield None
            return
        plan, asks = slots[number]
        for ask in asks:
            needed = self._needed(ask)
            room = MAX_DEVICES - sum(pick.ask.claim == plan.index for pick in self.picks)
            if needed > room or needed == 0:
                continue

            def onward() -> Choices:
                return self._request(slots, number + 1)

            if ask.all_:
                yield self._take_every(plan, ask, self._all[ask], onward)
            else:
                options, sure = self._candidates(ask)
                yield self._take_some(plan, ask, needed, (options, sure), onward)

    def _candidates(self, ask: Ask) -> tuple[list[Spot], bool]:
        """Return the devices that a request could have, and whether no selector fails on one of them."""
        if ask not in self._options:
            options = [
                spot
                for spot in self.spots
                if (ask.admin or spot.candidate.id not in self.judge.held.whole)
                and (matches := self.judge.matches(ask, spot))
                and (isinstance(matches, AllocationError) or not self.judge.keeps_away(ask, spot.candidate))
            ]
            sure = not any(isinstance(self.judge.matches(ask, spot), AllocationError) for spot in options)
            self._options[ask] = options, sure
        return self._options[ask]

    def _take_every(
        self, plan: ClaimPlan, ask: Ask, spots: Sequence[Spot], onward: Callable[[], Choices]
    ) -> Choices:
        if not spots:
            yield onward()
            return
        if self._take(plan, ask, spots[0], must=True):
            yield self._take_every(plan, ask, spots[1:], onward)
            self._give_back(plan)

    def _take_some(
        self,
        plan: ClaimPlan,
        ask: Ask,
        needed: int,
        options: tuple[Sequence[Spot], bool],
        onward: Callable[[], Choices],
    ) -> Choices:
        """Take so many of the options. The order within a request does not matter, so each set comes once."""
        if needed == 0:
            yield onward()
            return
        spots, sure = options
        failed: set[object] = set()
        for place, spot in enumerate(spots):
            if sure and len(spots) - place < needed:
                return
            if self.in_use(plan, ask, spot):
                continue
            untouched = spot.candidate.id not in self._taken_by and spot.candidate.id not in self._shares
            if untouched and spot.likeness in failed:
                continue
            self.budget.spend()
            if self.judge.is_match(ask, spot) and self._take(plan, ask, spot, must=False):
                rest = spots[place + 1 :]
                if sure and needed > 1:
                    self.budget.spend(len(rest))
                    rest = [each for each in rest if self._goes_along(plan, ask, each)]
                if not sure or len(rest) >= needed - 1:
                    yield self._take_some(plan, ask, needed - 1, (rest, sure), onward)
                self._give_back(plan)
            if untouched:
                failed.add(spot.likeness)

    def in_use(self, plan: ClaimPlan, ask: Ask, spot: Spot) -> bool:
        """Tell whether a device is taken already; admin access minds only devices of the same claim."""
        device = spot.candidate.id
        if ask.admin:
            return plan.index in self._taken_by.get(device, ())
        return device in self.judge.held.whole or device in self._taken_by

    def _goes_along(self, plan: ClaimPlan, ask: Ask, spot: Spot) -> bool:
        return all(each.admits(spot.candidate) for each in plan.constraints if each.concerns(ask))

    def _take(self, plan: ClaimPlan, ask: Ask, spot: Spot, *, must: bool) -> bool:
        """Take a device, unless it is in use or does not go with those taken.

        Raises:
            AllocationError: It `must` be this device, and a constraint forbids it.

        """
        candidate = spot.candidate
        if self.in_use(plan, ask, spot) or not self.counters_suffice(spot):
            return False
        if self.judge.keeps_away(ask, candidate):
            return False
        if not self._goes_along(plan, ask, spot):
            if must:
                raise ask.error(
                    f"{ask.path}.allocationMode",
                    f"cannot add device {candidate.id} because a claim constraint would not be satisfied",
                )
            return False
        taken = self.judge.takes(ask, candidate) or {}
        if (used := self.used(candidate.id)) and lacking(taken, candidate.device, used):
            return False
        self._count(spot, 1)
        for each in plan.constraints:
            if each.concerns(ask):
                each.add(candidate)
        if candidate.shared:
            self._shares[candidate.id].append(taken)
        else:
            self._taken_by[candidate.id].append(plan.index)
        self.picks.append(Pick(ask, spot, taken if candidate.shared else None))
        return True

    def _give_back(self, plan: ClaimPlan) -> None:
        pick = self.picks.pop()
        taken: dict[DeviceId, list[int]] | dict[DeviceId, list[Mapping[str, Quantity]]]
        taken = self._shares if pick.spot.candidate.shared else self._taken_by
        device = pick.spot.candidate.id
        taken[device].pop()
        if not taken[device]:
            del taken[device]
        for each in plan.constraints:
            if each.concerns(pick.ask):
                each.chosen.pop()
        self._count(pick.spot, -1)

    def used(self, device: DeviceId) -> dict[str, Quantity]:
        """Return how much of each capacity of a device is taken, by other claims and by these."""
        used = dict(self.judge.held.consumed.get(device, {}))
        for share in self._shares.get(device, ()):
            for name, amount in share.items():
                used[name] = used[name] + amount if name in used else amount
        return used

    def counters_suffice(self, spot: Spot) -> bool:
        """Tell whether there is enough of the shared counters that a device takes.

        A pool with an overdrawn counter gives away no device that takes any.
        """
        consumed = spot.candidate.counters
        if not consumed or self._has_its_counters(spot):
            return True
        return not spot.pool.overdrawn and all(
            # Without DRAPartitionableDevices there are no counters, and no such device is allocated.
            counter in spot.pool.counters and self.counter(spot.pool, counter) >= amount
            for counter, amount in consumed.items()
        )

    def counter(self, pool: Pool, counter: tuple[str, str]) -> Quantity:
        """Return what is left of a shared counter."""
        taken = self._counters.get((pool, counter))
        left = pool.counters.get(counter, Quantity(0))
        return left - taken if taken else left

    def _has_its_counters(self, spot: Spot) -> bool:
        """Tell whether a part of a shared device is taken already, and with it the device's counters."""
        device = spot.candidate.id
        return spot.candidate.shared and (device in self.judge.held.shares or device in self._shares)

    def _count(self, spot: Spot, sign: int) -> None:
        # Called before a share is noted and after it is dropped: for the first share only.
        if self._has_its_counters(spot):
            return
        for counter, amount in spot.candidate.counters.items():
            taken = self._counters.get((spot.pool, counter), Quantity(0))
            self._counters[spot.pool, counter] = taken + amount if sign > 0 else taken - amount
