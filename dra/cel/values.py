"""Values of CEL that Python does not have, and how values are compared: as cel-go and Kubernetes do it.

int, float, bool, str, bytes, list and dict stand for CEL's own; None is null. A dict's keys are `map_key()`s.
Source: `common/types` of cel-go 0.29 and `k8s.io/apiserver/pkg/cel`, Kubernetes 1.37.2.
"""

import ipaddress
import math
from dataclasses import dataclass
from typing import Any, TypeGuard
from urllib.parse import SplitResult

from dra.cel.errors import EvaluationError
from dra.cel.semver import Semver
from dra.quantity import Quantity

Value = Any
"""A value of CEL."""

MIN_INT, MAX_INT, MAX_UINT = -(2**63), 2**63 - 1, 2**64 - 1


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


_MIN_TIME, _MAX_TIME = -62_135_596_800 * 10**9, 253_402_300_800 * 10**9 - 1


def checked_int(number: int) -> int:
    """Return an int that is one of 64 bits."""
    if not MIN_INT <= number <= MAX_INT:
        raise EvaluationError("integer overflow")
    return number


def checked_uint(number: int) -> Uint:
    """Return a uint that is one of 64 bits."""
    if not 0 <= number <= MAX_UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def checked_timestamp(nanoseconds: int) -> Timestamp:
    """Return a time in the years 1 to 9999."""
    if not _MIN_TIME <= nanoseconds <= _MAX_TIME:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanoseconds)


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


def is_list(value: Value) -> TypeGuard[list[Value]]:
    """Tell whether a value is a list."""
    return isinstance(value, list)


def is_map(value: Value) -> TypeGuard[dict[Value, Value]]:
    """Tell whether a value is a map."""
    return isinstance(value, dict)


def is_key(value: Value) -> bool:
    """Tell whether a value can be a key of a map."""
    return isinstance(value, str | bool | int | float)


def map_key(key: Value) -> Value:
    """Return what a key is held under: Python takes True for 1, CEL does not."""
    return (key,) if isinstance(key, bool) else key


def from_map_key(key: Value) -> Value:
    """Return the key that is held under this."""
    return True in key if isinstance(key, tuple) else key


def equal(left: Value, right: Value) -> bool:  # noqa: PLR0911 - one return for each kind of values
    """Tell whether two values are equal; raise EvaluationError where Kubernetes' types do not compare."""
    if left is None or right is None:
        return left is right
    if is_number(left) and is_number(right):
        return left == right
    if is_list(left):
        return is_list(right) and len(left) == len(right) and all(map(_not_unequal, left, right))
    if is_map(left):
        return (
            is_map(right)
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


def _not_unequal(left: Value, right: Value) -> bool:
    """Tell whether two elements are equal or cannot be compared: cel-go takes only a plain no for a no."""
    try:
        return equal(left, right)
    except EvaluationError:
        return True


def equals(left: Value, right: Value) -> bool:
    """Tell whether two values are equal, taking those that cannot be compared for different."""
    try:
        return equal(left, right)
    except EvaluationError:
        return False


def compare(left: Value, right: Value) -> int:
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
