"""Why no node can satisfy the claims of a pod, in numbers, for the node that comes nearest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dra.allocation.agreement import of_one, of_several
from dra.allocation.everywhere import everywhere, expression
from dra.allocation.funnel import Funnel, funnel, lack, listed, short_of
from dra.allocation.judge import Budget, OutOfSteps
from dra.allocation.outcome import AllocationError, Unsatisfied
from dra.allocation.plan import ClaimPlan
from dra.allocation.pod import Pod
from dra.allocation.request import MAX_DEVICES, Ask
from dra.allocation.search import Search
from dra.objects import Node

_STEPS = 50_000
"""What the reason on one node may take; beyond that it is given in general terms."""

_MOST_NODES = 50
"""So many nodes that look different are compared."""


@dataclass(frozen=True)
class Miss:
    """Why a node is missed. The further it comes before something fails, the higher its `rank`."""

    rank: tuple[float, ...]
    claim: str
    path: str
    why: str
    funnel: Funnel | None = None
    """Of the request that fails for itself, whatever else is asked."""
    left_out: str = ""
    for_nodes: bool = False


def nearest_miss(pod: Pod, nodes: Sequence[Node]) -> Unsatisfied:
    """Return why the claims stay pending."""
    known = len(pod.cluster.pools.nodes)
    first = pod.claims[0].metadata.name
    if not known:
        return Unsatisfied(first, "", "there is no node", for_nodes=True)
    if not nodes:
        which = "the only node does not take" if known == 1 else f"none of the {known} nodes takes"
        why = f"{which} the pod at all, whatever devices are there"
        return Unsatisfied(first, "", why, for_nodes=True)
    alike: dict[tuple[int, str], Node] = {}
    for node in nodes:
        bound = pod.unavailable(node)
        alike.setdefault((pod.shape(node), bound.metadata.name if bound else ""), node)
    # Of many that all differ, those with the most devices: a reason takes longer to find than a verdict.
    likeliest = sorted(alike.values(), key=pod.free_devices, reverse=True)[:_MOST_NODES]
    misses = [_miss(pod, node) for node in likeliest]
    best = max(misses, key=lambda miss: miss.rank)
    why = everywhere(pod.views, nodes, best.funnel, best.left_out) or best.why
    return Unsatisfied(best.claim, best.path, why, best.for_nodes)


def _miss(pod: Pod, node: Node) -> Miss:
    name = node.metadata.name
    search = _Prefix(replace(pod, budget=Budget(_STEPS)), node)
    try:
        for number, plan in enumerate(pod.plans):
            before = pod.plans[:number]
            if not search.fits([*before, plan]):
                miss = _in_claim(search, before, plan)
                return replace(
                    miss,
                    rank=(number, *miss.rank),
                    why=f"{name}: {miss.why}{search.left_out()}",
                    left_out=search.left_out(),
                )
    except OutOfSteps:
        return _too_long(search)
    bound = pod.unavailable(node)
    claim = bound.metadata.name if bound else pod.claims[0].metadata.name
    others = f"{name} has devices for the other claims, but " if pod.plans else f"{name}: "
    why = f"{others}claim {claim} is allocated already, for other nodes"
    return Miss((len(pod.plans),), claim, "", why, for_nodes=True)


def _too_long(search: "_Prefix") -> Miss:
    """Say what there is, where it takes too long to find out what fails."""
    plan = search.pod.plans[0]
    asks = [ask for plan in search.pod.plans for asks in plan.requests for ask in asks]
    parts = [
        f"{ask.full_name}: {stages.words()}, {stages.asked_words}"
        for ask in asks[:3]
        if (stages := search.funnel(ask))
    ]
    more = f" and {len(asks) - len(parts)} more" if len(asks) > len(parts) else ""
    node = search.node.metadata.name
    why = f"{node}: its devices do not satisfy all of this together: {'; '.join(parts)}{more}"
    return Miss((-1,), search.pod.claims[plan.index].metadata.name, "", why)


class _Prefix:
    """Searches on one node for a part of what a pod asks."""

    def __init__(self, pod: Pod, node: Node) -> None:
        self.pod, self.node = pod, node

    def search(self, plans: Sequence[ClaimPlan]) -> Search | None:
        """Return a search that found devices, or None. An error counts as found: it is not what fails."""
        search = self.pod.search(self.node, plans)
        try:
            return search if search.run() else None
        except AllocationError:
            return search

    def fits(self, plans: Sequence[ClaimPlan]) -> bool:
        return self.search(plans) is not None

    def funnel(self, ask: Ask) -> Funnel:
        return funnel(ask, self.pod.search(self.node, []))

    def left_out(self) -> str:
        """Return what is said of pools from which nothing is allocated."""
        out = [
            f"pool {pool} is left out: {pool.incomplete or pool.invalid}"
            for pool in self.pod.cluster.pools.on(self.node)
            if pool.incomplete or pool.invalid
        ]
        return "".join(f"; {each}" for each in out[:3])


def _in_claim(search: _Prefix, before: Sequence[ClaimPlan], plan: ClaimPlan) -> Miss:
    """Return which request fails; if none does without the constraints, which constraint."""
    claim = search.pod.claims[plan.index].metadata.name
    for number in range(len(plan.requests)):
        some = replace(plan, requests=plan.requests[: number + 1], constraints=[])
        if not search.fits([*before, some]):
            miss = _in_request(search, before, some)
            return replace(miss, rank=(number, *miss.rank), claim=claim)
    for number, constraint in enumerate(plan.constraints):
        some = replace(plan, constraints=plan.constraints[: number + 1])
        if not search.fits([*before, some]):
            size, why = _in_constraint(search, before, some)
            return Miss((len(plan.requests) + number, size), claim, constraint.path, why)
    # Only where an error on the way counted as found.
    return Miss((0,), claim, "", "its devices do not satisfy the claim")


def _in_request(search: _Prefix, before: Sequence[ClaimPlan], plan: ClaimPlan) -> Miss:
    """Return why the last request of a plan fails; without alternatives or with all of them."""
    misses = [_in_ask(search, before, plan, ask) for ask in plan.requests[-1]]
    best = max(misses, key=lambda miss: miss.rank)
    if len(misses) == 1:
        return best
    alternatives = "; ".join(
        f"{ask.full_name}: {miss.why}" for ask, miss in zip(plan.requests[-1], misses, strict=True)
    )
    return replace(best, why=f"no alternative can be met. {alternatives}", funnel=None)


def _in_ask(search: _Prefix, before: Sequence[ClaimPlan], plan: ClaimPlan, ask: Ask) -> Miss:
    stages = search.funnel(ask)
    failing = stages.failing
    if failing is not None:
        stage = stages.stages[failing]
        words = stages.words(failing + 1)
        if stage.condition is not None:
            words = _at_selector(stages, failing)
        few = failing == 0 and stage.left
        return Miss(
            (failing, len(stage.left) / stages.asked),
            "",
            f"{ask.path}.count" if few else stage.path,
            f"{words}, {stages.asked_words}",
            stages,
        )
    words, rank = stages.words(), len(stages.stages)
    least = sum(min(_asked(search, each) for each in asks) for asks in plan.requests[:-1])
    if stages.asked + least > MAX_DEVICES:
        why = (
            f"{words}, but with {stages.asked} of them the claim has {stages.asked + least} devices, and "
            f"{MAX_DEVICES} is the most that one claim can have"
        )
        return Miss((rank, 0), "", f"{ask.path}.count", why)
    path = f"{ask.path}.allocationMode" if ask.all_ else f"{ask.path}.count"
    return Miss((rank, 1), "", path, f"{words}, {_beside(search, before, plan, stages)}")


def _asked(search: _Prefix, ask: Ask) -> int:
    return search.funnel(ask).asked if ask.all_ else ask.count


def _at_selector(stages: Funnel, failing: int) -> str:
    """Name the selector that leaves too few."""
    stage, former = stages.stages[failing], stages.stages[failing - 1]
    words = stages.stages[0].words
    matching = f"{len(stage.left)} {'matches' if len(stage.left) == 1 else 'match'}"
    if former.condition is not None:
        several = "s" if former.condition.index else ""
        words += f", {len(former.left)} match the selector{several} before it"
    return f"{words}, {matching} the selector {expression(stage.condition)}"


def _beside(search: _Prefix, before: Sequence[ClaimPlan], plan: ClaimPlan, stages: Funnel) -> str:
    """Say what the requests that come before take away, by one way to satisfy them."""
    others = search.search([*before, replace(plan, requests=plan.requests[:-1])])
    picks = others.picks if others else []
    if others is not None and picks:
        ask = stages.ask
        left = [spot for spot in stages.left if not others.in_use(plan, ask, spot)]
        able = [
            spot for spot in left if not lack(ask, others, spot.candidate) and others.counters_suffice(spot)
        ]
        takers = _takers([pick.ask for pick in picks], ask)
        if len(able) < stages.asked:
            short = short_of(ask, others, left)
            verb = "is" if len(able) == 1 else "are"
            detail = f" ({short})" if short else ""
            return f"{len(able)} {verb} left beside {takers}{detail}, {stages.asked_words}"
        if not any(spot.candidate.counters for spot in able):
            return f"{stages.asked_words}, but they are not enough beside {takers}"
    return f"{stages.asked_words}, but their shared counters do not suffice for so many"


def _takers(takers: Sequence[Ask], ask: Ask) -> str:
    """Name the requests of the same claim, and the other claims."""
    requests = list(dict.fromkeys(taker.full_name for taker in takers if taker.claim == ask.claim))
    others = [taker.claim_name.partition("/")[2] for taker in takers if taker.claim != ask.claim]
    named = [
        f"{what}{'s' if len(names) > 1 else ''} {listed(names)}"
        for what, names in (("request", requests), ("claim", list(dict.fromkeys(others))))
        if names
    ]
    return " and ".join(named)


def _in_constraint(search: _Prefix, before: Sequence[ClaimPlan], plan: ClaimPlan) -> tuple[float, str]:
    """Say why the last constraint of a plan fails, and how near it comes."""
    constraint = plan.constraints[-1]
    if len(plan.constraints) > 1 and search.fits([*before, replace(plan, constraints=[constraint])]):
        others = " and ".join(each.attribute for each in plan.constraints[:-1])
        verb = "differ in" if constraint.distinct else "share"
        return 0, (
            f"enough devices {verb} {constraint.attribute}, but not together with the constraint"
            f"{'s' if len(plan.constraints) > 2 else ''} on {others}"  # noqa: PLR2004 - one other
        )
    concerned = [search.funnel(ask) for asks in plan.requests for ask in asks if constraint.concerns(ask)]
    if len(concerned) == 1:
        return of_one(constraint, concerned[0])
    return of_several(constraint, concerned)
