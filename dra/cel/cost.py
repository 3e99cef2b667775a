"""How much an expression can cost at most, before it has seen a device: the API server's estimate.

It follows cel-go node by node: sizes that are known from the expression or from the limits of a ResourceSlice
are multiplied up through the loops. What is not known counts as endless.
Source: `checker/cost.go` and `ext` of cel-go 0.29, `k8s.io/apiserver/pkg/cel/library/cost.go` and
`k8s.io/dynamic-resource-allocation/cel/compile.go`, Kubernetes 1.37.2.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dra.cel.call_cost import (
    EMPTY,
    LIST,
    MAP,
    NOTHING,
    ONE,
    STRUCT,
    UNKNOWN,
    Estimate,
    Operand,
    Path,
    Range,
    extension_call,
    known,
    kubernetes_call,
    path_size,
    standard_call,
)
from dra.cel.syntax import (
    Call,
    Comprehension,
    ListOf,
    Literal,
    MapOf,
    Message,
    Name,
    Node,
    Select,
    Type,
    is_bind,
)

LIMIT = 1_000_000
"""resourceapi.CELSelectorExpressionMaxCost: of the estimate, and again of an evaluation."""


class _Entries(NamedTuple):
    """The sizes of the keys and values of a list or a map."""

    container: str
    key: Range
    value: Range

    def union(self, other: "_Entries") -> "_Entries":
        return _Entries(self.container, self.key.union(other.key), self.value.union(other.value))


@dataclass(slots=True)
class _Variable:
    """A variable of a loop or of cel.bind."""

    path: Path = ()
    size: Range | None = None
    entries: _Entries | None = None


def estimate(expression: Node) -> int:
    """Return the most that an evaluation can cost; 2^64 - 1 if there is no bound."""
    return _Estimator().cost(expression).high


_SCALARS = {"bool", "int", "uint", "double", "google.protobuf.Timestamp", "google.protobuf.Duration"}


def _is_scalar(kind: Type) -> bool:
    if kind.name == "optional_type" and kind.parameters:
        return _is_scalar(kind.parameters[0])
    return kind.name in _SCALARS


class _Estimator:
    def __init__(self) -> None:
        self._paths: dict[int, Path] = {}
        self._variables: dict[str, list[_Variable]] = defaultdict(list)
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}

    def cost(self, node: Node) -> Range:  # noqa: PLR0911 - one return for each kind of node
        match node:
            case Name():
                variable = self._variable(node.name)
                self._paths[node.id] = variable.path if variable else (node.name,)
                return ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case Message():
                return _sum(self.cost(value) for value in node.values) + Range(STRUCT, STRUCT)
            case Comprehension():
                return self._bind(node) if is_bind(node) else self._loop(node)
            case _:
                return NOTHING

    def _select(self, node: Select) -> Range:
        cost = self.cost(node.operand)
        if node.test:
            return cost
        self._paths[node.id] = (*self._path(node.operand), node.field)
        return cost + ONE if node.operand.type.name in {"map", "kubernetes.DRADevice"} else cost

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            cost = self.cost(node.arguments[0])
            self._copy(node, node.arguments[0])
            return cost + ONE
        costs = [self.cost(argument) for argument in node.arguments]
        arguments = [self._operand(argument) for argument in node.arguments]
        target_cost, target = NOTHING, None
        if node.target:
            target_cost, target = self.cost(node.target), self._operand(node.target)
        total, size = EMPTY, None
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
        return target_cost + total if node.overloads else NOTHING

    def _overload(
        self,
        node: Call,
        overload: str,
        target: Operand | None,
        arguments: list[Operand],
        costs: list[Range],
    ) -> Estimate:
        spent = _sum(costs)
        found = extension_call(overload, target, arguments) or kubernetes_call(
            node.function, overload, target, arguments
        )
        if found:
            return Estimate(found.cost + spent, found.size)
        match overload:
            case "logical_or" | "logical_and":
                return Estimate(Range(costs[0].low, _sum(costs).high))
            case "conditional":
                yes, no = map(self._entry_sizes, node.arguments[1:])
                if yes and no:
                    self._entries[node.id] = yes.union(no)
                size = known(arguments[1]).union(known(arguments[2]))
                return Estimate(costs[0] + costs[1].union(costs[2]), size)
            case "add_string" | "add_bytes" | "add_list":
                left, right = map(self._entry_sizes, node.arguments)
                if left and right:
                    self._entries[node.id] = left.union(right)
            case _:
                pass
        standard = standard_call(overload, target, arguments)
        return Estimate(standard.cost + spent, standard.size)

    def _list(self, node: ListOf) -> Range:
        cost = _sum(self.cost(element) for element in node.elements)
        sizes = [self._size(element) or UNKNOWN for element in node.elements]
        self._entries[node.id] = _Entries("list", ONE, _union(sizes))
        return cost + Range(LIST, LIST)

    def _map(self, node: MapOf) -> Range:
        cost = _sum(self.cost(key) + self.cost(value) for key, value, _ in node.entries)
        keys = [self._size(key) or UNKNOWN for key, _, _ in node.entries]
        values = [self._size(value) or UNKNOWN for _, value, _ in node.entries]
        self._entries[node.id] = _Entries("map", _union(keys), _union(values))
        return cost + Range(MAP, MAP)

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
        count = self._size(node.range) or UNKNOWN
        if isinstance(node.initial, Literal):
            self._sizes[node.id] = self._size(node.initial) or UNKNOWN
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

    def _path(self, node: Node) -> Path:
        variable = self._variable(node.name) if isinstance(node, Name) else None
        return variable.path if variable else self._paths.get(node.id, ())

    def _operand(self, node: Node) -> Operand:
        path = self._path(node)
        if path[:1] == ("@result",):
            path = ()
        return Operand(node, node.type, path, self._size(node))

    def _size(self, node: Node) -> Range | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        if size := _written_size(node):
            return size
        if size := path_size(self._path(node)):
            self._sizes[node.id] = size
            return size
        if _is_scalar(node.type):
            return ONE
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


def _written_size(node: Node) -> Range | None:
    """Return the size of a value that stands in the expression itself."""
    match node:
        case Literal(value=str() | bytes() as value):
            return Range(len(value), len(value))
        case Literal():
            return ONE
        case ListOf():
            return Range(len(node.elements), len(node.elements))
        case MapOf():
            return Range(len(node.entries), len(node.entries))
        case _:
            return None


def _sum(ranges: Iterable[Range]) -> Range:
    total = NOTHING
    for addend in ranges:
        total += addend
    return total


def _union(ranges: list[Range]) -> Range:
    if not ranges:
        return NOTHING
    total = EMPTY
    for size in ranges:
        total = total.union(size)
    return total
