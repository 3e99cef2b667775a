"""Values of CEL that Python does not have, and how values are compared: as cel-go and Kubernetes do it.

int, float, bool, str, bytes, list and dict stand for CEL's own; None is null. A dict's keys are `map_key()`s.
Source: `common/types` of cel-go 0.29 and `k8s.io/apiserver/pkg/cel`, Kubernetes 1.37.2.
"""

import ipaddress
import math
import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Any, Self
from urllib.parse import SplitResult

from dra.quantity import Quantity

MIN_INT, MAX_INT, MAX_UINT = -(2**63), 2**63 - 1, 2**64 - 1


class EvaluationError(ValueError):
    """A selector failed on a device; the text is what the scheduler says after `CEL runtime error: `."""


class Uint(int):
    """An unsigned integer."""


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time, in nanoseconds since 1970 UTC."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type used as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be none."""

    value: Any = None
    present: bool = False


NONE = Optional()


@dataclass(frozen=True, slots=True)
class Format:
    """A named format of the Kubernetes format library."""

    name: str


@dataclass(frozen=True, slots=True)
class Url:
    """A URL, in parts and as it was written."""

    parts: SplitResult
    text: str


@dataclass(frozen=True, slots=True)
class Cidr:
    """An address with the length of a prefix; the bits behind the prefix may be set."""

    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    length: int

    def masked(self) -> "Cidr":
        """Return it with the bits behind the prefix cleared."""
        network = ipaddress.ip_network(f"{self.address}/{self.length}", strict=False)
        return Cidr(network.network_address, self.length)

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Sum(Quantity):
    """What adding to or subtracting from a quantity made.

    Kubernetes returns it in a form that its own comparison does not know: `x == y.add(z)` fails, while
    `y.add(z) == x` holds.
    """

    __slots__ = ()


_NUMBER = re.compile(r"[0-9]+", re.ASCII)
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+", re.ASCII)


@total_ordering
class Semver:
    """A semantic version, compared without its build metadata.

    The package `semver` accepts and says other things than the library of Kubernetes, github.com/blang/semver.
    """

    __slots__ = ("build", "key", "numbers", "prerelease", "text")

    def __init__(self, numbers: tuple[int, int, int], prerelease: tuple[str, ...], text: str) -> None:
        self.numbers, self.prerelease, self.text = numbers, prerelease, text
        # Numbers come before words; a release comes after all its prereleases.
        order = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in prerelease)
        self.key = (numbers, not prerelease, order)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the version; raise EvaluationError with the words of the library."""
        if not text:
            raise EvaluationError("Version string empty")
        parts = text.split(".", 2)
        if len(parts) != 3:  # noqa: PLR2004 - major, minor, patch
            raise EvaluationError("No Major.Minor.Patch elements found")
        major, minor = _number("major", parts[0]), _number("minor", parts[1])
        patch, plus, build = parts[2].partition("+")
        patch, dash, prerelease = patch.partition("-")
        numbers = (major, minor, _number("patch", patch))
        names = tuple(prerelease.split(".")) if dash else ()
        for name in names:
            _check_prerelease(name)
        for name in build.split(".") if plus else ():
            if not name:
                raise EvaluationError("Build meta data is empty")
            if not _IDENTIFIER.fullmatch(name):
                raise EvaluationError(f"Invalid character(s) found in build meta data {_quoted(name)}")
        return cls(numbers, names, text)

    @classmethod
    def normalize(cls, text: str) -> Self:
        """Return the version of a text that may start with v, lack parts, or have leading zeros."""
        parts = text.removeprefix("v").split(".", 2)
        parts = [_without_leading_zeros(part) if len(part.encode()) > 1 else part for part in parts]
        if len(parts) < 3:  # noqa: PLR2004 - major, minor, patch
            if set(parts[-1]) & {"+", "-"}:
                raise EvaluationError("short version cannot contain PreRelease/Build meta data")
            parts += ["0"] * (3 - len(parts))
        return cls.parse(".".join(parts))

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Semver) else NotImplemented

    def __lt__(self, other: "Semver") -> bool:
        return self.key < other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _number(part: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        if text:
            raise EvaluationError(f"Invalid character(s) found in {part} number {_quoted(text)}")
        raise EvaluationError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(f"{part.capitalize()} number must not contain leading zeroes {_quoted(text)}")
    if len(text) > 20 or int(text) > MAX_UINT:  # noqa: PLR2004 - digits of the largest uint64
        raise EvaluationError(f"strconv.ParseUint: parsing {_quoted(text)}: value out of range")
    return int(text)


def _check_prerelease(name: str) -> None:
    if not name:
        raise EvaluationError("Prerelease is empty")
    if _NUMBER.fullmatch(name):
        if len(name) > 1 and name[0] == "0":
            raise EvaluationError(
                f"Numeric PreRelease version must not contain leading zeroes {_quoted(name)}"
            )
    elif not _IDENTIFIER.fullmatch(name):
        raise EvaluationError(f"Invalid character(s) found in prerelease {_quoted(name)}")


def _without_leading_zeros(part: str) -> str:
    part = part.lstrip("0")
    return part if part[:1] in set("0123456789") and part else f"0{part}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    dict: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    TypeValue: "type",
    Optional: "optional_type",
    Quantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    Url: "kubernetes.URL",
    Format: "kubernetes.NamedFormat",
    Cidr: "net.CIDR",
    ipaddress.IPv4Address: "net.IP",
    ipaddress.IPv6Address: "net.IP",
}
_STRICT = (Quantity, Semver, Url, Format, Cidr, ipaddress.IPv4Address, ipaddress.IPv6Address)
"""Types of Kubernetes, which refuse to be compared with others where CEL's own are just not equal to them."""


def type_name(value: object) -> str:
    """Return the name of a value's type."""
    return _TYPE_NAMES.get(type(value)) or next(
        name for kind, name in _TYPE_NAMES.items() if isinstance(value, kind)
    )


def is_number(value: object) -> bool:
    """Tell whether a value is an int, a uint or a double."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def map_key(key: Any) -> Any:
    """Return what a key is held under: Python takes True for 1, CEL does not."""
    return (key,) if isinstance(key, bool) else key


def from_map_key(key: Any) -> Any:
    """Return the key that is held under this."""
    return key[0] if isinstance(key, tuple) else key


def equal(left: Any, right: Any) -> bool:
    """Tell whether two values are equal; raise EvaluationError where Kubernetes' types do not compare."""
    if left is None or right is None:
        return left is right
    if is_number(left) and is_number(right):
        return left == right
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(_not_unequal, left, right))
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and len(left) == len(right)
            and all(key in right and _not_unequal(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, Optional):
        if not isinstance(right, Optional) or left.present != right.present:
            return False
        return not left.present or equal(left.value, right.value)
    if isinstance(left, Quantity) and isinstance(right, Sum):
        raise EvaluationError("no such overload")
    same = type_name(left) == type_name(right)
    if not same and isinstance(left, _STRICT):
        raise EvaluationError("no such overload")
    return same and left == right


def _not_unequal(left: Any, right: Any) -> bool:
    """Tell whether two elements are equal or cannot be compared: cel-go takes only a plain no for a no."""
    try:
        return equal(left, right)
    except EvaluationError:
        return True


def equals(left: Any, right: Any) -> bool:
    """Tell whether two values are equal, taking those that cannot be compared for different."""
    try:
        return equal(left, right)
    except EvaluationError:
        return False


def compare(left: Any, right: Any) -> int:
    """Return -1, 0 or 1 for an ordered pair; raise EvaluationError for others."""
    if is_number(left) and is_number(right):
        if math.isnan(left) or math.isnan(right):
            raise EvaluationError("NaN values cannot be ordered")
    elif type_name(left) != type_name(right) or not isinstance(
        left, bool | str | bytes | Duration | Timestamp
    ):
        raise EvaluationError("no such overload")
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    return (left > right) - (left < right)
