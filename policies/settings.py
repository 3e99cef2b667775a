"""What can be set of a policy, by the file of `--policy-pack-config`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeVar, cast

from pulumi_policy import PolicyConfigSchema
from pydantic import Field, ValidationError

from dra.gates import Target
from dra.model import Model
from policies.objects import plain


class SettingsError(Exception):
    """The settings of a policy are wrong; the text says which and what is allowed."""


class UnknownValues(StrEnum):
    """What becomes of an object that a preview does not know enough of."""

    FAIL = "fail"
    """A violation: nothing passes unjudged."""
    WARN = "warn"
    """Pulumi's own advisory note: the object is judged by the update, when its values are known."""


class Settings(Model):
    """What every policy has."""

    unknown_values: Annotated[UnknownValues, Field(strict=False)] = UnknownValues.FAIL
    intended: Mapping[str, str] = {}
    """Objects (`namespace/name`) that are to violate the policy, each with the reason why."""


class TargetSettings(Settings):
    """A policy that asks what a Kubernetes release says."""

    target: Annotated[Target, Field(strict=False)] = max(Target)


AnySettings = TypeVar("AnySettings", bound=Settings)


def schema_of(settings: type[Settings]) -> PolicyConfigSchema:
    """Return the JSON schema by which the engine checks values (it does not look for unknown keys)."""
    schema = settings.model_json_schema()
    return PolicyConfigSchema(_without_references(schema["properties"], schema.get("$defs", {})))


def read(settings: type[AnySettings], config: Mapping[str, Any]) -> AnySettings:
    """Return the settings.

    Raises:
        SettingsError: A key is unknown or a value is not allowed.

    """
    values, _ = plain(config)
    try:
        return settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(" ".join(_sentence(settings, mistake) for mistake in error.errors())) from None


def _sentence(settings: type[Settings], mistake: Mapping[str, Any]) -> str:
    key = ".".join(str(part) for part in mistake["loc"])
    if mistake["type"] == "extra_forbidden" and len(mistake["loc"]) == 1:
        known = ", ".join(sorted(field.alias or name for name, field in settings.model_fields.items()))
        return f"There is no setting {key}; the settings are enforcementLevel, {known}."
    message = mistake["msg"].removeprefix("Value error, ")
    return f"{key} is {mistake['input']!r:.200}: {message}."


def _without_references(value: Any, definitions: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON schema
    """Put what `$ref` refers to in its place: the engine is handed the properties alone."""
    if isinstance(value, list):
        return [_without_references(item, definitions) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    schema = cast("dict[str, Any]", value)
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]] | {
            key: item for key, item in schema.items() if key != "$ref"
        }
    return {key: _without_references(item, definitions) for key, item in schema.items()}
