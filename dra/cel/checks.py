"""What the API server checks beyond types: lists and maps of one kind, and constants that are to be read.

Source: `HomogeneousAggregateLiterals` and the AST validators in `k8s.io/apiserver/pkg/cel/environment/base.go`.
"""

from dra.cel import errors
from dra.cel.functions.standard import to_duration, to_timestamp
from dra.cel.functions.text import is_pattern
from dra.cel.reads import children
from dra.cel.syntax import Call, ListOf, Literal, MapOf, Node, Type
from dra.cel.values import EvaluationError


def check(node: Node, expression: str) -> None:
    """Raise CompileError for the first thing that is wrong."""
    for child in children(node):
        check(child, expression)
    match node:
        case ListOf():
            elements = [
                (element, _unwrapped(element.type) if index in node.optional else element.type)
                for index, element in enumerate(node.elements)
            ]
            _same(elements, expression)
        case MapOf():
            _same([(key, key.type) for key, _, _ in node.entries], expression)
            _same(
                [
                    (value, _unwrapped(value.type) if optional else value.type)
                    for _, value, optional in node.entries
                ],
                expression,
            )
        case Call(arguments=[*_, Literal(value=str() as text)]) if not _readable(node.function, text):
            raise errors.at(node.arguments[-1].position, f"invalid {node.function} argument", expression)
        case _:
            pass


def _unwrapped(kind: Type) -> Type:
    return kind.parameters[0] if kind.name == "optional_type" else kind


def _same(elements: list[tuple[Node, Type]], expression: str) -> None:
    for (_, expected), (element, found) in zip(elements, elements[1:], strict=False):
        if not _assignable(expected, found):
            text = f"expected type '{expected}' but found '{found}'"
            raise errors.at(element.position, text, expression)


def _assignable(expected: Type, found: Type) -> bool:
    if {expected.name, found.name} & {"dyn", "any"}:
        return True
    return expected.name == found.name and all(map(_assignable, expected.parameters, found.parameters))


def _readable(function: str, text: str) -> bool:
    try:
        match function:
            case "duration":
                to_duration(text)
            case "timestamp":
                to_timestamp(text)
            case "matches":
                return is_pattern(text)
            case _:
                pass
    except EvaluationError:
        return False
    return True
