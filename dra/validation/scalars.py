"""How strings, numbers and what is written as one of them are read."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from dra.quantity import Quantity
from dra.validation.decoder import Decoder, Place, Reader
from dra.validation.json_words import EXPONENT_FROM, json_word, without_surrogates
from dra.validation.problem import quoted

_INT64_BITS, _INT32_BITS = 63, 31

_TIME = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)


def _read_text(decoder: Decoder, raw: object, place: Place) -> str:
    if isinstance(raw, str):
        decoder.count(len(raw) + 2)
        return without_surrogates(raw)
    if raw is not None:
        remedy = (
            f"Write a string: put {json_word(raw)} in quotes."
            if isinstance(raw, bool | int | float)
            else "Write a string."
        )
        decoder.mistyped(place, raw, "string", remedy)
    return ""


def _read_integer(bits: int, decoder: Decoder, raw: object, place: Place) -> int:
    decoder.count()
    if raw is None:
        return 0
    number = raw
    if isinstance(raw, float) and raw.is_integer() and abs(raw) < EXPONENT_FROM:
        number = int(raw)
    if isinstance(number, int) and not isinstance(number, bool) and -(2**bits) <= number < 2**bits:
        return number
    decoder.mistyped(place, raw, f"int{bits + 1}", f"Write a whole number below 2^{bits}, without quotes.")
    return 0


def _read_flag(decoder: Decoder, raw: object, place: Place) -> bool:
    decoder.count()
    if isinstance(raw, bool):
        return raw
    if raw is not None:
        decoder.mistyped(place, raw, "bool", "Write true or false, without quotes.")
    return False


def _read_quantity(decoder: Decoder, raw: object, place: Place, zero: str = "0") -> str:
    decoder.count()
    if raw is None:
        return zero
    text = json_word(raw).strip()
    try:
        quantity = Quantity.parse(text)
        # What Kubernetes prints of a quantity beyond 1000E says less than what was written.
        return str(quantity) if Quantity.parse(str(quantity)) == quantity else text
    except ValueError as error:
        decoder.unreadable(
            place, str(error), "Write a quantity: a number, and a unit if need be, such as 40Gi or 500m."
        )
        return zero


def _read_time(decoder: Decoder, raw: object, place: Place) -> str:
    if raw is not None and not isinstance(raw, str):
        decoder.mistyped(place, raw, "string", "Write a time such as 2026-01-31T12:00:00Z.", stops=True)
        return ""
    text = _read_text(decoder, raw, place)
    if text and not _TIME.fullmatch(text):
        rest = "" if re.match(r"\d{4}", text, re.ASCII) else f' {quoted(text)} as "2006"'
        detail = f'parsing time {quoted(text)} as "2006-01-02T15:04:05Z07:00": cannot parse{rest}'
        decoder.unreadable(place, detail, "Write a time such as 2026-01-31T12:00:00Z.")
    return text


def _read_anything(decoder: Decoder, raw: object, place: Place) -> object:
    del place
    decoder.count()
    return raw


PLAIN: Mapping[Any, Reader] = {
    str: Reader("string", _read_text),
    int: Reader("int64", partial(_read_integer, _INT64_BITS)),
    bool: Reader("bool", _read_flag),
    Any: Reader("any", _read_anything),
}
MARKED: Mapping[str, Reader] = {
    "quantity": Reader("resource.Quantity", _read_quantity),
    "given quantity": Reader("resource.Quantity", partial(_read_quantity, zero="")),
    "time": Reader("v1.Time", _read_time),
    "int32": Reader("int32", partial(_read_integer, _INT32_BITS)),
}
