"""Pulumi's property values on the wire: secrets and unknowns are marked by signatures.

The signatures are the protocol's (`pulumi.runtime.rpc` has them for programs).
"""

from typing import Any, cast

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.rpc import UNKNOWN

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a marker of the protocol
_SHORTEST = 4  # masking shorter secrets would garble a text and hide nothing

Properties = dict[str, Any]


def from_struct(struct: Struct) -> Properties:
    """Return the message as a dictionary; marks stay."""
    return MessageToDict(struct)


def to_struct(properties: Properties) -> Struct:
    """Return the dictionary as a message."""
    return ParseDict(properties, Struct())


def is_secret(value: object) -> bool:
    """Say whether the value itself is marked as secret."""
    return isinstance(value, dict) and cast("Properties", value).get(_SIGNATURE) == _SECRET


def secret(value: object) -> Properties:
    """Mark the value as secret."""
    return {_SIGNATURE: _SECRET, "value": value}


def plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value without its marks of secrets, at any depth."""
    if is_secret(value):
        return plain(value["value"])
    if isinstance(value, dict):
        return {key: plain(item) for key, item in cast("Properties", value).items()}
    if isinstance(value, list):
        return [plain(item) for item in cast("list[Any]", value)]
    return value


def has_unknown(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Say whether anything in the value is not known yet."""
    if isinstance(value, dict):
        return any(map(has_unknown, cast("Properties", value).values()))
    if isinstance(value, list):
        return any(map(has_unknown, cast("list[Any]", value)))
    return value == UNKNOWN


def secrets_in(value: Any, *, within: bool = False) -> set[str]:  # noqa: ANN401 - any JSON value
    """Return the texts that are secret in the value."""
    if is_secret(value):
        return secrets_in(value["value"], within=True)
    if isinstance(value, dict):
        parts = list(cast("Properties", value).values())
    elif isinstance(value, list):
        parts = cast("list[Any]", value)
    else:
        return {str(value)} if within else set()
    return {text for part in parts for text in secrets_in(part, within=within)}


def masked(text: str, secrets: set[str]) -> str:
    """Return the text with the secrets in it hidden, and each line of a secret of several lines as well."""
    lines = {line for text in secrets for line in (text, *text.splitlines()) if len(line) >= _SHORTEST}
    for line in sorted(lines, key=len, reverse=True):
        text = text.replace(line, "[secret]")
    return text
