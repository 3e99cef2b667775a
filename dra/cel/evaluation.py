"""Evaluation of a checked expression, as the API server's and the scheduler's runtime (cel-go) does it.

Google's `cel-expr-python` parses and checks, but its runtime cannot stand in for this: it takes a version
that is compared with a string for merely different, where the scheduler fails the pod; it knows no maps with
a default and no limit on the cost; and it says other things. So checked expressions become closures here.
Source: `interpreter` of cel-go 0.29; `k8s.io/dynamic-resource-allocation/cel/compile.go`, Kubernetes 1.37.2.
"""

from collections.abc import Callable, Sequence
from typing import cast

from dra.cel.errors import EvaluationError
from dra.cel.functions import call, collections, conversions, is_known, operators
from dra.cel.scope import Failed, Lazy, Program, Scope, nested_scope
from dra.cel.semver import Semver
from dra.cel.syntax import Call, Comprehension, ListOf, Literal, MapOf, Message, Name, Node, Select, is_bind
from dra.cel.values import NONE, Optional, TypeValue, Uint, Value, is_list, is_map, map_key, type_name


class Attributes(dict[str, Value]):
    """What a device has, by domain; a domain that it does not have is an empty one."""

    EMPTY: dict[str, Value] = {}  # noqa: RUF012 - a value of CEL, which nothing changes


def program(expression: Node) -> Callable[[dict[str, Value]], Value]:
    """Return what evaluates an expression on the values of its variables."""
    run = _compile(expression)
    return lambda variables: run(Scope(variables))


def _compile(node: Node) -> Program:  # noqa: PLR0911 - one return for each kind of node
    match node:
        case Literal():
            value = node.value
            return lambda _: value
        case Name():
            return _name(node)
        case Select():
            return _select(node)
        case Call():
            return _call(node)
        case ListOf():
            return _list(node)
        case MapOf():
            return _map(node)
        case Comprehension():
            return _bind(node) if is_bind(node) else _loop(node)
        case Message():
            return _message(node)
        case _:
            raise TypeError(f"{node} is of no known kind")


_WRAPPERS: dict[str, Value] = {
    **dict.fromkeys((f"google.protobuf.{kind}Value" for kind in ("Int32", "Int64")), 0),
    **dict.fromkeys((f"google.protobuf.{kind}Value" for kind in ("UInt32", "UInt64")), Uint(0)),
    **dict.fromkeys((f"google.protobuf.{kind}Value" for kind in ("Float", "Double")), 0.0),
    "google.protobuf.BoolValue": False,
    "google.protobuf.StringValue": "",
    "google.protobuf.BytesValue": b"",
}


def _message(node: Message) -> Program:
    """Return a program of a wrapper, which is what it wraps; nobody builds other messages in a selector."""
    if node.name not in _WRAPPERS:
        return _refuse(f"{node.name} is not known to this checker: write the value itself")
    if node.values:
        return _compile(node.values[0])
    default = _WRAPPERS[node.name]
    return lambda _: default


def _refuse(why: str) -> Program:
    def run(_: Scope) -> Value:
        raise EvaluationError(why)

    return run


def _name(node: Name) -> Program:
    name = node.name

    def run(scope: Scope) -> Value:
        value = scope.variables.get(name, scope)
        if value is scope:
            return TypeValue(name)
        return value() if isinstance(value, Lazy) else value

    return run


def _get(container: Value, key: Value) -> Optional:
    """Return what there is under a key; an Attributes has something under any."""
    if isinstance(container, Attributes) and isinstance(key, str):
        return Optional(container.get(key, Attributes.EMPTY), present=True)
    return operators.find(container, key)


def _index(container: Value, key: Value) -> Value:
    if isinstance(container, Optional):
        return _chain(container, key)
    found = _get(container, key)
    if found.present:
        return found.value
    what = "index out of bounds" if isinstance(container, list) else "no such key"
    raise EvaluationError(f"{what}: {conversions.text(key)}")


def _chain(container: Value, key: Value) -> Optional:
    """Return what there is under a key of what there may be."""
    if isinstance(container, Optional):
        if not container.present:
            return NONE
        container = container.value
    return _get(container, key)


def _select(node: Select) -> Program:
    operand, field = _compile(node.operand), node.field
    if not node.test:
        return lambda scope: _index(operand(scope), field)
    return lambda scope: _chain(operand(scope), field).present


def _call(node: Call) -> Program:  # noqa: C901, PLR0911, PLR0912 - one return for each special form
    nodes = [*([node.target] if node.target else []), *node.arguments]
    parts = [_compile(part) for part in nodes]
    match node.function:
        case "_&&_":
            return _logical(parts, decisive=False)
        case "_||_":
            return _logical(parts, decisive=True)
        case "_?_:_":
            return _conditional(parts)
        case "@not_strictly_false":
            return _not_strictly_false(parts[0])
        case "or" | "orValue":
            return _alternative(parts, unwrap=node.function == "orValue")
        case "_[_]":
            return lambda scope: _index(parts[0](scope), parts[1](scope))
        case "_?._" | "_[?_]":
            return lambda scope: _chain(parts[0](scope), parts[1](scope))
        case "_+_":
            return _addition(parts)
        case "@in" if isinstance(node.arguments[1], ListOf):
            return _in_constants(parts, node.arguments[1])
        case "sum":
            # Where the type is not known, cel-go takes the first overload: of ints.
            kind = "int" if node.type.name == "dyn" else node.type.name
            return lambda scope: collections.total(parts[0](scope), kind)
        case name if name in operators.OPERATORS:
            operator = operators.OPERATORS[name]
            if len(parts) == 1:
                return lambda scope: operator(parts[0](scope))
            return lambda scope: operator(parts[0](scope), parts[1](scope))
        case "matches" if not isinstance(nodes[1], Literal):
            return _function("matches", parts, refusal="no such overload: matches")
        case name if is_known(name):
            return _function(name, parts)
        case name:
            return _refuse(
                f"the function {name} is not known to this checker: judge the selector on a cluster"
            )


def _alternative(parts: Sequence[Program], *, unwrap: bool) -> Program:
    first, second = parts

    def run(scope: Scope) -> Value:
        optional = first(scope)
        if not isinstance(optional, Optional):
            raise EvaluationError("no such overload")
        if not optional.present:
            return second(scope)
        return optional.value if unwrap else optional

    return run


def _function(name: str, parts: Sequence[Program], refusal: str | None = None) -> Program:
    """Return a program of a call; `refusal` is what is said instead if no overload takes the arguments."""

    def run(scope: Scope) -> Value:
        arguments = [part(scope) for part in parts]
        for argument in arguments:
            if is_list(argument) or is_map(argument) or isinstance(argument, str | bytes):
                scope.spend(len(argument) // 10 + 1)
        try:
            return call(name, arguments)
        except EvaluationError as error:
            if refusal and str(error).startswith("no such overload"):
                raise EvaluationError(refusal) from None
            raise

    return run


def _in_constants(parts: Sequence[Program], among: ListOf) -> Program:
    """Return a program of `in` a list; of one with constants only, cel-go makes a Go map, with its limits."""
    if not among.elements:
        return lambda _: False  # Nor does cel-go look at the element then, which may be missing.
    constant = all(
        isinstance(element, Literal) and isinstance(element.value, bool | int | float | str)
        for element in among.elements
    )
    unhashable: dict[type, str] = {Semver: "cel.Semver", bytes: "types.Bytes"} if constant else {}

    def run(scope: Scope) -> Value:
        element = parts[0](scope)
        if name := unhashable.get(type(cast("object", element))):
            raise EvaluationError(f"internal error: runtime error: hash of unhashable type {name}")
        return operators.contains(element, parts[1](scope))

    return run


def _addition(parts: Sequence[Program]) -> Program:
    left, right = parts

    def run(scope: Scope) -> Value:
        total = operators.add(left(scope), right(scope))
        if is_list(total) or isinstance(total, str | bytes):
            scope.spend(len(total) // 10)
        return total

    return run


def _logical(parts: Sequence[Program], *, decisive: bool) -> Program:
    """Return a program of && or ||: either side decides alone, even if the other fails."""
    left, right = parts

    def run(scope: Scope) -> Value:
        failure = None
        for side in (left, right):
            try:
                value = side(scope)
            except EvaluationError as error:
                failure = failure or error
                if scope.budget < 0:
                    raise
                continue
            if value is decisive:
                return decisive
            if not isinstance(value, bool):
                failure = failure or EvaluationError("no such overload")
        if failure:
            raise failure
        return not decisive

    return run


def _conditional(parts: Sequence[Program]) -> Program:
    condition, yes, no = parts

    def run(scope: Scope) -> Value:
        value = condition(scope)
        if not isinstance(value, bool):
            raise EvaluationError("no such overload")
        return yes(scope) if value else no(scope)

    return run


def _not_strictly_false(part: Program) -> Program:
    def run(scope: Scope) -> Value:
        try:
            return part(scope) is not False
        except EvaluationError:
            return True

    return run


def _list(node: ListOf) -> Program:
    parts = [(_compile(element), index in node.optional) for index, element in enumerate(node.elements)]

    def run(scope: Scope) -> Value:
        elements: list[Value] = []
        for part, optional in parts:
            value = part(scope)
            if not optional:
                elements.append(value)
            elif value.present:
                elements.append(value.value)
        return elements

    return run


def _map(node: MapOf) -> Program:
    parts = [(_compile(key), _compile(value), optional) for key, value, optional in node.entries]

    def run(scope: Scope) -> Value:
        entries: dict[Value, Value] = {}
        for key_part, value_part, optional in parts:
            key, value = key_part(scope), value_part(scope)
            if not isinstance(key, str | bool | int):
                raise EvaluationError(f"unsupported key type: {type_name(key)}")
            if optional:
                if not value.present:
                    continue
                value = value.value
            entries[map_key(key)] = value
        return entries

    return run


def _bind(node: Comprehension) -> Program:
    initial, result, name = _compile(node.initial), _compile(node.result), node.accumulator

    def run(scope: Scope) -> Value:
        nested = nested_scope(scope, {name: Lazy(initial, scope)})
        try:
            return result(nested)
        finally:
            scope.budget = min(scope.budget, nested.budget)

    return run


def _loop(node: Comprehension) -> Program:
    around, initial = _compile(node.range), _compile(node.initial)
    condition, step, result = _compile(node.condition), _compile(node.step), _compile(node.result)
    accumulator, first, second = node.accumulator, node.variable, node.second_variable

    def run(scope: Scope) -> Value:
        items = operators.iterated(around(scope), pairs=bool(second))
        nested = nested_scope(scope, {accumulator: initial(scope)})
        variables = nested.variables
        try:
            for item, value in items:
                nested.spend(1)
                variables[first] = item
                if second:
                    variables[second] = value
                if condition(nested) is False:
                    break
                variables[accumulator] = _attempt(step, nested)
            return result(nested)
        finally:
            scope.budget = min(scope.budget, nested.budget)

    return run


def _attempt(step: Program, scope: Scope) -> Value:
    try:
        return step(scope)
    except EvaluationError as error:
        if scope.budget < 0:
            raise
        return Failed(error)
