"""How many devices of a node are left for a request, condition after condition."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from dra.allocation.candidate import Candidate
from dra.allocation.capacity import lacking
from dra.allocation.judge import Spot
from dra.allocation.outcome import AllocationError
from dra.allocation.request import Ask, Condition
from dra.allocation.search import Search

_NAMED = 3
"""So many devices, claims or values are named; the rest is counted."""


@dataclass(frozen=True)
class Stage:
    """The devices that are left after a condition, in words, and the condition's path in the claim."""

    left: Sequence[Spot]
    words: str
    path: str
    condition: Condition | None = None


@dataclass
class Funnel:
    """The stages of a request on a node. `asked`: how many devices it must have at each of them."""

    ask: Ask
    asked: int = 0
    stages: list[Stage] = field(default_factory=list[Stage])

    @property
    def failing(self) -> int | None:
        """The first stage that leaves too few devices, by its place."""
        return next((i for i, stage in enumerate(self.stages) if len(stage.left) < self.asked), None)

    @property
    def left(self) -> Sequence[Spot]:
        """The devices that pass every stage."""
        return self.stages[-1].left

    def words(self, end: int | None = None) -> str:
        """Return the stages up to one of them as a sentence's beginning."""
        return ", ".join(stage.words for stage in self.stages[:end] if stage.words)

    def narrow(
        self,
        keeps: Callable[[Spot], bool],
        verb: tuple[str, str],
        detail: Callable[[Sequence[Spot]], str],
        path: str,
    ) -> None:
        """Add a stage, in words only if it takes something away: `verb` for one and for several of them."""
        left = [spot for spot in self.left if keeps(spot)]
        gone = [spot for spot in self.left if not keeps(spot)]
        words = f"{len(left)} {verb[len(left) != 1]} (not {detail(gone)})" if gone else ""
        self.stages.append(Stage(left, words, path))

    @property
    def asked_words(self) -> str:
        """How many were asked for."""
        if self.ask.all_:
            return "all of them were asked for"
        return f"{self.asked} {'was' if self.asked == 1 else 'were'} asked"


def funnel(ask: Ask, search: Search) -> Funnel:
    """Return how many devices pass each condition of a request, looked at alone."""
    stages, judge = Funnel(ask), search.offer.judge
    _add_selectors(stages, search.offer.spots)
    stages.narrow(lambda spot: spot.here, ("is for this node", "are for this node"), names, ask.path)
    # All stands for the devices that could have the capacity, had no one else a part of it.
    every = sum(judge.matches(ask, spot) is True for spot in stages.left)
    stages.asked = max(every, 1) if ask.all_ else ask.count
    stages.narrow(
        lambda spot: ask.admin or spot.candidate.id not in judge.held.whole,
        ("is free", "are free"),
        lambda gone: (
            f"{names(gone)} held by {listed(by for spot in gone for by in judge.held.by(spot.candidate.id))}"
        ),
        f"{ask.path}.count",
    )
    stages.narrow(
        lambda spot: not judge.keeps_away(ask, spot.candidate),
        ("has no taint that is not tolerated", "have no taint that is not tolerated"),
        lambda gone: listed(_taints(ask, gone)),
        f"{ask.path}.tolerations",
    )
    stages.narrow(
        lambda spot: not lack(ask, search, spot.candidate),
        ("has the capacity", "have the capacity"),
        lambda gone: listed(
            f"{spot.candidate.id.name}: {lack(ask, search, spot.candidate)}" for spot in gone
        ),
        f"{ask.path}.capacity",
    )
    stages.narrow(
        search.counters_suffice,
        ("has its shared counters", "have their shared counters"),
        lambda gone: short_counters(search, gone),
        ask.path,
    )
    return stages


def _add_selectors(stages: Funnel, spots: Sequence[Spot]) -> None:
    ask = stages.ask
    own = [each for each in ask.conditions if not each.of_class]
    left = [
        spot
        for spot in spots
        if all(ask.would_meet(each, spot.candidate) for each in ask.conditions if each.of_class)
    ]
    words = f"{devices(len(left))} {'is' if len(left) == 1 else 'are'} of class {ask.class_name}"
    stages.stages.append(Stage(left, words, f"{ask.path}.deviceClassName"))
    for condition in own:
        left = [spot for spot in left if ask.would_meet(condition, spot.candidate)]
        # One word for all of them at the last: in between it is said only where one of them fails.
        match = f"{'matches' if len(left) == 1 else 'match'} the selector{'s' if len(own) > 1 else ''}"
        words = f"{len(left)} {match}" if condition is own[-1] else ""
        stages.stages.append(Stage(left, words, condition.path, condition))


def lack(ask: Ask, search: Search, candidate: Candidate) -> str:
    """Return which of a device's capacity is too little for a request; empty if there is enough."""
    try:
        taken = ask.consumption(candidate)
    except AllocationError as error:
        return str(error)
    if taken is not None:
        lacks = lacking(taken, candidate.device, search.used(candidate.id))
        return ", ".join(
            f"{name}: {ask.capacity[name]} asked, {left} left"
            if name in ask.capacity
            else f"{name}: {taken[name]} taken by default, {left} left"
            for name, left in lacks.items()
        )
    missing = [name for name in ask.capacity if name not in candidate.device.capacity]
    if not missing:
        return "its requestPolicy does not allow what was asked"
    return f"it has no capacity {missing[0]}"


def short_of(ask: Ask, search: Search, spots: Sequence[Spot]) -> str:
    """Return what some devices have too little of, of capacity and of shared counters."""
    lacks = [
        f"{spot.candidate.id.name}: {text}" for spot in spots if (text := lack(ask, search, spot.candidate))
    ]
    return ", ".join(filter(None, [listed(lacks), short_counters(search, spots)]))


def short_counters(search: Search, spots: Sequence[Spot]) -> str:
    """Return which shared counters of some devices are too low."""
    spots = [spot for spot in spots if not search.counters_suffice(spot)]
    lows = [
        f"{counter_set}/{name} of pool {spot.pool.name}: {spot.candidate.id.name} needs {amount}, "
        f"{search.counter(spot.pool, (counter_set, name))} left"
        for spot in spots
        for (counter_set, name), amount in spot.candidate.counters.items()
        if search.counter(spot.pool, (counter_set, name)) < amount
    ]
    overdrawn = [
        f"pool {spot.pool.name}: allocated devices take more than there is"
        for spot in spots
        if spot.pool.overdrawn
    ]
    return listed([*overdrawn, *lows])


def _taints(ask: Ask, gone: Sequence[Spot]) -> Iterable[str]:
    return (
        f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect} on {spot.candidate.id.name}"
        for spot in gone
        for taint in spot.candidate.taints
        if not ask.tolerates(taint)
    )


def names(spots: Sequence[Spot]) -> str:
    """Return the names of some devices."""
    return listed(spot.candidate.id.name for spot in spots)


def listed(words: Iterable[str]) -> str:
    """Return the first few different words, and how many there are beyond them."""
    different = list(dict.fromkeys(words))
    more = len(different) - _NAMED
    return ", ".join(different[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def devices(count: int) -> str:
    """Return a number of devices in words."""
    return f"{count} device{'' if count == 1 else 's'}"
