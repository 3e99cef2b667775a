"""What the API server checks beyond types: lists and maps of one kind, formats, and readable constants.

Source: the validators that `k8s.io/apiserver/pkg/cel/environment/base.go` lists; `cel/validator.go`,
`ext/formatting.go` and `interpreter/decorators.go` of cel-go 0.29.
"""

from collections.abc import Iterator, Sequence

from dra.cel.errors import CompileError, EvaluationError, Problem
from dra.cel.functions import call
from dra.cel.functions.conversions import to_duration, to_timestamp
from dra.cel.functions.formatting import CLAUSE, CLAUSES, PRINTED, wrong_clause
from dra.cel.functions.text import is_pattern
from dra.cel.reads import children, nodes
from dra.cel.syntax import Call, ListOf, Literal, MapOf, Node, Type


def check(expression: Node) -> list[Problem]:
    """Return what is wrong with an expression whose types are right."""
    return [*_literals(expression), *_constants(expression)]


def _literals(node: Node) -> Iterator[Problem]:
    match node:
        case ListOf():
            kinds = [
                (element, _unwrapped(element.type) if index in node.optional else element.type)
                for index, element in enumerate(node.elements)
            ]
            yield from _same(kinds)
        case MapOf():
            for part in (
                [(key, key.type) for key, _, _ in node.entries],
                [
                    (value, _unwrapped(value.type) if optional else value.type)
                    for _, value, optional in node.entries
                ],
            ):
                yield from _same(part)
        case Call(function="format"):
            yield from _format(node)
            # What is only printed may be of any kind.
            return
        case _:
            pass
    for child in children(node):
        yield from _literals(child)


def _unwrapped(kind: Type) -> Type:
    return kind.parameters[0] if kind.name == "optional_type" else kind


def _same(elements: Sequence[tuple[Node, Type]]) -> Iterator[Problem]:
    for element, found in elements[1:]:
        expected = elements[0][1]
        if found != expected:
            yield Problem(
                element.position, f"expected type '{_spelled(expected)}' but found '{_spelled(found)}'"
            )
            return


def _spelled(kind: Type) -> str:
    spelled = str(kind)
    for name, short in _SHORT.items():
        spelled = spelled.replace(name, short)
    return spelled


_SHORT = {
    "null_type": "null",
    "google.protobuf.Timestamp": "timestamp",
    "google.protobuf.Duration": "duration",
}


def _constants(expression: Node) -> Iterator[Problem]:
    for node in nodes(expression):
        match node:
            case Call(arguments=[*_, Literal(value=str() as text)]) if not _readable(node.function, text):
                yield Problem(node.arguments[-1].position, f"invalid {node.function} argument")
            case _:
                pass


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


def _format(node: Call) -> Iterator[Problem]:
    if not isinstance(node.target, Literal) or not isinstance(node.arguments[0], ListOf):
        return
    arguments = node.arguments[0].elements
    used = 0
    for clause in CLAUSE.finditer(str(node.target.value)):
        if clause["percent"]:
            continue
        if used >= len(arguments):
            yield Problem(node.position, f"index {used} out of range")
            return
        if clause["wrong"] is not None:
            yield Problem(node.position, wrong_clause(clause["wrong"]))
            return
        kinds, text = CLAUSES[clause["clause"]]
        if wrong := _unprintable(arguments[used], kinds):
            name = _NAMES.get(wrong.type.name, wrong.type.name)
            yield Problem(wrong.position, f"error during formatting: {text}, was given {name}")
            return
        used += 1
    if used < len(arguments):
        text = f"too many arguments supplied to string.format (expected {used}, got {len(arguments)})"
        yield Problem(node.position, text)


_NAMES = {"any": "google.protobuf.Any"}


def _unprintable(argument: Node, kinds: Sequence[str]) -> Node | None:
    """Return the part of an argument that a clause cannot print, if there is one."""
    if argument.type.name not in {*kinds, "dyn"}:
        return argument
    if kinds is not PRINTED or not isinstance(argument, ListOf | MapOf):
        return None
    return next((part for child in children(argument) if (part := _unprintable(child, kinds))), None)


_CONVERSIONS = {"bool", "bytes", "double", "int", "uint", "string", "duration", "timestamp"}


def check_constants(expression: Node) -> None:
    """Raise CompileError for a constant that cannot be read when the program is made, before any device."""
    for node in nodes(expression):
        match node:
            case Call(function="find" | "findAll", arguments=[Literal(value=str() as pattern), *_]):
                if not is_pattern(pattern):
                    text = f"program instantiation failed: error parsing regexp: `{pattern}`"
                    raise CompileError(text, internal=True)
            case Call():
                _constant(node)
            case _:
                pass


_NOT_CONSTANT = object()


def _constant(node: Node) -> object:
    """Return the value of a literal and of conversions of it, which are made with the program."""
    match node:
        case Literal():
            return node.value
        case Call(function=function, arguments=[argument]) if function in _CONVERSIONS:
            value = _constant(argument)
            if value is _NOT_CONSTANT:
                return value
            try:
                return call(function, [value])
            except EvaluationError as error:
                raise CompileError(f"program instantiation failed: {error}", internal=True) from None
        case _:
            return _NOT_CONSTANT
