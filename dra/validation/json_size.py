"""How large a value is as JSON, told without writing more of it than a limit."""

import json
from typing import Any

_ESCAPED_BYTES = 5
"""Go spells each `<`, `>` and `&` in JSON as six bytes, five more than the character."""


def fits(value: object, limit: int) -> bool:
    """Tell whether a value, as the JSON that kubectl sends, has at most so many bytes.

    A value nested too deep for the JSON encoder is none that fits.
    """
    size = 0
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
    try:
        for chunk in encoder.iterencode(value):
            size += len(chunk.encode("utf-8", "surrogatepass"))
            size += _ESCAPED_BYTES * sum(map(chunk.count, "<>&"))
            if size > limit:
                return False
    except (RecursionError, TypeError, ValueError):
        return False
    return True


def _plain(value: Any) -> object:  # noqa: ANN401 - what the encoder does not know
    try:
        return dict(value)
    except (TypeError, ValueError):
        return str(value)
