"""`format`: texts with values in them, as cel-go's locale en_US writes them.

Source: `ext/formatting.go` of cel-go 0.29, which Kubernetes uses in its first version.
"""

import math
import re
from collections.abc import Sequence

from dra.cel.errors import EvaluationError
from dra.cel.functions import function
from dra.cel.functions.conversions import text, to_double
from dra.cel.values import Duration, Timestamp, TypeValue, Value, from_map_key, is_list, is_map, type_name

CLAUSE = re.compile(
    r"%(?:(?P<percent>%)|(?:\.(?P<precision>\d+))?(?P<clause>[sdfebxXo])|(?P<wrong>.?))", re.DOTALL | re.ASCII
)
"""A clause of a format; `wrong` is what is none."""

_NUMBERS, _WHOLE = ("double", "string"), ("int", "uint")
PRINTED = (
    *("list", "map", "int", "uint", "double", "bool", "string", "bytes", "type", "null_type"),
    *("google.protobuf.Timestamp", "google.protobuf.Duration"),
)
CLAUSES = {
    "s": (
        PRINTED,
        (
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
            "durations, and timestamps"
        ),
    ),
    "d": (_WHOLE, "decimal clause can only be used on integers"),
    "f": (_NUMBERS, "fixed-point clause can only be used on doubles"),
    "e": (_NUMBERS, "scientific clause can only be used on doubles"),
    "b": ((*_WHOLE, "bool"), "only integers and bools can be formatted as binary"),
    "o": (_WHOLE, "octal clause can only be used on integers"),
    "x": ((*_WHOLE, "string", "bytes"), "only integers, byte buffers, and strings can be formatted as hex"),
    "X": ((*_WHOLE, "string", "bytes"), "only integers, byte buffers, and strings can be formatted as hex"),
}
"""What each clause can print, and what is said of the rest."""

_PRECISION, _LONGEST = 6, 1000
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@function("format(string, list)")
def format_text(template: str, arguments: Sequence[Value]) -> str:
    """Return the template with its clauses replaced by the arguments."""
    parts: list[str] = []
    used = end = 0
    for clause in CLAUSE.finditer(template):
        parts.append(template[end : clause.start()])
        end = clause.end()
        if clause["percent"]:
            parts.append("%")
            continue
        if used >= len(arguments):
            raise EvaluationError(f"index {used} out of range")
        if clause["wrong"] is not None:
            raise EvaluationError(wrong_clause(clause["wrong"]))
        parts.append(_printed(clause["clause"], clause["precision"], arguments[used]))
        used += 1
    return "".join([*parts, template[end:]])


def wrong_clause(character: str) -> str:
    """Return what is wrong with a clause of this character, or of none."""
    if not character:
        return "unexpected end of string"
    return f'could not parse formatting clause: unrecognized formatting clause "{character}"'


def _printed(clause: str, precision: str | None, value: Value) -> str:
    kinds, refusal = CLAUSES[clause]
    if type_name(value) not in kinds:
        raise EvaluationError(f"error during formatting: {refusal}, was given {type_name(value)}")
    digits = min(int((precision or str(_PRECISION))[:9]), _LONGEST)
    match clause, value:
        case "s", _:
            return _plain(value)
        case "f" | "e", _:
            number = to_double(value)
            if not math.isfinite(number):
                return "NaN" if math.isnan(number) else f"{'-' if number < 0 else ''}\u221e"
            return f"{number:,.{digits}f}" if clause == "f" else _scientific(number, max(digits, _PRECISION))
        case "x" | "X", str() | bytes():
            data = value.encode().hex() if isinstance(value, str) else value.hex()
            return data.upper() if clause == "X" else data
        case _:
            return f"{int(value):{clause}}"


def _scientific(number: float, digits: int) -> str:
    mantissa, _, exponent = f"{number:.{digits}e}".partition("e")
    power = f"{'-' if exponent.startswith('-') else ''}{exponent[1:]}"
    return f"{mantissa}\u00d710{power.translate(_SUPERSCRIPTS)}"


def _plain(value: Value) -> str:
    match value:
        case bytes():
            return value.decode(errors="replace")
        case None:
            return "null"
        case list() | dict():
            return _nested(value)
        case _:
            return text(value)


def _nested(value: Value) -> str:  # noqa: PLR0911 - one return for each kind of value
    """Return a value as it stands in a list or a map: as it would be written in an expression."""
    match value:
        case _ if is_list(value):
            return f"[{', '.join(map(_nested, value))}]"
        case _ if is_map(value):
            entries = sorted(f"{_nested(from_map_key(key))}:{_nested(held)}" for key, held in value.items())
            return f"{{{', '.join(entries)}}}"
        case str():
            return f'"{value}"'
        case float():
            return f"{value:.{_PRECISION}f}" if math.isfinite(value) else f'"{_plain(value)}"'
        case Duration():
            return f'duration("{text(value)}")'
        case Timestamp():
            return f'timestamp("{text(value)}")'
        case TypeValue():
            return value.name
        case _:
            return _plain(value)
