"""The search for devices on one node.

Claim by claim, request by request and device by device the first candidate is taken that goes with those
taken before, and given back if no way leads on from there: the order and the rules are the allocator's
(`allocateOne` and `allocateDevice` of `structured/internal/incubating/allocator_incubating.go` of
`k8s.io/dynamic-resource-allocation` 0.37.2), and so is the first solution. Branches that cannot lead to one
are cut where the original tries them: too few devices left, devices that differ from one that failed in
nothing but their name, and claims beside one that fails alone. No cut hides an error that the original would
meet, but where the original runs out of time, this may still find the answer.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from dra.allocation.capacity import lacking
from dra.allocation.constraint import Constraint
from dra.allocation.held import DeviceId
from dra.allocation.judge import Budget, Spot
from dra.allocation.offer import Offer, Options
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

    offer: Offer
    plans: Sequence[ClaimPlan]
    budget: Budget
    picks: list[Pick] = field(default_factory=list[Pick])
    _constraints: dict[Ask, Sequence[Constraint]] = field(default_factory=dict[Ask, Sequence[Constraint]])
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
        self.offer.check(self.plans)
        slots = [(plan, asks) for plan in self.plans for asks in plan.requests]
        if self._is_hopeless(slots):
            return False
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

    def _is_hopeless(self, slots: Sequence[tuple[ClaimPlan, Sequence[Ask]]]) -> bool:
        """Tell whether a request or a claim fails by itself, so that no choice for the others helps.

        Where the search may meet an error, this is for the search to find out.
        """
        if not self._all_are_free or not all(
            ask.all_ or self.offer.options(ask).sure for _, asks in slots for ask in asks
        ):
            return False
        if any(all(self.offer.is_short(ask) for ask in asks) for _, asks in slots):
            return True
        return len(self.plans) > 1 and not all(
            Search(self.offer, [plan.fresh()], self.budget).run() for plan in self.plans
        )

    def _request(self, slots: Sequence[tuple[ClaimPlan, Sequence[Ask]]], number: int) -> Choices:
        if number == len(slots):
            yield None
            return
        plan, asks = slots[number]
        for ask in asks:
            needed = self.offer.needed(ask)
            room = MAX_DEVICES - sum(pick.ask.claim == plan.index for pick in self.picks)
            if needed > room or needed == 0:
                continue

            def onward() -> Choices:
                return self._request(slots, number + 1)

            if ask.all_:
                yield self._take_every(plan, ask, self.offer.every(ask), onward)
            else:
                yield self._take_some(plan, ask, needed, self.offer.options(ask), onward)

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
        self, plan: ClaimPlan, ask: Ask, needed: int, options: Options, onward: Callable[[], Choices]
    ) -> Choices:
        """Take so many of the options. The order within a request does not matter, so each set comes once."""
        if needed == 0:
            yield onward()
            return
        failed: set[object] = set()
        for place in range(options.start, len(options.spots)):
            if options.sure and len(options.spots) - place < needed:
                return
            spot = options.spots[place]
            self.budget.spend()
            if self.in_use(plan, ask, spot) or (spot.likeness in failed and self._is_untouched(spot)):
                continue
            if self.offer.judge.is_match(ask, spot) and self._take(plan, ask, spot, must=False):
                rest = self._rest(plan, ask, options, place + 1, failed)
                if not rest.sure or len(rest.spots) - rest.start >= needed - 1:
                    yield self._take_some(plan, ask, needed - 1, rest, onward)
                self._give_back(plan)
            if self._is_untouched(spot) and self._all_are_free:
                failed.add(spot.likeness)

    def _rest(
        self, plan: ClaimPlan, ask: Ask, options: Options, start: int, failed: AbstractSet[object]
    ) -> Options:
        """Return the options that go with the device just taken, to find the rest of the request among.

        A device like one that failed before is none: a set with both was tried with that one first.
        """
        constraints = self._concerned(plan, ask) if options.sure else ()
        if not constraints and not failed:
            return options._replace(start=start)
        self.budget.spend(len(options.spots) - start)
        spots = [
            spot
            for spot in itertools.islice(options.spots, start, None)
            if not (spot.likeness in failed and self._is_untouched(spot))
            and all(each.admits(spot.candidate) for each in constraints)
        ]
        return Options(spots, 0, options.sure)

    @cached_property
    def _all_are_free(self) -> bool:
        """Whether no All is under a constraint: that fails the pod by which of its devices are taken."""
        return not any(
            ask.all_ and self._concerned(plan, ask)
            for plan in self.plans
            for asks in plan.requests
            for ask in asks
        )

    def _is_untouched(self, spot: Spot) -> bool:
        return spot.candidate.id not in self._taken_by and spot.candidate.id not in self._shares

    def _concerned(self, plan: ClaimPlan, ask: Ask) -> Sequence[Constraint]:
        if ask not in self._constraints:
            self._constraints[ask] = [each for each in plan.constraints if each.concerns(ask)]
        return self._constraints[ask]

    def in_use(self, plan: ClaimPlan, ask: Ask, spot: Spot) -> bool:
        """Tell whether a device is taken already; admin access minds only devices of the same claim."""
        device = spot.candidate.id
        if ask.admin:
            return plan.index in self._taken_by.get(device, ())
        return device in self.offer.judge.held.whole or device in self._taken_by

    def _take(self, plan: ClaimPlan, ask: Ask, spot: Spot, *, must: bool) -> bool:
        """Take a device, unless it is in use or does not go with those taken.

        Raises:
            AllocationError: It `must` be this device, and a constraint forbids it.

        """
        candidate = spot.candidate
        if self.in_use(plan, ask, spot) or not self.counters_suffice(spot):
            return False
        if self.offer.judge.keeps_away(ask, candidate):
            return False
        constraints = self._concerned(plan, ask)
        if not all(each.admits(candidate) for each in constraints):
            if must:
                raise ask.error(
                    f"{ask.path}.allocationMode",
                    f"cannot add device {candidate.id} because a claim constraint would not be satisfied",
                )
            return False
        taken = self.offer.judge.takes(ask, candidate) or {}
        if (used := self.used(candidate.id)) and lacking(taken, candidate.device, used):
            return False
        self._count(spot, 1)
        for each in constraints:
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
        for each in self._concerned(plan, pick.ask):
            each.chosen.pop()
        self._count(pick.spot, -1)

    def used(self, device: DeviceId) -> dict[str, Quantity]:
        """Return how much of each capacity of a device is taken, by other claims and by these."""
        used = dict(self.offer.judge.held.consumed.get(device, {}))
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
        return spot.candidate.shared and (device in self.offer.judge.held.shares or device in self._shares)

    def _count(self, spot: Spot, sign: int) -> None:
        # Called before a share is noted and after it is dropped: for the first share only.
        if self._has_its_counters(spot):
            return
        for counter, amount in spot.candidate.counters.items():
            taken = self._counters.get((spot.pool, counter), Quantity(0))
            self._counters[spot.pool, counter] = taken + amount if sign > 0 else taken - amount
