"""Conversions between types, and how values are printed.

Source: `common/types` of cel-go 0.29.
"""

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from dra.cel.errors import EvaluationError
from dra.cel.functions import function
from dra.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    checked_int,
    checked_timestamp,
    checked_uint,
    type_name,
)

_SECOND = 10**9
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _no_conversion(value: Value, kind: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{type_name(value)}' to '{kind}'")


@function("int(dyn)")
def to_int(value: Value) -> int:
    """Return a value as an int."""
    match value:
        case bool():
            raise _no_conversion(value, "int")
        case int():
            return checked_int(int(value))
        case float():
            if not -(2.0**63) < value < 2.0**63:
                raise EvaluationError("integer overflow")
            return int(value)
        case str() if re.fullmatch(r"[+-]?[0-9]+", value, re.ASCII) and len(value) < 100:  # noqa: PLR2004 - zeros
            if MIN_INT <= int(value) <= MAX_INT:
                return int(value)
        case Timestamp():
            return value.nanoseconds // _SECOND
        case Duration():
            return value.nanoseconds
        case _:
            pass
    raise _no_conversion(value, "int")


@function("uint(dyn)")
def to_uint(value: Value) -> Uint:
    """Return a value as a uint."""
    match value:
        case bool():
            raise _no_conversion(value, "uint")
        case int():
            return checked_uint(value)
        case float():
            if not 0 <= value < 2.0**64:
                raise EvaluationError("unsigned integer overflow")
            return Uint(value)
        case str() if re.fullmatch(r"[0-9]+", value, re.ASCII) and len(value) < 100:  # noqa: PLR2004 - zeros
            if int(value) <= MAX_UINT:
                return Uint(value)
        case _:
            pass
    raise _no_conversion(value, "uint")


_FLOAT = re.compile(
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf(inity)?|nan)", re.IGNORECASE | re.ASCII
)


@function("double(dyn)")
def to_double(value: Value) -> float:
    """Return a value as a double."""
    match value:
        case bool():
            raise _no_conversion(value, "double")
        case int() | float():
            return float(value)
        case str() if _FLOAT.fullmatch(value):
            number = float(value)
            if not math.isinf(number) or "n" in value.lower():
                return number
        case _:
            pass
    raise _no_conversion(value, "double")


@function("bool(dyn)")
def to_bool(value: Value) -> bool:
    """Return a value as a bool."""
    if isinstance(value, bool):
        return value
    if value in {"1", "t", "T", "TRUE", "true", "True"}:
        return True
    if value in {"0", "f", "F", "FALSE", "false", "False"}:
        return False
    raise _no_conversion(value, "bool")


@function("bytes(dyn)")
def to_bytes(value: Value) -> bytes:
    """Return a value as bytes."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise _no_conversion(value, "bytes")


@function("dyn(dyn)")
def to_dyn(value: Value) -> Value:
    """Return the value itself; only the checker is told to forget its type."""
    return value


@function("string(dyn)")
def to_string(value: Value) -> str:
    """Return a value as a string."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None
    if value is None or isinstance(value, list | dict | Optional | TypeValue):
        raise _no_conversion(value, "string")
    if type_name(value).startswith("kubernetes."):
        raise EvaluationError(f"no such overload: string({type_name(value)})")
    return text(value)


def text(value: Value) -> str:  # noqa: PLR0911 - one return for each kind of value
    """Return a value as it is printed."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return _float_text(value)
        case Timestamp():
            return _time_text(value)
        case Duration():
            seconds, rest = divmod(abs(value.nanoseconds), _SECOND)
            fraction = f".{rest:09}".rstrip("0") if rest else ""
            return f"{'-' if value.nanoseconds < 0 else ''}{seconds}{fraction}s"
        case TypeValue():
            return value.name
        case int():
            return str(int(value))
        case _:
            return str(value)


_PLAIN_POWERS = range(-4, 6)
"""The powers of ten of doubles that Go's %g prints without an exponent."""


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    digits, power = _shortest(abs(value))
    sign = "-" if math.copysign(1, value) < 0 else ""
    if power in _PLAIN_POWERS:
        padded = digits.ljust(power + 1, "0") if power >= 0 else digits.rjust(len(digits) - power, "0")
        whole, fraction = padded[: max(power, 0) + 1], padded[max(power, 0) + 1 :]
        return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
    fraction = f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{fraction}e{power:+03}"


def _shortest(value: float) -> tuple[str, int]:
    """Return the fewest digits that tell a double from all others, and the power of ten of the first."""
    sign_digits_exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, sign_digits_exponent.digits))
    exponent = sign_digits_exponent.exponent
    assert isinstance(exponent, int), "no number that is not finite comes here"  # noqa: S101 - tells the checker
    return digits, len(digits) + exponent - 1 if value else 0


def _time_text(value: Timestamp) -> str:
    seconds, rest = divmod(value.nanoseconds, _SECOND)
    moment = EPOCH + timedelta(seconds=seconds)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z".rjust(20, "0")


_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)


@function("timestamp(dyn)")
def to_timestamp(value: Value) -> Timestamp:
    """Return a value as a timestamp."""
    if isinstance(value, Timestamp):
        return value
    if isinstance(value, int) and not isinstance(value, bool | Uint):
        return checked_timestamp(value * _SECOND)
    matched = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if matched is None:
        raise _no_conversion(value, "google.protobuf.Timestamp")
    try:
        zone = "+00:00" if matched[3] == "Z" else matched[3]
        moment = datetime.fromisoformat(matched[1] + zone)
    except ValueError:
        raise _no_conversion(value, "google.protobuf.Timestamp") from None
    fraction = int((matched[2] or "")[:9].ljust(9, "0"))
    return checked_timestamp(int((moment - EPOCH) // timedelta(seconds=1)) * _SECOND + fraction)


_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)


@function("duration(dyn)")
def to_duration(value: Value) -> Duration:
    """Return a value as a duration, read as Go reads `1h30m`."""
    if isinstance(value, Duration):
        return value
    nanoseconds = parse_duration(value) if isinstance(value, str) else None
    if nanoseconds is None or not MIN_INT <= nanoseconds <= MAX_INT:
        raise _no_conversion(value, "google.protobuf.Duration")
    return Duration(nanoseconds)


def parse_duration(value: str) -> int | None:
    """Return the nanoseconds that a text stands for, or None if it stands for no duration."""
    rest = value.removeprefix("-") if value.startswith("-") else value.removeprefix("+")
    if rest == "0":
        return 0
    if not rest:
        return None
    total = 0
    while rest:
        part = _PART.match(rest)
        if part is None or not (part[1] or part[2]):
            return None
        unit, fraction = _UNITS[part[3]], part[2] or ""
        total += int(part[1][:30] or "0") * unit + int(fraction[:18] or "0") * unit // 10 ** len(
            fraction[:18]
        )
        rest = rest[part.end() :]
    return -total if value.startswith("-") else total
