"""Which nodes a node selector is for.

Source: `k8s.io/component-helpers/scheduling/corev1/nodeaffinity` and `apimachinery/pkg/labels`, 1.37.2.
"""

import re

from dra.device import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra.objects import Node

_NAME_FIELD = "metadata.name"
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)


def selects(selector: NodeSelector, node: Node) -> bool:
    """Tell whether one of the terms holds for a node; a term without conditions holds for none.

    Raises:
        ValueError: A condition cannot be read. The API server lets a few of those pass.

    """
    for term in selector.node_selector_terms:
        for requirement in (*(term.match_expressions or ()), *(term.match_fields or ())):
            _check(requirement)
    return any(_holds(term, node) for term in selector.node_selector_terms)


def _holds(term: NodeSelectorTerm, node: Node) -> bool:
    expressions, names = term.match_expressions or (), term.match_fields or ()
    fields = {_NAME_FIELD: node.metadata.name}
    return bool(expressions or names) and (
        all(_meets(each, node.metadata.labels.get(each.key)) for each in expressions)
        # A field that nodes do not have counts as empty.
        and all(_meets(each, fields.get(each.key, "")) for each in names)
    )


def _meets(requirement: NodeSelectorRequirement, value: str | None) -> bool:
    values = list(requirement.values or ())
    match requirement.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and _is_integer(value) and int(value) > int(values[0])
        case _:
            return value is not None and _is_integer(value) and int(value) < int(values[0])


def _check(requirement: NodeSelectorRequirement) -> None:
    values = requirement.values or ()
    match requirement.operator:
        case "In" | "NotIn" if values:
            return
        case "Exists" | "DoesNotExist" if not values:
            return
        case "Gt" | "Lt" if len(values) == 1 and _is_integer(values[0]):
            return
        case _:
            raise ValueError(
                f"{requirement.key} {requirement.operator} {list(values)}: In and NotIn need values, Exists "
                "and DoesNotExist none, Gt and Lt one integer"
            )


def _is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None
