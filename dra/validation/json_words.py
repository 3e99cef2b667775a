"""Values of YAML as the JSON that kubectl makes of them.

Source: `sigs.k8s.io/yaml` and `encoding/json` of Go.
"""

import re
from collections.abc import Mapping

EXPONENT_FROM = 1e21
"""From here on Go writes a floating-point number with an exponent, which is no integer to it."""


def json_key(key: object) -> str:
    """Return a key of YAML as the JSON that kubectl makes of it has it."""
    return without_surrogates(key) if isinstance(key, str) else json_word(key)


def without_surrogates(text: str) -> str:
    """Return a text with what is no character replaced, as Go does."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def json_word(raw: object) -> str:
    """Return a scalar as JSON has it, and strings without their quotes."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int) and -(2**63) <= raw < 2**64:
        return str(raw)
    if isinstance(raw, int | float):
        return _float_word(float(raw) if abs(raw) < 1 << 1023 else float("inf"))
    return "null" if raw is None else type(raw).__name__


def _float_word(number: float) -> str:
    if number.is_integer() and abs(number) < EXPONENT_FROM:
        return str(int(number))
    return re.sub(r"e([+-])0", r"e\1", repr(number)).replace(".0e", "e")


def json_kind(raw: object, go: str) -> str:
    """Return what a value is called in the answer that it is none of the Go type."""
    if isinstance(raw, bool):
        return "bool"
    if isinstance(raw, int | float):
        return f"number {json_word(raw)}" if go.startswith("int") else "number"
    if isinstance(raw, str):
        return "string"
    return "object" if isinstance(raw, Mapping) else "array"
