"""CEL's own operators.

Source: `common/stdlib` and `common/types` of cel-go 0.29.
"""

import math
from collections.abc import Callable

from dra.cel.errors import EvaluationError
from dra.cel.functions import function
from dra.cel.functions.conversions import text
from dra.cel.values import (
    MIN_INT,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    checked_int,
    checked_timestamp,
    checked_uint,
    compare,
    equal,
    equals,
    from_map_key,
    is_key,
    is_list,
    is_map,
    is_number,
    map_key,
    type_name,
)


def _duration(nanoseconds: int) -> Duration:
    return Duration(checked_int(nanoseconds))


def add(left: Value, right: Value) -> Value:
    """Return the sum, or two strings or lists one after the other."""
    match left, right:
        case bool(), _:
            raise EvaluationError("no such overload: _+_")
        case str(), str():
            return left + right
        case bytes(), bytes():
            return left + right
        case _ if is_list(left) and is_list(right):
            return [*left, *right]
        case Duration(), Duration():
            return _duration(left.nanoseconds + right.nanoseconds)
        case (Timestamp(), Duration()) | (Duration(), Timestamp()):
            return checked_timestamp(left.nanoseconds + right.nanoseconds)
        case _:
            return _arithmetic(left, right, lambda one, other: one + other)


def subtract(left: Value, right: Value) -> Value:
    """Return the difference."""
    match left, right:
        case (Duration(), Duration()) | (Timestamp(), Timestamp()):
            return _duration(left.nanoseconds - right.nanoseconds)
        case Timestamp(), Duration():
            return checked_timestamp(left.nanoseconds - right.nanoseconds)
        case _:
            return _arithmetic(left, right, lambda one, other: one - other)


def multiply(left: Value, right: Value) -> Value:
    """Return the product."""
    return _arithmetic(left, right, lambda one, other: one * other)


def divide(left: Value, right: Value) -> Value:
    """Return the quotient, of integers without its fraction."""
    if isinstance(left, float) and isinstance(right, float):
        if right == 0.0:
            return (
                math.nan
                if left == 0.0 or math.isnan(left)
                else math.copysign(math.inf, left) * math.copysign(1, right)
            )
        return left / right
    return _arithmetic(left, right, quotient)


def modulo(left: Value, right: Value) -> Value:
    """Return what is left of a division of integers."""
    if isinstance(left, float) or isinstance(right, float):
        raise EvaluationError("no such overload: _%_" if isinstance(left, float) else "no such overload")
    return _arithmetic(left, right, _remainder)


def quotient(left: int, right: int) -> int:
    """Return the quotient of integers without its fraction."""
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    if left == MIN_INT and right == -1:
        raise EvaluationError("integer overflow")
    return left - quotient(left, right) * right


def _arithmetic(left: Value, right: Value, operation: Callable[[Value, Value], Value]) -> Value:
    if not is_number(left) or type_name(left) != type_name(right):
        raise EvaluationError("no such overload")
    result = operation(left, right)
    if isinstance(left, float):
        return result
    return checked_uint(result) if isinstance(left, Uint) else checked_int(result)


def negate(value: Value) -> Value:
    """Return the number with its sign changed."""
    if not is_number(value) or isinstance(value, Uint):
        raise EvaluationError("no such overload")
    return -value if isinstance(value, float) else checked_int(-value)


def invert(value: Value) -> bool:
    """Return the opposite of a boolean."""
    if not isinstance(value, bool):
        raise EvaluationError("no such overload")
    return not value


def contains(element: Value, container: Value) -> bool:
    """Tell whether a list has an element or a map has a key."""
    if is_map(container):
        return is_key(element) and map_key(element) in container
    if is_list(container):
        return any(equals(element, item) for item in container)
    raise EvaluationError("no such overload")


def find(container: Value, key: Value) -> Optional:
    """Return what a map has under a key or a list at an index, or none."""
    if is_map(container):
        held = map_key(key) if is_key(key) else None
        return Optional(container[held], present=True) if held in container else Optional()
    if is_list(container):
        index = _index(key)
        return Optional(container[index], present=True) if 0 <= index < len(container) else Optional()
    return Optional()


def _index(key: Value) -> int:
    if isinstance(key, float) and key.is_integer():
        return int(key)
    if isinstance(key, bool) or not isinstance(key, int):
        raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")
    return key


def index(container: Value, key: Value) -> Value:
    """Return what a map has under a key or a list at an index."""
    found = find(container, key)
    if found.present:
        return found.value
    if isinstance(container, list):
        raise EvaluationError(f"index out of bounds: {text(key)}")
    raise EvaluationError(f"no such key: {text(key)}")


def ordering(name: str, test: Callable[[int], bool]) -> Callable[[Value, Value], bool]:
    """Return an operator that compares; doubles that are no numbers are in no order."""

    def operator(left: Value, right: Value) -> bool:
        if any(type_name(side) not in _ORDERED for side in (left, right)):
            raise EvaluationError(
                f"no such overload: {name}" if type_name(left) not in _ORDERED else "no such overload"
            )
        return test(compare(left, right))

    return operator


_ORDERED = {
    *("bool", "int", "uint", "double", "string", "bytes"),
    *("google.protobuf.Timestamp", "google.protobuf.Duration"),
}


def unequal(left: Value, right: Value) -> bool:
    """Tell whether two values are not equal, or cannot be compared."""
    return not equals(left, right)


OPERATORS: dict[str, Callable[..., Value]] = {
    "_==_": equal,
    "_!=_": unequal,
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "-_": negate,
    "!_": invert,
    "_[_]": index,
    "@in": contains,
    "_<_": ordering("_<_", lambda order: order < 0),
    "_<=_": ordering("_<=_", lambda order: order <= 0),
    "_>_": ordering("_>_", lambda order: order > 0),
    "_>=_": ordering("_>=_", lambda order: order >= 0),
}
"""Operators whose operands are all evaluated first."""


@function("size(string)")
@function("size(bytes)")
@function("size(list)")
@function("size(map)")
def size(value: Value) -> int:
    """Return how many characters, bytes, elements or entries there are."""
    return len(value)


@function("type(dyn)")
def type_of(value: Value) -> TypeValue:
    """Return the type of a value."""
    return TypeValue(type_name(value))


def iterated(value: Value, *, pairs: bool) -> list[tuple[Value, Value]]:
    """Return what a loop goes through: elements or keys, and with `pairs` indices or keys with the values."""
    if is_list(value):
        return list(enumerate(value)) if pairs else [(item, None) for item in value]
    if is_map(value):
        return [(from_map_key(key), held) for key, held in value.items()]
    raise EvaluationError(f"got '{type_name(value)}', expected iterable type")
