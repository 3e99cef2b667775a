"""Lists, sets, maps and optional values.

Source: `ext/{lists,sets,comprehensions}.go` and `cel/library.go` of cel-go 0.29,
`k8s.io/apiserver/pkg/cel/library/lists.go`, Kubernetes 1.37.2.
"""

from functools import cmp_to_key
from itertools import pairwise

from dra.cel.errors import EvaluationError
from dra.cel.functions import function
from dra.cel.functions.operators import add
from dra.cel.values import (
    NONE,
    Duration,
    Optional,
    Timestamp,
    Uint,
    Value,
    compare,
    equals,
    is_list,
    is_number,
    map_key,
    type_name,
)

_MAX_RANGE = 1_000_000


def _comparable(value: Value) -> Value:
    if not is_number(value) and not isinstance(value, bool | str | bytes | Duration | Timestamp):
        raise EvaluationError("no such overload")
    return value


@function("isSorted(list)")
def _is_sorted(items: list[Value]) -> bool:
    for item in items:
        _comparable(item)
    return all(compare(one, other) <= 0 for one, other in pairwise(items))


@function("min(list)")
def _min(items: list[Value]) -> Value:
    return _extreme("min", items, 1)


@function("max(list)")
def _max(items: list[Value]) -> Value:
    return _extreme("max", items, -1)


def _extreme(name: str, items: list[Value], worse: int) -> Value:
    if not items:
        raise EvaluationError(f"{name} called on empty list")
    best = _comparable(items[0])
    for item in items[1:]:
        if compare(best, _comparable(item)) == worse:
            best = item
    return best


_ZEROS = {"int": 0, "uint": Uint(0), "double": 0.0, "google.protobuf.Duration": Duration(0)}


def total(items: list[Value], kind: str) -> Value:
    """Return the sum of a list whose elements are of a kind."""
    result: Value = _ZEROS[kind]
    for item in items:
        result = add(result, item)
    return result


@function("indexOf(list, dyn)")
def _index_of(items: list[Value], item: Value) -> int:
    return next((index for index, other in enumerate(items) if equals(other, item)), -1)


@function("lastIndexOf(list, dyn)")
def _last_index_of(items: list[Value], item: Value) -> int:
    return next((index for index in reversed(range(len(items))) if equals(items[index], item)), -1)


@function("includes(dyn, dyn)")
def _includes(items: Value, item: Value) -> bool:
    return any(equals(other, item) for other in items) if is_list(items) else equals(items, item)


@function("slice(list, int, int)")
def _slice(items: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(
            f"cannot slice({start}, {end}), start index must be less than or equal to end index"
        )
    if len(items) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


@function("flatten(list)")
@function("flatten(list, int)")
def _flatten(items: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Value] = []
    for item in items:
        flat.extend(_flatten(item, depth - 1) if isinstance(item, list) and depth else [item])
    return flat


@function("lists.range(int)")
def _range(count: int) -> list[int]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > _MAX_RANGE:
        raise EvaluationError(f"lists.range: size {count} exceeds maximum allowed ({_MAX_RANGE})")
    return list(range(count))


@function("reverse(list)")
def _reverse(items: list[Value]) -> list[Value]:
    return items[::-1]


@function("distinct(list)")
def _distinct(items: list[Value]) -> list[Value]:
    distinct: list[Value] = []
    for item in items:
        if not any(equals(item, other) for other in distinct):
            distinct.append(item)
    return distinct


@function("sort(list)")
def _sort(items: list[Value]) -> list[Value]:
    return _sort_by(items, items)


@function("@sortByAssociatedKeys(list, list)")
def _sort_by(items: list[Value], keys: list[Value]) -> list[Value]:
    for key in keys:
        if not is_number(key) and not isinstance(key, bool | str | bytes | Duration | Timestamp):
            raise EvaluationError("list elements must be comparable")
    if len({type_name(key) for key in keys}) > 1:
        raise EvaluationError("list elements must have the same type")
    order = sorted(range(len(items)), key=lambda index: cmp_to_key(compare)(keys[index]))
    return [items[index] for index in order]


@function("sets.contains(list, list)")
def _sets_contains(items: list[Value], others: list[Value]) -> bool:
    return all(any(equals(other, item) for item in items) for other in others)


@function("sets.equivalent(list, list)")
def _sets_equivalent(items: list[Value], others: list[Value]) -> bool:
    return _sets_contains(items, others) and _sets_contains(others, items)


@function("sets.intersects(list, list)")
def _sets_intersects(items: list[Value], others: list[Value]) -> bool:
    return any(equals(item, other) for item in items for other in others)


@function("cel.@mapInsert(map, map)")
def _insert_all(entries: dict[Value, Value], others: dict[Value, Value]) -> dict[Value, Value]:
    for key in others:
        if key in entries:
            raise EvaluationError(f"insert failed: key {key} already exists")
    return entries | others


@function("cel.@mapInsert(map, dyn, dyn)")
def _insert(entries: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    return _insert_all(entries, {map_key(key): value})


@function("optional.of(dyn)")
def _optional_of(value: Value) -> Optional:
    return Optional(value, present=True)


@function("optional.ofNonZeroValue(dyn)")
def _optional_of_non_zero(value: Value) -> Optional:
    match value:
        case Duration() | Timestamp():
            zero = value.nanoseconds == 0
        case None | bool() | int() | float() | str() | bytes() | list() | dict():
            zero = not value
        case Optional():
            zero = not value.present
        case _:
            zero = False
    return NONE if zero else Optional(value, present=True)


@function("optional.none()")
def _optional_none() -> Optional:
    return NONE


@function("value(optional)")
def _value(optional: Optional) -> Value:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


@function("hasValue(optional)")
def _has_value(optional: Optional) -> bool:
    return optional.present


@function("first(list)")
def _first(items: list[Value]) -> Optional:
    return Optional(items[0], present=True) if items else NONE


@function("last(list)")
def _last(items: list[Value]) -> Optional:
    return Optional(items[-1], present=True) if items else NONE


@function("optional.unwrap(list)")
@function("unwrapOpt(list)")
def _unwrap(items: list[Value]) -> list[Value]:
    return [item.value for item in items if item.present]
