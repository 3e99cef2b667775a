"""What is collected while one object is decoded, and where in it the decoding is."""

from typing import TYPE_CHECKING, Any, NamedTuple

from dra import codes
from dra.gates import Target
from dra.validation.json_words import json_kind
from dra.validation.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from dra.validation.problem import Dropped

_MAX_SIZE = 3 * 1024 * 1024
"""Bytes of JSON that the API server reads of a request."""


class TooLargeError(Exception):
    """The object is larger than what the API server reads of a request."""


class Place(NamedTuple):
    """Where a value stands: its path, the same without indices, and the struct that has it as a field."""

    path: str
    names: str
    owner: str

    def item(self, index: int) -> "Place":
        """Return the place of an item of this list."""
        return self._replace(path=f"{self.path}[{index}]")

    def under(self, key: str) -> "Place":
        """Return the place of a value of this map."""
        return self._replace(path=f"{self.path}.{key}")

    def field(self, name: str, owner: str) -> "Place":
        """Return the place of a field of this struct."""
        return Place(joined(self.path, name), joined(self.names, name), owner)


class Reader(NamedTuple):
    """How a type is read, and what Go calls it."""

    go: str
    read: "Callable[[Decoder, Any, Place], Any]"


class Decoder:
    """What is wrong with one object, and what is dropped from it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.wrong: list[Problem] = []
        """What cannot be read; in front what ends the reading of the API server at once."""
        self.unknown: list[Problem] = []
        self.dropped: list[Dropped] = []
        self._size = 0
        self._unreadable = 0

    def count(self, size: int = 1) -> None:
        """Count a value of at least so many bytes of JSON; raise TooLargeError where all are too many."""
        self._size += size
        if self._size > _MAX_SIZE:
            raise TooLargeError

    def unreadable(self, place: Place, message: str, remedy: str) -> None:
        """Take down a text that stands for nothing: the API server reads no further than to the first."""
        problem = Problem(path=place.path, message=message, remedy=remedy, code=codes.WRONG_TYPE.code)
        self.wrong.insert(self._unreadable, problem)
        self._unreadable += 1

    def mistyped(self, place: Place, raw: object, go: str, remedy: str, *, stops: bool = False) -> None:
        """Take down a value of the wrong type; `stops`: one on which the API server reads no further."""
        where = f"Go struct field {place.owner}.{place.names}" if place.names else "Go value"
        message = f"json: cannot unmarshal {json_kind(raw, go)} into {where} of type {go}"
        if stops:
            self.unreadable(place, message, remedy)
            return
        code = codes.WRONG_TYPE.code
        self.wrong.append(Problem(path=place.path, message=message, remedy=remedy, code=code))


def joined(path: str, name: str) -> str:
    """Return the path of a field."""
    return f"{path}.{name}" if path else name
