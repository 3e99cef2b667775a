"""Rules that need nothing but the object's own properties: labels, and how a changed spec is replaced."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pulumi_policy import ResourceValidationArgs

from dra.model import Model
from policies.judge import ResourceRule, Violation
from policies.kinds import claims
from policies.objects import KubernetesObject, mapping
from policies.settings import Settings

if TYPE_CHECKING:
    from collections.abc import MutableMapping

_AUTONAMED = "pulumi.com/autonamed"
"""The annotation by which Pulumi's provider marks a name that it made up, and so can make up anew."""


class LabelRule(Model):
    """What a label may say: one of `values`, anything if there are none. `default`: the remedy's."""

    values: Sequence[str] = ()
    default: str | None = None


class LabelSettings(Settings):
    """Which labels the objects of which kinds must have."""

    labels: Mapping[str, LabelRule] = {}
    kinds: Sequence[str] = ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass")


def missing_labels(item: KubernetesObject, settings: LabelSettings) -> Iterator[Violation]:
    """Yield the labels that are missing or say what they may not."""
    labels = mapping(item.metadata.get("labels"))
    for label, rule in settings.labels.items():
        value = labels.get(label)
        allowed = f"one of {', '.join(rule.values)}" if rule.values else "a value"
        if value in (None, ""):
            yield Violation(
                path="metadata.labels",
                message=f"the label {label} is missing",
                remedy=f"Give it {allowed}",
            )
        elif rule.values and value not in rule.values:
            yield Violation(
                path=f"metadata.labels[{label}]",
                message=f"the label {label} is {value!r}",
                remedy=f"Give it {allowed}",
            )


def add_labels(args: ResourceValidationArgs, settings: LabelSettings) -> Mapping[str, Any] | None:
    """Return the properties with the missing labels that have a default; None if there is nothing to add.

    Safe, since a label of these objects selects nothing and can be changed in place. What is there stays.
    """
    if args.props.get("kind") not in settings.kinds:
        return None
    metadata = args.props.get("metadata")
    labels: object = mapping(metadata).get("labels") or {}
    if not isinstance(metadata, Mapping) or not isinstance(labels, Mapping):  # absent, or unknown yet
        return None
    present = cast("Mapping[str, Any]", labels)
    added = {
        label: rule.default
        for label, rule in settings.labels.items()
        if rule.default is not None and present.get(label) in (None, "")
    }
    if not added:
        return None
    # In place, as the SDK has it: a copy would lose which of the other values are secret or unknown.
    cast("MutableMapping[str, Any]", metadata)["labels"] = {**{key: present[key] for key in present}, **added}
    return args.props


def replaced(item: KubernetesObject, _settings: Settings) -> Iterator[Violation]:
    """Yield what keeps a changed spec from being replaced.

    A policy is not shown `replace_on_changes`; `delete_before_replace` it is, and an object with a fixed name
    cannot be replaced without it.
    """
    annotations = mapping(item.metadata.get("annotations"))
    is_made_up = item.made_up_name or annotations.get(_AUTONAMED) == "true" or not item.metadata.get("name")
    if not item.delete_before_replace and not is_made_up:
        yield Violation(
            path="spec",
            message="is immutable in the API, and with a fixed name a changed one can neither be updated nor "
            "be created beside the old one",
            remedy='Give it the options replace_on_changes=["spec"] and delete_before_replace=True, or '
            "leave metadata.name out, so that Pulumi makes one up",
        )


REQUIRED_LABELS = ResourceRule(
    name="required-labels",
    description="DRA objects have the labels that the organization asks for.",
    settings=LabelSettings,
    judged=lambda item: ["metadata.labels"] if item.kind else None,
    judge=missing_labels,
    concerns=lambda item, settings: item.kind in settings.kinds and bool(settings.labels),
    remediate=add_labels,
)
IMMUTABLE_SPECS = ResourceRule(
    name="immutable-specs",
    description="Claims, whose specs are immutable, are replaced and not updated.",
    settings=Settings,
    judged=lambda item: ["metadata.name"] if claims(item) and not item.delete_before_replace else None,
    judge=replaced,
)
