"""The checked expression as Google's checker hands it over: decoded from protobuf, with a type on every node.

Source: `cel/expr/{checked,syntax}.proto` of github.com/google/cel-spec.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from dra.cel.values import Uint
from dra.cel.wire import (
    Fields,
    all_bytes,
    entries,
    fields_of,
    numbers,
    one_bytes,
    one_number,
    one_text,
    texts,
)


@dataclass(frozen=True, slots=True)
class Type:
    """A type by its CEL name, such as `list` or `kubernetes.Quantity`, with its parameters."""

    name: str
    parameters: "tuple[Type, ...]" = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"


@dataclass(slots=True, kw_only=True)
class Node:
    """An expression. `position`: how many characters of the source stand before it."""

    id: int
    type: Type
    position: int


@dataclass(slots=True, kw_only=True)
class Literal(Node):
    """A constant."""

    value: object


@dataclass(slots=True, kw_only=True)
class Name(Node):
    """A variable, or a type used as a value."""

    name: str


@dataclass(slots=True, kw_only=True)
class Select(Node):
    """`operand.field`, or with `test` the question whether it is there: `has(operand.field)`."""

    operand: Node
    field: str
    test: bool


@dataclass(slots=True, kw_only=True)
class Call(Node):
    """A function or an operator, and the overloads that the checker found possible."""

    function: str
    target: Node | None
    arguments: Sequence[Node]
    overloads: Sequence[str]


@dataclass(slots=True, kw_only=True)
class ListOf(Node):
    """`[elements]`; those at the indices `optional` are left out if they are none."""

    elements: Sequence[Node]
    optional: Sequence[int]


@dataclass(slots=True, kw_only=True)
class MapOf(Node):
    """`{key: value}`; the third part tells whether the entry is left out if it is none."""

    entries: Sequence[tuple[Node, Node, bool]]


@dataclass(slots=True, kw_only=True)
class Message(Node):
    """`name{field: value}`."""

    name: str
    values: Sequence[Node]


@dataclass(slots=True, kw_only=True)
class Comprehension(Node):
    """What the macros all, exists, map, filter, bind and so on become."""

    variable: str
    second_variable: str
    range: Node
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node


def is_bind(node: Comprehension) -> bool:
    """Tell whether a comprehension is what cel.bind becomes."""
    return (
        isinstance(node.range, ListOf)
        and not node.range.elements
        and isinstance(node.condition, Literal)
        and node.condition.value is False
    )


_DYN = Type("dyn")
_PRIMITIVES = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN = {1: "any", 2: "google.protobuf.Timestamp", 3: "google.protobuf.Duration"}


def decode(serialized: bytes) -> Node:
    """Return the expression in what `Expression.serialize()` gave: a CheckedExpr or ParsedExpr in an Any."""
    envelope = fields_of(serialized)
    fields = fields_of(one_bytes(envelope, 2))
    if one_text(envelope, 1).endswith("ParsedExpr"):
        # It has the expression and the source only, in other places.
        fields = {4: fields[2], 5: fields[3]}
    return _Decoder(fields).expression()


class _Decoder:
    def __init__(self, checked: Fields) -> None:
        self._root = one_bytes(checked, 4)
        self._types = {key: _type(value) for key, value in entries(checked, 3)}
        self._overloads = {key: texts(fields_of(value), 3) for key, value in entries(checked, 2)}
        source = fields_of(one_bytes(checked, 5))
        self._positions = {
            one_number(entry, 1): one_number(entry, 2) for entry in map(fields_of, all_bytes(source, 4))
        }

    def expression(self) -> Node:
        return self._node(self._root)

    def _node(self, data: bytes) -> Node:
        fields = fields_of(data)
        identity = one_number(fields, 2)
        common = (identity, self._types.get(identity, _DYN), self._positions.get(identity, 0))
        for number, decode_kind in (
            (3, self._literal),
            (4, self._name),
            (5, self._select),
            (6, self._call),
            (7, self._list),
            (8, self._map),
            (9, self._comprehension),
        ):
            if number in fields:
                return decode_kind(common, fields_of(one_bytes(fields, number)))
        raise ValueError("an expression of a kind that is not known")

    def _literal(self, common: tuple[int, Type, int], fields: Fields) -> Node:
        identity, kind, position = common
        return Literal(id=identity, type=kind, position=position, value=_constant(fields))

    def _name(self, common: tuple[int, Type, int], fields: Fields) -> Node:
        identity, kind, position = common
        return _qualified(Name(id=identity, type=kind, position=position, name=one_text(fields, 1)))

    def _select(self, common: tuple[int, Type, int], fields: Fields) -> Node:
        identity, kind, position = common
        return Select(
            id=identity,
            type=kind,
            position=position,
            operand=self._node(one_bytes(fields, 1)),
            field=one_text(fields, 2),
            test=bool(one_number(fields, 3)),
        )

    def _call(self, common: tuple[int, Type, int], fields: Fields) -> Node:
        identity, kind, position = common
        return Call(
            id=identity,
            type=kind,
            position=position,
            function=one_text(fields, 2),
            target=self._node(one_bytes(fields, 1)) if 1 in fields else None,
            arguments=[self._node(data) for data in all_bytes(fields, 3)],
            overloads=self._overloads.get(identity, []),
        )

    def _list(self, common: tuple[int, Type, int], fields: Fields) -> Node:
        identity, kind, position = common
        elements = [self._node(data) for data in all_bytes(fields, 1)]
        optional = list(numbers(fields.get(2, ())))
        return ListOf(id=identity, type=kind, position=position, elements=elements, optional=optional)

    def _map(self, common: tuple[int, Type, int], fields: Fields) -> Node:
        identity, kind, position = common
        entries = [fields_of(data) for data in all_bytes(fields, 2)]
        if 1 in fields:
            values = [self._node(one_bytes(entry, 4)) for entry in entries]
            return Message(id=identity, type=kind, position=position, name=one_text(fields, 1), values=values)
        nodes = [
            (self._node(one_bytes(entry, 3)), self._node(one_bytes(entry, 4)), bool(one_number(entry, 5)))
            for entry in entries
        ]
        return MapOf(id=identity, type=kind, position=position, entries=nodes)

    def _comprehension(self, common: tuple[int, Type, int], fields: Fields) -> Node:
        identity, kind, position = common
        return Comprehension(
            id=identity,
            type=kind,
            position=position,
            variable=one_text(fields, 1),
            second_variable=one_text(fields, 8),
            range=self._node(one_bytes(fields, 2)),
            accumulator=one_text(fields, 3),
            initial=self._node(one_bytes(fields, 4)),
            condition=self._node(one_bytes(fields, 5)),
            step=self._node(one_bytes(fields, 6)),
            result=self._node(one_bytes(fields, 7)),
        )


def _qualified(name: Name) -> Node:
    """Return `device.attributes`, which the environment declares as one name, as a selection."""
    variable, dot, field = name.name.partition(".")
    if not dot or variable != "device":
        return name
    # An identity of its own keeps the two apart; the checker counts from 1.
    device = Name(id=-name.id, type=Type("kubernetes.DRADevice"), position=name.position, name=variable)
    return Select(id=name.id, type=name.type, position=name.position, operand=device, field=field, test=False)


def _constant(fields: Fields) -> object:  # noqa: PLR0911 - one return for each kind of constant
    for number, values in fields.items():
        value = values[-1]
        match number, value:
            case 2, int():
                return bool(value)
            case 3, int():
                return value - 2**64 if value >= 2**63 else value
            case 4, int():
                return Uint(value)
            case 5, bytes():
                return struct.unpack("<d", value)[0]
            case 6, bytes():
                return value.decode()
            case 7, bytes():
                return value
            case _:
                return None
    return None


@cache
def _type(data: bytes) -> Type:  # noqa: C901, PLR0911 - one return for each kind of type
    for number, values in fields_of(data).items():
        value = values[-1]
        nested = fields_of(value) if isinstance(value, bytes) and number in {6, 7, 14} else {}
        match number, value:
            case 2, _:
                return Type("null_type")
            case 3, int():
                return Type(_PRIMITIVES[value])
            case 4, int():
                return Type("wrapper", (Type(_PRIMITIVES[value]),))
            case 5, int():
                return Type(_WELL_KNOWN[value])
            case 6, _:
                return Type("list", (_type(one_bytes(nested, 1)),))
            case 7, _:
                return Type("map", (_type(one_bytes(nested, 1)), _type(one_bytes(nested, 2))))
            case 9 | 10, bytes():
                return Type(value.decode())
            case 11, bytes():
                return Type("type", (_type(value),))
            case 14, _:
                return Type(
                    one_text(nested, 1), tuple(_type(parameter) for parameter in all_bytes(nested, 2))
                )
            case _:
                return _DYN
    return _DYN
