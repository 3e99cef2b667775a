"""Why no device of any node will do, where that is the same everywhere."""

from collections.abc import Sequence

from dra.allocation.candidate import Candidate
from dra.allocation.funnel import Funnel, devices, listed
from dra.allocation.request import Ask, Condition
from dra.allocation.views import Views
from dra.objects import Node


def everywhere(views: Views, nodes: Sequence[Node], stages: Funnel | None, left_out: str) -> str:
    """Say it of all nodes at once, where no device of any node is of the class or passes a selector."""
    failing = stages.failing if stages else None
    if stages is None or failing is None:
        return ""
    ask, stage = stages.ask, stages.stages[failing]
    every = views.census(nodes)
    of_class = [
        (device, count)
        for device, count in every
        if all(ask.would_meet(each, device) for each in ask.conditions if each.of_class)
    ]
    if not of_class:
        where = "the only node" if len(nodes) == 1 else f"the {len(nodes)} nodes"
        total = sum(count for _, count in every)
        if not total:
            return f"there are no devices on {where}, {stages.asked_words}{left_out}"
        some = f"0 of {devices(total)} on {where} are of class {ask.class_name}"
        return f"{some}, {stages.asked_words}{left_out}"
    return _at_selector(ask, stage.condition, of_class, f"{stages.asked_words}{left_out}")


def _at_selector(
    ask: Ask, condition: Condition | None, of_class: Sequence[tuple[Candidate, int]], end: str
) -> str:
    """Say that no device matches a selector, of those that match the ones before; empty if one does."""
    if condition is None:
        return ""
    before = [each for each in ask.conditions if not each.of_class and each.index < condition.index]
    asked = [
        (device, count) for device, count in of_class if all(ask.would_meet(each, device) for each in before)
    ]
    if not asked or any(ask.would_meet(condition, device) for device, _ in asked):
        return ""
    total = devices(sum(count for _, count in asked))
    those = f" that match the selector{'s' * (len(before) > 1)} before it" if before else ""
    return (
        f"0 of {total} of class {ask.class_name}{those} match the selector {expression(condition)}"
        f"{_values(condition, [device for device, _ in asked])}, {end}"
    )


def _values(condition: Condition, every: Sequence[Candidate]) -> str:
    """Say which values the attributes have that a selector reads."""
    said = ""
    for name in sorted(condition.reads or ()):
        domain, _, identifier = name.partition("/")
        short = identifier if all(device.id.driver == domain for device in every) else name
        given = {value for device in every if (value := device.attribute(name)) is not None}
        values = sorted(given, key=str)
        if not values:
            said += f"; none of them has the attribute {name}"
            continue
        texts = listed(f"'{value}'" if value.type_ == "string" else str(value) for value in values)
        said += (
            f"; the value of {short} is {texts}"
            if len(values) == 1
            else f"; the values of {short} are {texts}"
        )
    return said


def expression(condition: Condition | None) -> str:
    """Return a selector's expression on one line."""
    text = " ".join(condition.expression.split()) if condition else ""
    return f"`{text if len(text) <= 120 else text[:117] + '...'}`"  # noqa: PLR2004 - what a line can bear
