"""CEL's own operators, conversions and functions of time.

Source: `common/stdlib` and `common/types` of cel-go 0.29.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from dra.cel.functions import Value, call, function
from dra.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    Duration,
    EvaluationError,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    compare,
    equal,
    equals,
    from_map_key,
    is_number,
    map_key,
    type_name,
)

_SECOND = 10**9
_MIN_TIME, _MAX_TIME = -62_135_596_800 * _SECOND, 253_402_300_800 * _SECOND - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _checked(number: int) -> int:
    if not MIN_INT <= number <= MAX_INT:
        raise EvaluationError("integer overflow")
    return number


def _checked_uint(number: int) -> Uint:
    if not 0 <= number <= MAX_UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def _duration(nanoseconds: int) -> Duration:
    return Duration(_checked(nanoseconds))


def _timestamp(nanoseconds: int) -> Timestamp:
    if not _MIN_TIME <= nanoseconds <= _MAX_TIME:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanoseconds)


def add(left: Value, right: Value) -> Value:
    """Return the sum, or two strings or lists one after the other."""
    match left, right:
        case bool(), _:
            raise EvaluationError("no such overload: _+_")
        case (str(), str()) | (bytes(), bytes()) | (list(), list()):
            return left + right
        case Duration(), Duration():
            return _duration(left.nanoseconds + right.nanoseconds)
        case (Timestamp(), Duration()) | (Duration(), Timestamp()):
            return _timestamp(left.nanoseconds + right.nanoseconds)
        case _:
            return _arithmetic(left, right, lambda one, other: one + other)


def subtract(left: Value, right: Value) -> Value:
    """Return the difference."""
    match left, right:
        case (Duration(), Duration()) | (Timestamp(), Timestamp()):
            return _duration(left.nanoseconds - right.nanoseconds)
        case Timestamp(), Duration():
            return _timestamp(left.nanoseconds - right.nanoseconds)
        case _:
            return _arithmetic(left, right, lambda one, other: one - other)


def multiply(left: Value, right: Value) -> Value:
    """Return the product."""
    return _arithmetic(left, right, lambda one, other: one * other)


def divide(left: Value, right: Value) -> Value:
    """Return the quotient, of integers without its fraction."""
    if isinstance(left, float) and isinstance(right, float):
        if right == 0:
            return (
                math.nan
                if left == 0 or math.isnan(left)
                else math.copysign(math.inf, left) * math.copysign(1, right)
            )
        return left / right
    return _arithmetic(left, right, _quotient)


def modulo(left: Value, right: Value) -> Value:
    """Return what is left of a division of integers."""
    if isinstance(left, float) or isinstance(right, float):
        raise EvaluationError("no such overload: _%_" if isinstance(left, float) else "no such overload")
    return _arithmetic(left, right, _remainder)


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    if left == MIN_INT and right == -1:
        raise EvaluationError("integer overflow")
    return left - _quotient(left, right) * right


def _arithmetic(left: Value, right: Value, operation: Callable[[Value, Value], Value]) -> Value:
    if not is_number(left) or type_name(left) != type_name(right):
        raise EvaluationError("no such overload")
    result = operation(left, right)
    if isinstance(left, float):
        return result
    return _checked_uint(result) if isinstance(left, Uint) else _checked(result)


def negate(value: Value) -> Value:
    """Return the number with its sign changed."""
    if not is_number(value) or isinstance(value, Uint):
        raise EvaluationError("no such overload")
    return -value if isinstance(value, float) else _checked(-value)


def invert(value: Value) -> bool:
    """Return the opposite of a boolean."""
    if not isinstance(value, bool):
        raise EvaluationError("no such overload")
    return not value


def contains(element: Value, container: Value) -> bool:
    """Tell whether a list has an element or a map has a key."""
    if isinstance(container, dict):
        return isinstance(element, str | bool | int | float) and map_key(element) in container
    if isinstance(container, list):
        return any(equals(element, item) for item in container)
    raise EvaluationError("no such overload")


def find(container: Value, key: Value) -> Optional:
    """Return what a map has under a key or a list at an index, or none."""
    if isinstance(container, dict):
        held = map_key(key) if isinstance(key, str | bool | int | float) else None
        return Optional(container[held], present=True) if held in container else Optional()
    if isinstance(container, list):
        index = _index(key)
        return Optional(container[index], present=True) if 0 <= index < len(container) else Optional()
    return Optional()


def _index(key: Value) -> int:
    if isinstance(key, float) and key.is_integer():
        return int(key)
    if isinstance(key, bool) or not isinstance(key, int):
        raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")
    return key


def index(container: Value, key: Value) -> Value:
    """Return what a map has under a key or a list at an index."""
    found = find(container, key)
    if found.present:
        return found.value
    if isinstance(container, list):
        raise EvaluationError(f"index out of bounds: {text(key)}")
    raise EvaluationError(f"no such key: {text(key)}")


def ordering(name: str, test: Callable[[int], bool]) -> Callable[[Value, Value], bool]:
    """Return an operator that compares; doubles that are no numbers are in no order."""

    def operator(left: Value, right: Value) -> bool:
        if any(type_name(side) not in _ORDERED for side in (left, right)):
            raise EvaluationError(
                f"no such overload: {name}" if type_name(left) not in _ORDERED else "no such overload"
            )
        return test(compare(left, right))

    return operator


_ORDERED = {
    *("bool", "int", "uint", "double", "string", "bytes"),
    *("google.protobuf.Timestamp", "google.protobuf.Duration"),
}

OPERATORS: dict[str, Callable[..., Value]] = {
    "_==_": equal,
    "_!=_": lambda left, right: not equals(left, right),
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "-_": negate,
    "!_": invert,
    "_[_]": index,
    "@in": contains,
    "_<_": ordering("_<_", lambda order: order < 0),
    "_<=_": ordering("_<=_", lambda order: order <= 0),
    "_>_": ordering("_>_", lambda order: order > 0),
    "_>=_": ordering("_>=_", lambda order: order >= 0),
}
"""Operators whose operands are all evaluated first."""


@function("size(string)")
@function("size(bytes)")
@function("size(list)")
@function("size(map)")
def size(value: Value) -> int:
    """Return how many characters, bytes, elements or entries there are."""
    return len(value)


@function("type(dyn)")
def type_of(value: Value) -> TypeValue:
    """Return the type of a value."""
    return TypeValue(type_name(value))


def _no_conversion(value: Value, kind: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{type_name(value)}' to '{kind}'")


@function("int(dyn)")
def to_int(value: Value) -> int:
    """Return a value as an int."""
    match value:
        case bool():
            raise _no_conversion(value, "int")
        case int():
            return _checked(int(value))
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
            return _checked_uint(value)
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


def text(value: Value) -> str:
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
    moment = _EPOCH + timedelta(seconds=seconds)
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
        return _timestamp(value * _SECOND)
    matched = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if matched is None:
        raise _no_conversion(value, "google.protobuf.Timestamp")
    try:
        zone = "+00:00" if matched[3] == "Z" else matched[3]
        moment = datetime.fromisoformat(matched[1] + zone)
    except ValueError:
        raise _no_conversion(value, "google.protobuf.Timestamp") from None
    fraction = int((matched[2] or "")[:9].ljust(9, "0"))
    return _timestamp(int((moment - _EPOCH) // timedelta(seconds=1)) * _SECOND + fraction)


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


def _zone(name: str) -> tzinfo:
    matched = re.fullmatch(r"([+-]?)(\d\d?):(\d\d?)", name, re.ASCII)
    if matched:
        offset = timedelta(hours=int(matched[2]), minutes=int(matched[3]))
        if offset < timedelta(days=1):
            return timezone(-offset if matched[1] == "-" else offset)
    try:
        return UTC if name in {"", "UTC"} else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {name}") from None


_FIELDS: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}


def _enter_times() -> None:
    for name, read in _FIELDS.items():

        def of_time(value: Timestamp, zone: str = "", read: Callable[[datetime], int] = read) -> int:
            moment = _EPOCH + timedelta(seconds=value.nanoseconds // _SECOND)
            try:
                return read(moment.astimezone(_zone(zone)))
            except OverflowError:
                raise EvaluationError("timestamp overflow") from None

        function(f"{name}(timestamp)")(of_time)
        function(f"{name}(timestamp, string)")(of_time)
    function("getMilliseconds(timestamp)")(lambda value: value.nanoseconds // 10**6 % 1000)
    function("getMilliseconds(timestamp, string)")(lambda value, _: value.nanoseconds // 10**6 % 1000)
    for name, unit in (("getHours", 3600 * _SECOND), ("getMinutes", 60 * _SECOND), ("getSeconds", _SECOND)):
        function(f"{name}(duration)")(lambda value, unit=unit: _quotient(value.nanoseconds, unit))
    function("getMilliseconds(duration)")(lambda value: _quotient(value.nanoseconds, 10**6))


_enter_times()


def iterated(value: Value, *, pairs: bool) -> list[tuple[Value, Value]]:
    """Return what a comprehension goes through: elements or keys, or with `pairs` indices or keys and values."""
    if isinstance(value, list):
        return list(enumerate(value)) if pairs else [(item, None) for item in value]
    if isinstance(value, dict):
        return [(from_map_key(key), held) for key, held in value.items()]
    raise EvaluationError(f"got '{type_name(value)}', expected iterable type")


__all__ = ["OPERATORS", "call"]
