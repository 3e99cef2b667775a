"""Documents into models, as strictly as `kubectl apply --validate=strict` and with nulls as Go has them.

One decoder for all models, led by their annotations: what is missing or null is the zero value of its type,
unknown fields are told in the order of their sorted keys, and fields of a gate that is off are dropped.
Source: `sigs.k8s.io/json` and `encoding/json` of Go.
"""

import difflib
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, cast, get_args, get_origin

from dra import codes
from dra.gates import Target
from dra.model import Model
from dra.quantity import Quantity
from dra.validation import older_shapes, pruning
from dra.validation.defaults import defaulted
from dra.validation.json_words import EXPONENT_FROM, json_key, json_kind, json_word, without_surrogates
from dra.validation.problem import Dropped, Problem, quoted
from dra.validation.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

AnyModel = TypeVar("AnyModel", bound=Model)

_MAX_VALUES = 3 * 1024 * 1024 // 2
"""No object that the API server takes (3 MiB) holds more values: each takes two characters of JSON."""
_MAX_UNKNOWN = 100
"""The API server stops counting unknown fields there."""

_INT64_BITS, _INT32_BITS = 63, 31
_MAX_GUESSED = 64
"""Characters of an unknown field's name up to which we guess what was meant."""

_TIME = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)


class TooLargeError(Exception):
    """The object has more values than the API server would read."""


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
        return Place(_joined(self.path, name), _joined(self.names, name), owner)


class Reader(NamedTuple):
    """How a type is read, and what Go calls it."""

    go: str
    read: "Callable[[Decoder, Any, Place], Any]"


@dataclass(frozen=True)
class Field:
    """A field of a struct."""

    attribute: str
    reader: Reader
    required: bool
    default: object


class Decoder:
    """Reads one object, and collects what is wrong with it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.wrong: list[Problem] = []
        """What cannot be read; in front what ends the reading of the API server at once."""
        self.unknown: list[Problem] = []
        self.dropped: list[Dropped] = []
        self._values = 0
        self._unreadable = 0

    def decode(self, model: type[AnyModel], document: Mapping[str, Any]) -> AnyModel | None:
        """Return the object, or None if a value of it has the wrong type."""
        decoded = reader_of(model).read(self, document, Place("", "", model.__name__))
        return None if self.wrong else decoded

    def count(self) -> None:
        """Count one value; raise TooLargeError where there are too many."""
        self._values += 1
        if self._values > _MAX_VALUES:
            raise TooLargeError

    def unreadable(self, place: Place, message: str, remedy: str) -> None:
        """Take down a text that stands for nothing: the API server reads no further than to the first."""
        problem = Problem(path=place.path, message=message, remedy=remedy, code=codes.WRONG_TYPE.code)
        self.wrong.insert(self._unreadable, problem)
        self._unreadable += 1

    def mistyped(self, place: Place, raw: object, go: str, remedy: str) -> None:
        """Take down a value of the wrong type."""
        where = f"Go struct field {place.owner}.{place.names}" if place.names else "Go value"
        message = f"json: cannot unmarshal {json_kind(raw, go)} into {where} of type {go}"
        code = codes.WRONG_TYPE.code
        self.wrong.append(Problem(path=place.path, message=message, remedy=remedy, code=code))

    def unknown_field(self, model: type[Model], raw: Mapping[str, Any], path: str, key: str) -> None:
        """Take down a field that the struct does not have."""
        if len(self.unknown) >= _MAX_UNKNOWN:
            return
        rewritten = older_shapes.rewrite(model, raw)
        message = f"unknown field {quoted(path)}"
        if rewritten is not None and key not in rewritten:
            remedy, code = older_shapes.as_remedy(rewritten), codes.OLD_SHAPE
        else:
            remedy, code = _unknown_remedy(model, key, self.target), codes.UNKNOWN_FIELD
        self.unknown.append(Problem(path=path, message=message, remedy=remedy, code=code.code))


@cache
def reader_of(annotation: Any) -> Reader:  # noqa: ANN401 - whatever stands for a type
    """Return how a model's annotation is read."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return next((_MARKED[mark] for mark in arguments[1:] if _is_mark(mark)), None) or reader_of(
            arguments[0]
        )
    if origin in (types.UnionType, typing.Union):
        inner = reader_of(next(item for item in arguments if item is not type(None)))
        return Reader(inner.go, partial(_read_optional, inner))
    if origin is Mapping:
        inner = reader_of(arguments[1])
        return Reader(f"map[string]{inner.go}", partial(_read_map, inner))
    if origin is Sequence:
        inner = reader_of(arguments[0])
        return Reader(f"[]{inner.go}", partial(_read_list, inner))
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return Reader(f"v1.{annotation.__name__}", partial(_read_struct, annotation))
    return _PLAIN[annotation]


@cache
def fields_of(model: type[Model]) -> Mapping[str, Field]:
    """Return the fields of a struct by their names in JSON."""
    annotations = typing.get_type_hints(model, include_extras=True)
    return {
        info.alias or attribute: Field(
            attribute, reader_of(annotations[attribute]), info.is_required(), info.get_default()
        )
        for attribute, info in model.model_fields.items()
    }


def _read_struct(model: type[Model], decoder: Decoder, raw: object, place: Place) -> object:
    decoder.count()
    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        _refuse_struct(model, decoder, raw, place)
        return None
    given = {json_key(key): item for key, item in cast("Mapping[object, object]", raw).items()}
    fields = fields_of(model)
    values: dict[str, Any] = {}
    for key in sorted(given):
        field = fields.get(key)
        if field is None or pruning.new_in(model, field.attribute, decoder.target):
            if not _is_unread(model, key):
                decoder.unknown_field(model, given, _joined(place.path, key), key)
        elif given[key] is not None:
            inner = place.field(key, model.__name__)
            value = field.reader.read(decoder, given[key], inner)
            _keep_or_drop(model, field, value, (decoder, inner, values))
    for name, field in fields.items():
        if field.required and field.attribute not in values:
            values[field.attribute] = field.reader.read(decoder, None, place.field(name, model.__name__))
    return None if decoder.wrong else model(**defaulted(model, values))


def _keep_or_drop(
    model: type[Model], field: Field, value: object, into: tuple[Decoder, Place, dict[str, Any]]
) -> None:
    decoder, place, values = into
    gate = pruning.gate_off(model, field.attribute, decoder.target)
    if gate is None:
        values[field.attribute] = value
    elif value not in (None, [], {}):
        decoder.dropped.append(Dropped(path=place.path, gate=gate))


def _refuse_struct(model: type[Model], decoder: Decoder, raw: object, place: Place) -> None:
    rewritten = older_shapes.rewrite(model, raw)
    remedy = (
        older_shapes.as_remedy(rewritten)
        if rewritten is not None
        else f"Write fields here: {', '.join(fields_of(model))}."
    )
    decoder.mistyped(place, raw, f"v1.{model.__name__}", remedy)


def _read_optional(inner: Reader, decoder: Decoder, raw: object, place: Place) -> object:
    return None if raw is None else inner.read(decoder, raw, place)


def _read_map(inner: Reader, decoder: Decoder, raw: object, place: Place) -> object:
    decoder.count()
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        decoder.mistyped(
            place, raw, f"map[string]{inner.go}", "Write an object: a name, a colon and a value."
        )
        return {}
    items = cast("Mapping[object, object]", raw).items()
    given = {json_key(key): item for key, item in items}
    values = {key: inner.read(decoder, given[key], place.under(key)) for key in sorted(given)}
    return {key: values[key] for key in given}


def _read_list(inner: Reader, decoder: Decoder, raw: object, place: Place) -> object:
    decoder.count()
    if raw is None:
        return []
    if not isinstance(raw, list | tuple):
        decoder.mistyped(place, raw, f"[]{inner.go}", "Write a list: '- ' in front of each item, or [ ].")
        return []
    items = cast("Sequence[object]", raw)
    return [inner.read(decoder, item, place.item(index)) for index, item in enumerate(items)]


def _read_text(decoder: Decoder, raw: object, place: Place) -> str:
    decoder.count()
    if isinstance(raw, str):
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


_PLAIN: Mapping[Any, Reader] = {
    str: Reader("string", _read_text),
    int: Reader("int64", partial(_read_integer, _INT64_BITS)),
    bool: Reader("bool", _read_flag),
    Any: Reader("any", _read_anything),
}
_MARKED: Mapping[str, Reader] = {
    "quantity": Reader("resource.Quantity", _read_quantity),
    "given quantity": Reader("resource.Quantity", partial(_read_quantity, zero="")),
    "time": Reader("v1.Time", _read_time),
    "int32": Reader("int32", partial(_read_integer, _INT32_BITS)),
}


def _is_mark(mark: object) -> bool:
    return isinstance(mark, str) and mark in _MARKED


def _is_unread(model: type[Model], key: str) -> bool:
    return issubclass(model, Wire) and (key in model.unread or "*" in model.unread)


def _unknown_remedy(model: type[Model], key: str, target: Target) -> str:
    fields = fields_of(model)
    if key in fields:
        release = pruning.new_in(model, fields[key].attribute, target)
        return f"Take it out: the field comes with Kubernetes {release}, and the target is {target}."
    if key == "adminAccess":
        return "Take it out: alternatives cannot have admin access. Ask for it with `exactly`."
    near = difflib.get_close_matches(key, fields, n=1) if len(key) <= _MAX_GUESSED else []
    if near:
        return f"Did you mean {near[0]}? The field is not in the API as it is spelt here."
    return f"Take it out, or write one of the fields that there are: {', '.join(fields)}."


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
