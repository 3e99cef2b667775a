"""What a call can cost at most by the sizes of its arguments: the API server's estimate by function.

Source: `checker/cost.go` and `ext` of cel-go 0.29, `k8s.io/apiserver/pkg/cel/library/cost.go` and
`k8s.io/dynamic-resource-allocation/cel/compile.go`, Kubernetes 1.37.2.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from dra.cel.syntax import Literal, Node, Type

ENDLESS = 2**64 - 1
_TRAVERSAL, _REGEX = 0.1, 0.25
LIST, MAP, STRUCT = 10, 30, 40

_KEYS = 32
"""Attributes and capacities of a device, at most; an identifier is as long, at most."""
_NAME = 63
_VALUE = 64


class Range(NamedTuple):
    """The least and the most of a size or a cost."""

    low: int
    high: int

    def __add__(self, other: "Range") -> "Range":  # type: ignore[override] - ranges are added, not joined
        return Range(_cap(self.low + other.low), _cap(self.high + other.high))

    def times(self, other: "Range") -> "Range":
        """Return the product."""
        return Range(_cap(self.low * other.low), _cap(self.high * other.high))

    def scaled(self, factor: float) -> "Range":
        """Return it by a factor, rounded up."""
        return Range(_scaled(self.low, factor), _scaled(self.high, factor))

    def union(self, other: "Range") -> "Range":
        """Return the range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


NOTHING, ONE, UNKNOWN = Range(0, 0), Range(1, 1), Range(0, ENDLESS)
EMPTY = Range(ENDLESS, 0)


def _cap(number: int) -> int:
    return min(number, ENDLESS)


def _scaled(number: int, factor: float) -> int:
    product = math.ceil(float(number) * factor)
    return min(ENDLESS, product)


Path = tuple[str, ...]
"""How to come to a value from `device`; empty if that is not known."""


@dataclass(slots=True)
class Operand:
    """What is known of a target or an argument."""

    node: Node | None
    type: Type
    path: Path
    computed: Range | None

    @property
    def size(self) -> Range:
        """The size, which the limits of a ResourceSlice tell where the expression does not."""
        return self.computed or path_size(self.path) or UNKNOWN


class Estimate(NamedTuple):
    """The cost of a call without its arguments', and the size of its result."""

    cost: Range
    size: Range | None = None


def path_size(path: Path) -> Range | None:  # noqa: PLR0911 - one return for each kind of path
    """Return the size of what a path below `device` leads to, by the limits of a ResourceSlice."""
    match path:
        case ("device",):
            return NOTHING
        case ("device", "driver"):
            return Range(0, _NAME)
        case ("device", "allowMultipleAllocations"):
            return Range(0, 1)
        case ("device", "attributes" | "capacity") | ("device", "attributes" | "capacity", "@values"):
            return Range(0, _KEYS)
        case ("device", "attributes" | "capacity", "@keys"):
            return Range(0, _NAME)
        case ("device", "attributes" | "capacity", "@values", "@keys"):
            return Range(0, _KEYS)
        case ("device", "capacity", "@values", "@values"):
            return NOTHING
        case ("device", "attributes", "@values", field) if field not in {"@items", "@indices"}:
            return Range(0, _VALUE)
        case ("device", "attributes", "@values", "@items" | "@indices"):
            return Range(0, _VALUE)
        case _:
            return None


def known(operand: Operand) -> Range:
    """Return the size as cel-go alone knows it."""
    return operand.computed or UNKNOWN


def standard_call(  # noqa: C901, PLR0911, PLR0912 - one return for each function
    overload: str, target: Operand | None, arguments: list[Operand]
) -> Estimate:
    """Return the cost of a call of CEL's own functions: 1 if it is not known to take longer."""
    sizes = [known(argument) for argument in arguments]
    match overload, target, sizes:
        case "string_format", Operand(), _:
            return Estimate(known(target).scaled(_TRAVERSAL))
        case "string_to_bytes", _, [size]:
            return Estimate(size.scaled(_TRAVERSAL), Range(size.low, _cap(size.high * 4)))
        case "bytes_to_string", _, [size]:
            return Estimate(size.scaled(_TRAVERSAL), Range(size.low // 4, size.high))
        case "strings_quote", _, [size]:
            return Estimate(size.scaled(_TRAVERSAL), Range(_cap(size.low + 2), _cap(size.high * 2 + 2)))
        case "starts_with_string" | "ends_with_string", _, [size]:
            return Estimate(size.scaled(_TRAVERSAL))
        case "in_list", _, [_, size]:
            return Estimate(size)
        case "matches_string", Operand(), [pattern]:
            return Estimate(_matching(known(target), pattern))
        case "matches", None, [text, pattern]:
            return Estimate(_matching(text, pattern))
        case "contains_string", Operand(), [size]:
            return Estimate(known(target).scaled(_TRAVERSAL).times(size.scaled(_TRAVERSAL)))
        case "add_list", _, [left, right]:
            return Estimate(ONE, left + right)
        case "add_string" | "add_bytes", _, [left, right]:
            return Estimate((left + right).scaled(_TRAVERSAL), left + right)
        case _, _, [left, right] if overload in _TRAVERSING:
            most = min(left.high, right.high)
            return Estimate(Range(min(most, 1), most).scaled(_TRAVERSAL))
        case _:
            return Estimate(ONE)


_TRAVERSING = {
    "equals",
    "not_equals",
    *(
        f"{verb}_{kind}"
        for verb in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    ),
}


def _matching(text: Range, pattern: Range) -> Range:
    return (text + ONE).scaled(_TRAVERSAL).times(pattern.scaled(_REGEX))


def extension_call(  # noqa: PLR0911 - one return for each function
    overload: str, target: Operand | None, arguments: list[Operand]
) -> Estimate | None:
    """Return the cost of a call of the set and list libraries."""
    if overload.startswith("list_sets_"):
        factor = 2 if overload == "list_sets_equivalent_list" else 1
        return Estimate(arguments[0].size.times(arguments[1].size).scaled(factor) + ONE)
    if overload in {"list_range", "lists_range"}:
        number = _number(arguments[0], ENDLESS)
        return _allocating(1, Range(number, number))
    if target is None:
        return None
    size = target.size
    match overload:
        case "list_slice":
            length = (_number(arguments[1], size.high) - _number(arguments[0], 0)) % 2**64
            return _allocating(1, Range(length, length))
        case "list_reverse":
            return _allocating(1, size)
        case "list_flatten" | "list_flatten_int":
            return _allocating(_number(arguments[0], ENDLESS) if arguments else 1, size)
        case "list_distinct":
            return _allocating(2, size.times(size))
        case _ if overload.endswith("_sort"):
            return _allocating(_sort_factor(overload), size.times(size))
        case _ if overload.endswith("_sortByAssociatedKeys"):
            return _allocating(_sort_factor(overload), arguments[0].size.times(arguments[0].size))
        case _:
            return None


def _allocating(factor: float, size: Range) -> Estimate:
    return Estimate(size.scaled(factor) + ONE + Range(LIST, LIST), size)


def _sort_factor(overload: str) -> float:
    return 2 + _TRAVERSAL if overload.split("_")[1] in {"string", "bytes"} else 2


def _number(operand: Operand, default: int) -> int:
    """Return the number that an argument is written as."""
    value = operand.node.value if isinstance(operand.node, Literal) else None
    return max(value, 0) if type(value) is int else default


_CHEAP = {
    *("masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
    *("isLinkLocalUnicast", "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger"),
    *(
        "asApproximateFloat",
        "isGreaterThan",
        "isLessThan",
        "compareTo",
        "add",
        "sub",
        "major",
        "minor",
        "patch",
    ),
    *("getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
}
_READING = {"cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"}
_SCANNING = {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"}
_ADDRESS = Range(4, 16)
_LONGEST_FORMAT, _LONGEST_NAME = 64, 128


def kubernetes_call(  # noqa: C901, PLR0911, PLR0912 - one return for each function
    function: str, overload: str, target: Operand | None, arguments: list[Operand]
) -> Estimate | None:
    """Return the cost of a call of the Kubernetes and string libraries."""
    if function in _CHEAP or overload == "cidr_ip":
        return Estimate(ONE)
    if function in _READING and arguments:
        return Estimate(arguments[0].size.scaled(_TRAVERSAL))
    match function, target, arguments:
        case _, Operand(), _ if function in _SCANNING:
            return Estimate(_scan(function, target))
        case "url", _, [text]:
            return Estimate(text.size.scaled(_TRAVERSAL), text.size)
        case "ip.isCanonical", _, [text]:
            return Estimate(text.size.scaled(2 * _TRAVERSAL))
        case "lowerAscii" | "upperAscii" | "substring" | "trim", Operand(), _:
            return Estimate(target.size.scaled(_TRAVERSAL), target.size)
        case "replace", Operand(), [old, new, *_]:
            return Estimate(target.size.scaled(2 * _TRAVERSAL), _replaced(target.size, old.size, new.size))
        case "split", Operand(), [_, *rest]:
            limit = rest[0].node.value if rest and isinstance(rest[0].node, Literal) else None
            most = limit % 2**64 if type(limit) is int else target.size.high
            return Estimate(target.size.scaled(2 * _TRAVERSAL), Range(0, most))
        case "join", Operand(), _:
            size = _joined(target, arguments)
            return Estimate(size.scaled(_TRAVERSAL), size)
        case "find" | "findAll", Operand(), [pattern, *_]:
            return Estimate(_matching(target.size, pattern.size), Range(0, target.size.high))
        case "containsIP" | "containsCIDR", _, [other, *_]:
            return Estimate(_containing(function, overload, other))
        case "validate", _, [text, *_]:
            return Estimate(text.size.scaled(_TRAVERSAL).scaled(_LONGEST_NAME * _REGEX))
        case "_==_", _, [left, right] if left.type == right.type:
            return _equality(left, right)
        case _:
            return None


def _scan(function: str, target: Operand) -> Range:
    """Return the cost of going through a list, or through a string for indexOf and lastIndexOf."""
    element = target.type.parameters[0] if target.type.parameters else None
    if element is None:
        return target.size if function == "includes" else target.size.scaled(_TRAVERSAL)
    if element.name not in {"string", "bytes"}:
        return target.size
    return target.size.times(ONE + _element_size(target).scaled(_TRAVERSAL))


def _element_size(target: Operand) -> Range:
    return path_size((*target.path, "@items") if target.path else ()) or UNKNOWN


def _replaced(size: Range, old: Range, new: Range) -> Range:
    """Return the length of a string after its replacements."""
    if old.low == 0:
        most, kept_most = _cap(size.high + 1), size.high
    elif new.high <= old.low:
        most, kept_most = 0, size.high
    else:
        most, kept_most = _scaled(size.high, 1 / old.low), 0
    if old.high == 0:
        least, kept_least = _cap(size.low + 1), size.low
    elif old.high <= new.low:
        least, kept_least = 0, size.low
    else:
        least, kept_least = _scaled(size.low, 1 / old.high), 0
    return Range(least, most).times(new) + Range(kept_least, kept_most)


def _joined(target: Operand, arguments: list[Operand]) -> Range:
    size = target.size.times(_element_size(target)) if target.type.parameters else NOTHING
    if arguments:
        separators = Range(max(target.size.low - 1, 0), max(target.size.high - 1, 0))
        size += arguments[0].size.times(separators)
    return size


def _containing(function: str, overload: str, other: Operand) -> Range:
    cost = (_ADDRESS + _ADDRESS).scaled(_TRAVERSAL)
    if function == "containsCIDR":
        cost += _ADDRESS.scaled(_TRAVERSAL) + ONE
    return cost + other.size.scaled(_TRAVERSAL) if overload.endswith("_string") else cost


def _equality(left: Operand, right: Operand) -> Estimate | None:
    match left.type.name:
        case "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver":
            return Estimate(ONE)
        case "kubernetes.NamedFormat":
            return Estimate(Range(1, _LONGEST_FORMAT).scaled(_TRAVERSAL))
        case "kubernetes.URL":
            return Estimate(Range(1, right.computed.high if right.computed else 1).scaled(_TRAVERSAL))
        case _:
            return None
