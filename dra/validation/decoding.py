"""Documents into models, as strictly as `kubectl apply --validate=strict` and with nulls as Go has them.

One decoder for all models, led by their annotations: what is missing or null is the zero value of its type,
unknown fields are told in the order of their sorted keys, and fields of a gate that is off are dropped.
Source: `sigs.k8s.io/json` and `encoding/json` of Go.
"""

import difflib
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin

from dra import codes
from dra.gates import Target
from dra.model import Model
from dra.validation import older_shapes, pruning
from dra.validation.decoder import Decoder, Place, Reader, joined
from dra.validation.defaults import defaulted
from dra.validation.json_words import json_key
from dra.validation.problem import Dropped, Problem, quoted
from dra.validation.scalars import MARKED, PLAIN
from dra.validation.wire import Wire

AnyModel = TypeVar("AnyModel", bound=Model)

_MAX_UNKNOWN = 100
"""The API server stops counting unknown fields there."""
_MAX_GUESSED = 64
"""Characters of an unknown field's name up to which we guess what was meant."""


@dataclass(frozen=True)
class Field:
    """A field of a struct."""

    attribute: str
    reader: Reader
    required: bool
    gated: bool


def decode(decoder: Decoder, model: type[AnyModel], document: Mapping[str, Any]) -> AnyModel | None:
    """Return the object, or None if it has a value of the wrong type; raise TooLargeError for a giant."""
    decoded = reader_of(model).read(decoder, document, Place("", "", model.__name__))
    return None if decoder.wrong else decoded


@cache
def reader_of(annotation: Any) -> Reader:  # noqa: ANN401 - whatever stands for a type
    """Return how a model's annotation is read."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        mark = next((mark for mark in arguments[1:] if isinstance(mark, str) and mark in MARKED), None)
        return MARKED[mark] if mark else reader_of(arguments[0])
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
    return PLAIN[annotation]


@cache
def fields_of(model: type[Model]) -> Mapping[str, Field]:
    """Return the fields of a struct by their names in JSON."""
    annotations = typing.get_type_hints(model, include_extras=True)
    return {
        info.alias or attribute: Field(
            attribute,
            reader_of(annotations[attribute]),
            info.is_required(),
            pruning.is_gated(model, attribute),
        )
        for attribute, info in model.model_fields.items()
    }


def _read_struct(model: type[Model], decoder: Decoder, raw: object, place: Place) -> object:
    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        _refuse_struct(model, decoder, raw, place)
        return None
    given = {json_key(key): item for key, item in cast("Mapping[object, object]", raw).items()}
    decoder.count(2 + sum(map(len, given)) + 4 * len(given))
    fields = fields_of(model)
    values: dict[str, Any] = {}
    for key in sorted(given):
        field = fields.get(key)
        if field is None or (field.gated and pruning.new_in(model, field.attribute, decoder.target)):
            if not _is_unread(model, key):
                _refuse_field(model, decoder, given, (joined(place.path, key), key))
        elif given[key] is not None:
            inner = place.field(key, model.__name__)
            value = field.reader.read(decoder, given[key], inner)
            if not (field.gated and _is_dropped(model, decoder, (field, value), inner)):
                values[field.attribute] = value
    for name, field in fields.items():
        if field.required and field.attribute not in values:
            values[field.attribute] = field.reader.read(decoder, None, place.field(name, model.__name__))
    return None if decoder.wrong else model(**defaulted(model, values))


def _is_dropped(model: type[Model], decoder: Decoder, given: tuple[Field, object], place: Place) -> bool:
    """Tell whether the target drops a field, and take it down if there is anything to drop."""
    field, value = given
    gate = pruning.gate_off(model, field.attribute, decoder.target)
    if gate is not None and value not in (None, [], {}):
        decoder.dropped.append(Dropped(path=place.path, gate=gate))
    return gate is not None


def _refuse_field(
    model: type[Model], decoder: Decoder, given: Mapping[str, Any], place: tuple[str, str]
) -> None:
    """Take down a field that the struct does not have."""
    if len(decoder.unknown) >= _MAX_UNKNOWN:
        return
    path, key = place
    rewritten = older_shapes.rewrite(model, given)
    if rewritten is not None and key not in rewritten:
        remedy, code = older_shapes.as_remedy(rewritten), codes.OLD_SHAPE
    else:
        remedy, code = _unknown_remedy(model, key, decoder.target), codes.UNKNOWN_FIELD
    message = f"unknown field {quoted(path)}"
    decoder.unknown.append(Problem(path=path, message=message, remedy=remedy, code=code.code))


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
    decoder.count(sum(map(len, given)) + 4 * len(given))
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
