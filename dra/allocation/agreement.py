"""How many devices satisfy a constraint together, in words."""

from collections.abc import Sequence

from dra.allocation.constraint import Constraint
from dra.allocation.funnel import Funnel, listed
from dra.allocation.judge import Spot


def of_one(constraint: Constraint, stages: Funnel) -> tuple[float, str]:
    """Say it of a constraint on one request, with the part of what was asked that satisfies it."""
    best, words = _agreeing(constraint, stages.left)
    whole = f"{stages.words()}, {words}, {stages.asked_words}"
    if best >= stages.asked:
        whole += ", but the other requests need them too"
    return best / stages.asked, whole


def _agreeing(constraint: Constraint, spots: Sequence[Spot]) -> tuple[int, str]:
    """Return how many of some devices satisfy a constraint together, with words for it."""
    values = [spot.candidate.attribute(constraint.attribute) for spot in spots]
    have = [value for value in values if value is not None]
    name = constraint.attribute
    if not have:
        return 0, f"none of them has the attribute {name}"
    only = f"{len(have)} of them {'has' if len(have) == 1 else 'have'} the attribute {name}"
    some = f"{only}, " if len(have) < len(values) else ""
    if constraint.distinct:
        different = len(set(have))
        return different, f"{some}there {'is' if different == 1 else 'are'} {different} different {name}"
    best = max(have.count(value) for value in set(have))
    if best == len(have) and some:
        return best, only
    return best, f"{some}{best} share one {name}" if best > 1 else f"{some}no two share one {name}"


def of_several(constraint: Constraint, concerned: Sequence[Funnel]) -> tuple[float, str]:
    """Say it of a constraint on several requests, of which each may satisfy it for itself."""
    name = constraint.attribute
    parts = [
        f"{each.ask.full_name}: {each.words()}, {_agreeing(constraint, each.left)[1]}, {each.asked_words}"
        for each in concerned
    ]
    verb = "differ in" if constraint.distinct else "share one"
    nearest = min(min(_agreeing(constraint, each.left)[0] / each.asked, 1) for each in concerned)
    requests = listed(each.ask.full_name for each in concerned)
    return nearest, f"all the devices of the requests {requests} must {verb} {name}. {'; '.join(parts)}"
