"""The checked expression as Google's checker hands it over: decoded from protobuf, with a type on every node.

Only the message CheckedExpr is read, field by field, since no package that is at hand brings its Python classes.
Source: `cel/expr/{checked,syntax}.proto` of github.com/google/cel-spec.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from dra.cel.values import Uint


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


_Fields = Mapping[int, Sequence[bytes | int]]

_DYN = Type("dyn")
_PRIMITIVES = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN = {1: "any", 2: "google.protobuf.Timestamp", 3: "google.protobuf.Duration"}


def decode(serialized: bytes) -> Node:
    """Return the expression in what `Expression.serialize()` returned: a CheckedExpr or ParsedExpr in an Any."""
    envelope = _fields(serialized)
    fields = _fields(_bytes(envelope, 2))
    if _text(envelope, 1).endswith("ParsedExpr"):
        # It has the expression and the source only, in other places.
        fields = {4: fields[2], 5: fields[3]}
    return _Decoder(fields).expression()


class _Decoder:
    def __init__(self, checked: _Fields) -> None:
        self._root = _bytes(checked, 4)
        self._types = {key: _type(value) for key, value in _entries(checked, 3)}
        self._overloads = {key: _texts(_fields(value), 3) for key, value in _entries(checked, 2)}
        source = _fields(_bytes(checked, 5))
        self._positions = {
            _number(entry, 1): _number(entry, 2) for entry in map(_fields, _all_bytes(source, 4))
        }

    def expression(self) -> Node:
        return self._node(self._root)

    def _node(self, data: bytes) -> Node:
        fields = _fields(data)
        identity = _number(fields, 2)
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
                return decode_kind(common, _fields(_bytes(fields, number)))
        raise ValueError("an expression of a kind that is not known")

    def _literal(self, common: tuple[int, Type, int], fields: _Fields) -> Node:
        identity, kind, position = common
        return Literal(id=identity, type=kind, position=position, value=_constant(fields))

    def _name(self, common: tuple[int, Type, int], fields: _Fields) -> Node:
        identity, kind, position = common
        return _qualified(Name(id=identity, type=kind, position=position, name=_text(fields, 1)))

    def _select(self, common: tuple[int, Type, int], fields: _Fields) -> Node:
        identity, kind, position = common
        return Select(
            id=identity,
            type=kind,
            position=position,
            operand=self._node(_bytes(fields, 1)),
            field=_text(fields, 2),
            test=bool(_number(fields, 3)),
        )

    def _call(self, common: tuple[int, Type, int], fields: _Fields) -> Node:
        identity, kind, position = common
        return Call(
            id=identity,
            type=kind,
            position=position,
            function=_text(fields, 2),
            target=self._node(_bytes(fields, 1)) if 1 in fields else None,
            arguments=[self._node(data) for data in _all_bytes(fields, 3)],
            overloads=self._overloads.get(identity, []),
        )

    def _list(self, common: tuple[int, Type, int], fields: _Fields) -> Node:
        identity, kind, position = common
        elements = [self._node(data) for data in _all_bytes(fields, 1)]
        optional = list(_varints(fields.get(2, ())))
        return ListOf(id=identity, type=kind, position=position, elements=elements, optional=optional)

    def _map(self, common: tuple[int, Type, int], fields: _Fields) -> Node:
        identity, kind, position = common
        entries = [_fields(data) for data in _all_bytes(fields, 2)]
        if 1 in fields:
            values = [self._node(_bytes(entry, 4)) for entry in entries]
            return Message(id=identity, type=kind, position=position, name=_text(fields, 1), values=values)
        nodes = [
            (self._node(_bytes(entry, 3)), self._node(_bytes(entry, 4)), bool(_number(entry, 5)))
            for entry in entries
        ]
        return MapOf(id=identity, type=kind, position=position, entries=nodes)

    def _comprehension(self, common: tuple[int, Type, int], fields: _Fields) -> Node:
        identity, kind, position = common
        return Comprehension(
            id=identity,
            type=kind,
            position=position,
            variable=_text(fields, 1),
            second_variable=_text(fields, 8),
            range=self._node(_bytes(fields, 2)),
            accumulator=_text(fields, 3),
            initial=self._node(_bytes(fields, 4)),
            condition=self._node(_bytes(fields, 5)),
            step=self._node(_bytes(fields, 6)),
            result=self._node(_bytes(fields, 7)),
        )


def _qualified(name: Name) -> Node:
    """Return `device.attributes`, which the environment declares as one name, as the selection that it reads as."""
    variable, dot, field = name.name.partition(".")
    if not dot or variable != "device":
        return name
    # An identity of its own keeps the two apart; the checker counts from 1.
    device = Name(id=-name.id, type=Type("kubernetes.DRADevice"), position=name.position, name=variable)
    return Select(id=name.id, type=name.type, position=name.position, operand=device, field=field, test=False)


def _constant(fields: _Fields) -> object:
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
def _type(data: bytes) -> Type:  # noqa: PLR0911 - one return for each kind of type
    for number, values in _fields(data).items():
        value = values[-1]
        nested = _fields(value) if isinstance(value, bytes) and number in {6, 7, 14} else {}
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
                return Type("list", (_type(_bytes(nested, 1)),))
            case 7, _:
                return Type("map", (_type(_bytes(nested, 1)), _type(_bytes(nested, 2))))
            case 9 | 10, bytes():
                return Type(value.decode())
            case 11, bytes():
                return Type("type", (_type(value),))
            case 14, _:
                return Type(_text(nested, 1), tuple(_type(parameter) for parameter in _all_bytes(nested, 2)))
            case _:
                return _DYN
    return _DYN


def _fields(data: bytes) -> dict[int, list[bytes | int]]:
    """Return a protobuf message's values by the numbers of their fields."""
    found: dict[int, list[bytes | int]] = {}
    position, end = 0, len(data)
    while position < end:
        tag, position = _varint(data, position)
        value, position = _varint(data, position) if tag & 7 != _FIXED else (8, position)
        if tag & 7 == _VARINT:
            found.setdefault(tag >> 3, []).append(value)
        else:
            found.setdefault(tag >> 3, []).append(data[position : position + value])
            position += value
    return found


_VARINT, _FIXED = 0, 1
"""Wire types; the third that is in use is bytes with their number before them."""


def _varint(data: bytes, position: int) -> tuple[int, int]:
    byte = data[position]
    position += 1
    if byte < 128:  # noqa: PLR2004 - the top bit says that more follows
        return byte, position
    value, shift = byte & 127, 7
    while True:
        byte = data[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:  # noqa: PLR2004 - as above
            return value, position


def _varints(values: Sequence[bytes | int]) -> Iterator[int]:
    """Return repeated numbers, which may be packed."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        position = 0
        while position < len(value):
            number, position = _varint(value, position)
            yield number


def _entries(fields: _Fields, number: int) -> Iterator[tuple[int, bytes]]:
    for entry in map(_fields, _all_bytes(fields, number)):
        yield _number(entry, 1), _bytes(entry, 2)


def _all_bytes(fields: _Fields, number: int) -> list[bytes]:
    return [value for value in fields.get(number, ()) if isinstance(value, bytes)]


def _bytes(fields: _Fields, number: int) -> bytes:
    return next(iter(_all_bytes(fields, number)), b"")


def _texts(fields: _Fields, number: int) -> list[str]:
    return [value.decode() for value in _all_bytes(fields, number)]


def _text(fields: _Fields, number: int) -> str:
    return _bytes(fields, number).decode()


def _number(fields: _Fields, number: int) -> int:
    return next((value for value in fields.get(number, ()) if isinstance(value, int)), 0)
