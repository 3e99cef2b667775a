"""Protobuf's wire format, as far as a checked expression needs it: no package at hand brings its classes.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Iterator, Mapping, Sequence

Fields = Mapping[int, Sequence[bytes | int]]
"""A message: the values of its fields by their numbers."""


def fields_of(data: bytes) -> dict[int, list[bytes | int]]:
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


def numbers(values: Sequence[bytes | int]) -> Iterator[int]:
    """Return repeated numbers, which may be packed."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        position = 0
        while position < len(value):
            number, position = _varint(value, position)
            yield number


def entries(fields: Fields, number: int) -> Iterator[tuple[int, bytes]]:
    """Return the entries of a map with numbers for keys."""
    for entry in map(fields_of, all_bytes(fields, number)):
        yield one_number(entry, 1), one_bytes(entry, 2)


def all_bytes(fields: Fields, number: int) -> list[bytes]:
    """Return a field's values that are messages, texts or bytes."""
    return [value for value in fields.get(number, ()) if isinstance(value, bytes)]


def one_bytes(fields: Fields, number: int) -> bytes:
    """Return a field's value, or nothing."""
    return next(iter(all_bytes(fields, number)), b"")


def texts(fields: Fields, number: int) -> list[str]:
    """Return a field's texts."""
    return [value.decode() for value in all_bytes(fields, number)]


def one_text(fields: Fields, number: int) -> str:
    """Return a field's text, or an empty one."""
    return one_bytes(fields, number).decode()


def one_number(fields: Fields, number: int) -> int:
    """Return a field's number, or 0."""
    return next((value for value in fields.get(number, ()) if isinstance(value, int)), 0)
