"""How much an expression can cost at most, before it has seen a device: the API server's estimate.

It follows cel-go node by node: sizes that are known from the expression or from the limits of a ResourceSlice
are multiplied up through the loops. What is not known counts as endless.
Source: `checker/cost.go` and `ext` of cel-go 0.29, `k8s.io/apiserver/pkg/cel/library/cost.go` and
`k8s.io/dynamic-resource-allocation/cel/compile.go`, Kubernetes 1.37.2.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dra.cel.syntax import Call, Comprehension, ListOf, Literal, MapOf, Message, Name, Node, Select, Type

LIMIT = 1_000_000
"""resourceapi.CELSelectorExpressionMaxCost: of the estimate, and again of an evaluation."""

_ENDLESS = 2**64 - 1
_TRAVERSAL, _REGEX = 0.1, 0.25
_LIST, _MAP, _STRUCT = 10, 30, 40

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


_NOTHING, _ONE, _UNKNOWN = Range(0, 0), Range(1, 1), Range(0, _ENDLESS)
_EMPTY = Range(_ENDLESS, 0)


def _cap(number: int) -> int:
    return min(number, _ENDLESS)


def _scaled(number: int, factor: float) -> int:
    product = math.ceil(float(number) * factor)
    return _ENDLESS if product >= _ENDLESS else product


class _Entries(NamedTuple):
    """The sizes of the keys and values of a list or a map."""

    container: str
    key: Range
    value: Range

    def union(self, other: "_Entries") -> "_Entries":
        return _Entries(self.container, self.key.union(other.key), self.value.union(other.value))


_Path = tuple[str, ...]


@dataclass(slots=True)
class _Variable:
    """A variable of a loop or of cel.bind."""

    path: _Path = ()
    size: Range | None = None
    entries: _Entries | None = None


@dataclass(slots=True)
class _Operand:
    """What is known of a target or an argument."""

    node: Node | None
    type: Type
    path: _Path
    computed: Range | None

    @property
    def size(self) -> Range:
        return self.computed or _path_size(self.path) or _UNKNOWN


class _Estimate(NamedTuple):
    """The cost of a call without its arguments', and the size of its result."""

    cost: Range
    size: Range | None = None


def estimate(expression: Node) -> int:
    """Return the most that an evaluation can cost; 2^64 - 1 if there is no bound."""
    return _Estimator().cost(expression).high


def _path_size(path: _Path) -> Range | None:
    """Return the size of what a path below `device` leads to, by the limits of a ResourceSlice."""
    match path:
        case ("device",):
            return _NOTHING
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
            return _NOTHING
        case ("device", "attributes", "@values", field) if field not in {"@items", "@indices"}:
            return Range(0, _VALUE)
        case ("device", "attributes", "@values", "@items" | "@indices"):
            return Range(0, _VALUE)
        case _:
            return None


_SCALARS = {"bool", "int", "uint", "double", "google.protobuf.Timestamp", "google.protobuf.Duration"}


def _is_scalar(kind: Type) -> bool:
    if kind.name == "optional_type" and kind.parameters:
        return _is_scalar(kind.parameters[0])
    return kind.name in _SCALARS


class _Estimator:
    def __init__(self) -> None:
        self._paths: dict[int, _Path] = {}
        self._variables: dict[str, list[_Variable]] = defaultdict(list)
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}

    def cost(self, node: Node) -> Range:
        match node:
            case Name():
                variable = self._variable(node.name)
                self._paths[node.id] = variable.path if variable else (node.name,)
                return _ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case Message():
                return _sum(self.cost(value) for value in node.values) + Range(_STRUCT, _STRUCT)
            case Comprehension():
                return self._bind(node) if is_bind(node) else self._loop(node)
            case _:
                return _NOTHING

    def _select(self, node: Select) -> Range:
        cost = self.cost(node.operand)
        if node.test:
            return cost
        self._paths[node.id] = (*self._path(node.operand), node.field)
        return cost + _ONE if node.operand.type.name in {"map", "kubernetes.DRADevice"} else cost

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            cost = self.cost(node.arguments[0])
            self._copy(node, node.arguments[0])
            return cost + _ONE
        costs = [self.cost(argument) for argument in node.arguments]
        arguments = [self._operand(argument) for argument in node.arguments]
        target_cost, target = _NOTHING, None
        if node.target:
            target_cost, target = self.cost(node.target), self._operand(node.target)
        total, size = _EMPTY, None
        for overload in node.overloads:
            found = self._overload(node, overload, target, arguments, costs)
            total = total.union(found.cost)
            if found.size:
                size = size.union(found.size) if size else found.size
            if overload in {"index_list", "index_map"}:
                entries = self._entry_sizes(node.arguments[0])
                size = entries.value if entries else None
                step = "@items" if overload == "index_list" else "@values"
                self._paths[node.id] = (*self._path(node.arguments[0]), step)
            size = size or self._size(node)
        if size:
            self._sizes[node.id] = size
        return target_cost + total if node.overloads else _NOTHING

    def _overload(
        self,
        node: Call,
        overload: str,
        target: _Operand | None,
        arguments: list[_Operand],
        costs: list[Range],
    ) -> _Estimate:
        spent = _sum(costs)
        found = _extension(overload, target, arguments) or _kubernetes(
            node.function, overload, target, arguments
        )
        if found:
            return _Estimate(found.cost + spent, found.size)
        match overload:
            case "logical_or" | "logical_and":
                return _Estimate(Range(costs[0].low, _sum(costs).high))
            case "conditional":
                yes, no = map(self._entry_sizes, node.arguments[1:])
                if yes and no:
                    self._entries[node.id] = yes.union(no)
                size = _known(arguments[1]).union(_known(arguments[2]))
                return _Estimate(costs[0] + costs[1].union(costs[2]), size)
            case "add_string" | "add_bytes" | "add_list":
                left, right = map(self._entry_sizes, node.arguments)
                if left and right:
                    self._entries[node.id] = left.union(right)
        standard = _standard(overload, target, arguments)
        return _Estimate(standard.cost + spent, standard.size)

    def _list(self, node: ListOf) -> Range:
        cost = _sum(self.cost(element) for element in node.elements)
        sizes = [self._size(element) or _UNKNOWN for element in node.elements]
        self._entries[node.id] = _Entries("list", _ONE, _union(sizes))
        return cost + Range(_LIST, _LIST)

    def _map(self, node: MapOf) -> Range:
        cost = _sum(self.cost(key) + self.cost(value) for key, value, _ in node.entries)
        keys = [self._size(key) or _UNKNOWN for key, _, _ in node.entries]
        values = [self._size(value) or _UNKNOWN for _, value, _ in node.entries]
        self._entries[node.id] = _Entries("map", _union(keys), _union(values))
        return cost + Range(_MAP, _MAP)

    def _loop(self, node: Comprehension) -> Range:
        cost = self.cost(node.range) + self.cost(node.initial)
        accumulator = _Variable(
            self._path(node.initial), self._size(node.initial), self._entry_sizes(node.initial)
        )
        self._variables[node.accumulator].append(accumulator)
        variables = self._iteration(node)
        for name, variable in variables.items():
            self._variables[name].append(variable)
        turn = self.cost(node.condition) + self.cost(node.step)
        for name in variables:
            self._variables[name].pop()
        cost += self.cost(node.result)
        self._variables[node.accumulator].pop()
        count = self._size(node.range) or _UNKNOWN
        if isinstance(node.initial, Literal):
            self._sizes[node.id] = self._size(node.initial) or _UNKNOWN
        elif isinstance(node.initial, ListOf | MapOf):
            self._sizes[node.id] = count
            if step := self._entry_sizes(node.step):
                self._entries[node.id] = step
        return cost + count.times(turn)

    def _iteration(self, node: Comprehension) -> dict[str, _Variable]:
        entries = self._entry_sizes(node.range)
        is_list = (entries.container if entries else node.range.type.name) == "list"
        key, value = (entries.key, entries.value) if entries else (None, None)
        path = self._path(node.range)
        values = _Variable((*path, "@items" if is_list else "@values"), value)
        if node.second_variable:
            keys = _Variable((*path, "@indices" if is_list else "@keys"), key)
            return {node.variable: keys, node.second_variable: values}
        return {node.variable: values if is_list else _Variable((*path, "@keys"), key)}

    def _bind(self, node: Comprehension) -> Range:
        cost = self.cost(node.range) + self.cost(node.initial)
        bound = _Variable(self._path(node.initial), self._size(node.initial), self._entry_sizes(node.initial))
        self._variables[node.accumulator].append(bound)
        cost += self.cost(node.result)
        self._variables[node.accumulator].pop()
        self._copy(node, node.result)
        return cost

    def _variable(self, name: str) -> _Variable | None:
        stack = self._variables.get(name)
        return stack[-1] if stack else None

    def _path(self, node: Node) -> _Path:
        variable = self._variable(node.name) if isinstance(node, Name) else None
        return variable.path if variable else self._paths.get(node.id, ())

    def _operand(self, node: Node) -> _Operand:
        path = self._path(node)
        if path[:1] == ("@result",):
            path = ()
        return _Operand(node, node.type, path, self._size(node))

    def _size(self, node: Node) -> Range | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        if size := _written_size(node):
            return size
        if size := _path_size(self._path(node)):
            self._sizes[node.id] = size
            return size
        if _is_scalar(node.type):
            return _ONE
        variable = self._variable(node.name) if isinstance(node, Name) else None
        return variable.size if variable else None

    def _entry_sizes(self, node: Node) -> _Entries | None:
        if node.id in self._entries:
            return self._entries[node.id]
        variable = self._variable(node.name) if isinstance(node, Name) else None
        return variable.entries if variable else None

    def _copy(self, node: Node, source: Node) -> None:
        if size := self._size(source):
            self._sizes[node.id] = size
        if entries := self._entry_sizes(source):
            self._entries[node.id] = entries


def is_bind(node: Comprehension) -> bool:
    """Tell whether a comprehension is what cel.bind becomes."""
    return (
        isinstance(node.range, ListOf)
        and not node.range.elements
        and isinstance(node.condition, Literal)
        and node.condition.value is False
    )


def _written_size(node: Node) -> Range | None:
    """Return the size of a value that stands in the expression itself."""
    match node:
        case Literal(value=str() | bytes() as value):
            return Range(len(value), len(value))
        case Literal():
            return _ONE
        case ListOf():
            return Range(len(node.elements), len(node.elements))
        case MapOf():
            return Range(len(node.entries), len(node.entries))
        case _:
            return None


def _known(operand: _Operand) -> Range:
    """Return the size as cel-go alone knows it."""
    return operand.computed or _UNKNOWN


def _sum(ranges: Iterable[Range]) -> Range:
    total = _NOTHING
    for addend in ranges:
        total += addend
    return total


def _union(ranges: list[Range]) -> Range:
    if not ranges:
        return _NOTHING
    total = _EMPTY
    for size in ranges:
        total = total.union(size)
    return total


def _standard(overload: str, target: _Operand | None, arguments: list[_Operand]) -> _Estimate:
    """Return the cost of a call of CEL's own functions: 1 if it is not known to take longer."""
    sizes = [_known(argument) for argument in arguments]
    match overload, target, sizes:
        case "string_format", _Operand(), _:
            return _Estimate(_known(target).scaled(_TRAVERSAL))
        case "string_to_bytes", _, [size]:
            return _Estimate(size.scaled(_TRAVERSAL), Range(size.low, _cap(size.high * 4)))
        case "bytes_to_string", _, [size]:
            return _Estimate(size.scaled(_TRAVERSAL), Range(size.low // 4, size.high))
        case "strings_quote", _, [size]:
            return _Estimate(size.scaled(_TRAVERSAL), Range(_cap(size.low + 2), _cap(size.high * 2 + 2)))
        case "starts_with_string" | "ends_with_string", _, [size]:
            return _Estimate(size.scaled(_TRAVERSAL))
        case "in_list", _, [_, size]:
            return _Estimate(size)
        case "matches_string", _Operand(), [pattern]:
            return _Estimate(_matching(_known(target), pattern))
        case "matches", None, [text, pattern]:
            return _Estimate(_matching(text, pattern))
        case "contains_string", _Operand(), [size]:
            return _Estimate(_known(target).scaled(_TRAVERSAL).times(size.scaled(_TRAVERSAL)))
        case "add_list", _, [left, right]:
            return _Estimate(_ONE, left + right)
        case "add_string" | "add_bytes", _, [left, right]:
            return _Estimate((left + right).scaled(_TRAVERSAL), left + right)
        case _, _, [left, right] if overload in _TRAVERSING:
            most = min(left.high, right.high)
            return _Estimate(Range(min(most, 1), most).scaled(_TRAVERSAL))
        case _:
            return _Estimate(_ONE)


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
    return (text + _ONE).scaled(_TRAVERSAL).times(pattern.scaled(_REGEX))


def _extension(overload: str, target: _Operand | None, arguments: list[_Operand]) -> _Estimate | None:
    """Return the cost of a call of the set and list libraries."""
    if overload.startswith("list_sets_"):
        factor = 2 if overload == "list_sets_equivalent_list" else 1
        return _Estimate(arguments[0].size.times(arguments[1].size).scaled(factor) + _ONE)
    if overload in {"list_range", "lists_range"}:
        number = _number(arguments[0], _ENDLESS)
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
            return _allocating(_number(arguments[0], _ENDLESS) if arguments else 1, size)
        case "list_distinct":
            return _allocating(2, size.times(size))
        case _ if overload.endswith("_sort"):
            return _allocating(_sort_factor(overload), size.times(size))
        case _ if overload.endswith("_sortByAssociatedKeys"):
            return _allocating(_sort_factor(overload), arguments[0].size.times(arguments[0].size))
        case _:
            return None


def _allocating(factor: float, size: Range) -> _Estimate:
    return _Estimate(size.scaled(factor) + _ONE + Range(_LIST, _LIST), size)


def _sort_factor(overload: str) -> float:
    return 2 + _TRAVERSAL if overload.split("_")[1] in {"string", "bytes"} else 2


def _number(operand: _Operand, default: int) -> int:
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


def _kubernetes(
    function: str, overload: str, target: _Operand | None, arguments: list[_Operand]
) -> _Estimate | None:
    """Return the cost of a call of the Kubernetes and string libraries."""
    if function in _CHEAP or overload == "cidr_ip":
        return _Estimate(_ONE)
    if function in _READING and arguments:
        return _Estimate(arguments[0].size.scaled(_TRAVERSAL))
    match function, target, arguments:
        case _, _Operand(), _ if function in _SCANNING:
            return _Estimate(_scan(function, target))
        case "url", _, [text]:
            return _Estimate(text.size.scaled(_TRAVERSAL), text.size)
        case "ip.isCanonical", _, [text]:
            return _Estimate(text.size.scaled(2 * _TRAVERSAL))
        case "lowerAscii" | "upperAscii" | "substring" | "trim", _Operand(), _:
            return _Estimate(target.size.scaled(_TRAVERSAL), target.size)
        case "replace", _Operand(), [old, new, *_]:
            return _Estimate(target.size.scaled(2 * _TRAVERSAL), _replaced(target.size, old.size, new.size))
        case "split", _Operand(), [_, *rest]:
            limit = rest[0].node.value if rest and isinstance(rest[0].node, Literal) else None
            most = limit % 2**64 if type(limit) is int else target.size.high
            return _Estimate(target.size.scaled(2 * _TRAVERSAL), Range(0, most))
        case "join", _Operand(), _:
            size = _joined(target, arguments)
            return _Estimate(size.scaled(_TRAVERSAL), size)
        case "find" | "findAll", _Operand(), [pattern, *_]:
            return _Estimate(_matching(target.size, pattern.size), Range(0, target.size.high))
        case "containsIP" | "containsCIDR", _, [other, *_]:
            return _Estimate(_containing(function, overload, other))
        case "validate", _, [text, *_]:
            return _Estimate(text.size.scaled(_TRAVERSAL).scaled(_LONGEST_NAME * _REGEX))
        case "_==_", _, [left, right] if left.type == right.type:
            return _equality(left, right)
        case _:
            return None


def _scan(function: str, target: _Operand) -> Range:
    """Return the cost of going through a list, or through a string for indexOf and lastIndexOf."""
    element = target.type.parameters[0] if target.type.parameters else None
    if element is None:
        return target.size if function == "includes" else target.size.scaled(_TRAVERSAL)
    if element.name not in {"string", "bytes"}:
        return target.size
    return target.size.times(_ONE + _element_size(target).scaled(_TRAVERSAL))


def _element_size(target: _Operand) -> Range:
    return _path_size((*target.path, "@items") if target.path else ()) or _UNKNOWN


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


def _joined(target: _Operand, arguments: list[_Operand]) -> Range:
    size = target.size.times(_element_size(target)) if target.type.parameters else _NOTHING
    if arguments:
        separators = Range(max(target.size.low - 1, 0), max(target.size.high - 1, 0))
        size += arguments[0].size.times(separators)
    return size


def _containing(function: str, overload: str, other: _Operand) -> Range:
    cost = (_ADDRESS + _ADDRESS).scaled(_TRAVERSAL)
    if function == "containsCIDR":
        cost += _ADDRESS.scaled(_TRAVERSAL) + _ONE
    return cost + other.size.scaled(_TRAVERSAL) if overload.endswith("_string") else cost


def _equality(left: _Operand, right: _Operand) -> _Estimate | None:
    match left.type.name:
        case "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver":
            return _Estimate(_ONE)
        case "kubernetes.NamedFormat":
            return _Estimate(Range(1, _LONGEST_FORMAT).scaled(_TRAVERSAL))
        case "kubernetes.URL":
            return _Estimate(Range(1, right.computed.high if right.computed else 1).scaled(_TRAVERSAL))
        case _:
            return None
