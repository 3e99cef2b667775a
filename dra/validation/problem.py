"""Why the API server refuses an object: its own words, and what to do.

Source: the texts of `k8s.io/apimachinery/pkg/util/validation/field`, Kubernetes 1.37.2.
"""

import json
from collections.abc import Iterable, Iterator
from typing import cast

from dra import codes
from dra.codes import Code
from dra.gates import Gate
from dra.model import Model


class Problem(Model):
    """One reason why the API server refuses. `message` is its text without the frame around it."""

    path: str
    message: str
    remedy: str
    code: str


class Dropped(Model):
    """A field that the API server drops without a word, as the gate is off in the target."""

    path: str
    gate: Gate


def invalid(path: str, value: object, detail: str, remedy: str, code: Code = codes.INVALID_VALUE) -> Problem:
    """Return the problem of a value that is malformed or out of bounds."""
    return _problem(path, f"Invalid value: {shown(value)}: {detail}", remedy, code)


def invalid_each(
    path: str, value: str, details: Iterable[str], remedy: str, code: Code = codes.NAME
) -> Iterator[Problem]:
    """Yield a problem for each thing that is wrong with one value."""
    for detail in details:
        yield invalid(path, value, detail, remedy, code)


def required(path: str, remedy: str, detail: str = "", code: Code = codes.REQUIRED) -> Problem:
    """Return the problem of a value that is not there."""
    return _problem(path, f"Required value: {detail}" if detail else "Required value", remedy, code)


def forbidden(path: str, detail: str, remedy: str, code: Code = codes.INVALID_VALUE) -> Problem:
    """Return the problem of a value that is well-formed and not allowed here."""
    return _problem(path, f"Forbidden: {detail}", remedy, code)


def not_supported(path: str, value: str, supported: Iterable[str]) -> Problem:
    """Return the problem of a value that is not one of a fixed few."""
    names = [quoted(name) for name in supported]
    return _problem(
        path,
        f"Unsupported value: {quoted(value)}: supported values: {', '.join(names)}",
        f"Write one of {', '.join(names)}, spelt exactly so.",
        codes.INVALID_VALUE,
    )


def not_found(path: str, value: str, detail: str, remedy: str) -> Problem:
    """Return the problem of a name that names nothing."""
    return _problem(path, f"Not found: {quoted(value)}: {detail}", remedy, codes.REFERENCE)


def duplicate(path: str, value: object, remedy: str) -> Problem:
    """Return the problem of a second one of what there may be one of."""
    return _problem(path, f"Duplicate value: {shown(value)}", remedy, codes.DUPLICATE)


def too_long(path: str, limit: int, remedy: str, unit: str = "bytes") -> Problem:
    """Return the problem of a text that is too long, without the text."""
    return _problem(path, f"Too long: may not be more than {limit} {unit}", remedy, codes.TOO_MANY)


def too_many(path: str, actual: int, limit: int, remedy: str) -> Problem:
    """Return the problem of a list or map that is too long."""
    return _problem(path, f"Too many: {actual}: must have at most {limit} items", remedy, codes.TOO_MANY)


def too_many_items(path: str, actual: int, limit: int, what: str) -> Iterator[Problem]:
    """Yield the problem of a list that is too long, if it is."""
    if actual > limit:
        yield too_many(path, actual, limit, f"Take {actual - limit} of the {actual} {what} out.")


def shown(value: object) -> str:
    """Return a value as the API server shows it in its answer."""
    return quoted(value) if isinstance(value, str) else json_text(value)


def quoted(text: str) -> str:
    """Return a text in quotes, escaped as Go's strconv.Quote does."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


_SHORT_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b",
    "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
}  # fmt: skip
_BYTE, _PLANE = 0x80, 0x10000


def _escaped(character: str) -> str:
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if character.isprintable():
        return character
    number = ord(character)
    if number < _BYTE:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < _PLANE else f"\\U{number:08x}"


_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def json_text(value: object) -> str:
    """Return JSON as Go's encoding/json writes it, which spells what HTML could misread as escapes."""
    text = json.dumps(as_json(value), ensure_ascii=False, separators=(",", ":"))
    for character, escape in _HTML.items():
        text = text.replace(character, escape)
    return text


def as_json(value: object) -> object:
    """Return a model as Go would encode its struct: optional fields left out where they are zero."""
    if not isinstance(value, Model):
        return value
    fields = type(value).model_fields
    return {
        fields[name].alias or name: _nested(item)
        for name, item in value
        if fields[name].is_required() or isinstance(item, bool) or item
    }


def _nested(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in cast("list[object]", value)]
    return as_json(value)


def _problem(path: str, message: str, remedy: str, code: Code) -> Problem:
    return Problem(path=path, message=message, remedy=remedy, code=code.code)
