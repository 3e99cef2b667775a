"""Required labels, immutable specs, and what all policies do with settings, unknown values and intentions."""

from typing import Any

import pytest
from harness import ADVISORY, UNKNOWN, Resource, from_config, from_the_wire, options, run
from pulumi_policy import ResourceValidationArgs
from pulumi_policy.deserialize import deserialize_properties, serialize_properties

from policies.alone import IMMUTABLE_SPECS, REQUIRED_LABELS, LabelSettings, add_labels
from policies.settings import read

TEAM = {"labels": {"team": {"values": ["ml", "hpc"], "default": "ml"}, "cost": {}}}


KNOWN = "intended, kinds, labels, unknownValues"


def claim(metadata: Any, *, delete_before_replace: bool | None = None) -> Resource:  # noqa: ANN401 - odd types
    props = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata}
    return Resource(props | {"spec": {}}, name="gpu", delete_before_replace=delete_before_replace)


def test_labels_that_are_there_and_allowed_pass() -> None:
    assert run(REQUIRED_LABELS, [claim({"name": "gpu", "labels": {"team": "hpc", "cost": "7"}})], TEAM) == []


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (None, ["the label team is missing", "the label cost is missing"]),
        ({}, ["the label team is missing", "the label cost is missing"]),
        ({"team": "sales", "cost": ""}, ["the label team is 'sales'", "the label cost is missing"]),
        ("text", ["the label team is missing", "the label cost is missing"]),
    ],
)
def test_labels_that_are_missing_or_other_are_told(labels: Any, said: list[str]) -> None:  # noqa: ANN401 - odd types
    found = run(REQUIRED_LABELS, [claim({"name": "gpu", "namespace": "n", "labels": labels})], TEAM)
    assert len(found) == len(said)
    for sentence, part in zip(found, said, strict=True):
        assert sentence.startswith("ResourceClaim n/gpu: metadata.labels")
        assert part in sentence


def test_metadata_may_be_absent_or_no_mapping() -> None:
    absent = Resource({"kind": "ResourceClaim"}, type_="kubernetes:resource.k8s.io/v1:ResourceClaim")
    null = Resource(
        {"kind": "ResourceClaim", "metadata": None}, type_="kubernetes:resource.k8s.io/v1:ResourceClaim"
    )
    assert len(run(REQUIRED_LABELS, [absent, null], TEAM)) == 4


def test_without_settings_and_for_other_kinds_nothing_is_asked() -> None:
    pod = Resource({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})
    assert run(REQUIRED_LABELS, [claim({"name": "gpu"}), pod]) == []
    assert run(REQUIRED_LABELS, [pod], TEAM) == []
    assert run(REQUIRED_LABELS, [claim({"name": "gpu", "labels": UNKNOWN})]) == []
    assert len(run(REQUIRED_LABELS, [pod, claim({"name": "gpu"})], TEAM | {"kinds": ["Pod"]})) == 2


def test_unknown_labels_are_a_violation_unless_the_settings_say_otherwise() -> None:
    unknown = claim({"name": "gpu", "labels": {"team": UNKNOWN}})
    (said,) = run(REQUIRED_LABELS, [unknown], TEAM)
    assert "cannot be judged at preview: metadata.labels.team is not known before the update" in said
    (note,) = run(REQUIRED_LABELS, [unknown], TEAM | {"unknownValues": "warn"})
    assert note == f"{ADVISORY}string value at .metadata.labels.team can't be known during preview"


def test_an_unknown_value_elsewhere_is_nobodys_business() -> None:
    labels = {"team": "ml", "cost": "7"}
    assert (
        run(REQUIRED_LABELS, [claim({"name": UNKNOWN, "namespace": UNKNOWN, "labels": labels})], TEAM) == []
    )


def test_what_is_unknown_of_an_intended_violation_is_told_as_that() -> None:
    intended = TEAM | {"intended": {"n/gpu": "a lesson on labels"}}
    (said,) = run(REQUIRED_LABELS, [claim({"name": "gpu", "namespace": "n", "labels": UNKNOWN})], intended)
    assert "cannot be judged at preview: metadata.labels is not known" in said


def test_an_intended_violation_is_silent_and_one_that_is_none_is_told() -> None:
    intended = TEAM | {"intended": {"n/gpu": "a lesson on labels"}}
    assert run(REQUIRED_LABELS, [claim({"name": "gpu", "namespace": "n"})], intended) == []
    good = claim({"name": "gpu", "namespace": "n", "labels": {"team": "ml", "cost": "7"}})
    (said,) = run(REQUIRED_LABELS, [good], intended)
    assert said.startswith("`intended` says that n/gpu is to violate this policy, and it does not.")


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"label": {}}, f"There is no setting label; the settings are enforcementLevel, {KNOWN}."),
        ({"unknownValues": "maybe"}, "unknownValues is 'maybe': Input should be 'fail' or 'warn'."),
        ({"labels": {"team": {"value": "x"}}}, "labels.team.value is 'x': Extra inputs are not permitted."),
        ({"labels": ["team"]}, "labels is ['team']: Input should be a valid dictionary."),
        ({"kinds": [1]}, "kinds.0 is 1: Input should be a valid string."),
    ],
)
def test_wrong_settings_are_told_once(config: dict[str, Any], sentence: str) -> None:
    found = run(REQUIRED_LABELS, [claim({"name": "a"}), claim({"name": "b"})], config)
    assert found == [f"The settings of this policy are wrong, so nothing is judged. {sentence}"]


def remediated(metadata: Any, config: dict[str, Any] = TEAM) -> Any:  # noqa: ANN401 - odd types
    """Return the metadata that goes back to the engine; secrets and unknowns as the SDK hands them in."""
    resource = claim(metadata)
    props = deserialize_properties(dict(resource.inputs), proxy_secrets=True)
    args = ResourceValidationArgs(
        resource.type, props, resource.urn, resource.name, options(), None, from_config(config)
    )
    made = add_labels(args, read(LabelSettings, from_config(config)))
    return None if made is None else serialize_properties(made)["metadata"]


SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "s"}


def test_remediation_adds_what_has_a_default_and_keeps_the_rest() -> None:
    metadata = {"name": UNKNOWN, "annotations": {"a": SECRET}, "labels": {"app": "x"}}
    assert remediated(metadata) == metadata | {"labels": {"app": "x", "team": "ml"}}
    assert remediated({"name": "gpu"}) == {"name": "gpu", "labels": {"team": "ml"}}


@pytest.mark.parametrize("labels", [{"team": "sales"}, {"team": UNKNOWN}, UNKNOWN])
def test_remediation_changes_nothing_that_is_there_or_not_known(labels: Any) -> None:  # noqa: ANN401 - odd types
    assert remediated({"name": "gpu", "labels": labels}) is None


def test_remediation_wants_a_default_and_metadata() -> None:
    assert remediated({"name": "gpu"}, {"labels": {"cost": {}}}) is None
    assert remediated(None) is None


def test_a_claim_of_a_fixed_name_is_deleted_before_it_is_replaced() -> None:
    fixed: dict[str, Any] = {"name": "gpu", "namespace": "n"}
    (said,) = run(IMMUTABLE_SPECS, [claim(fixed)])
    assert said.startswith("ResourceClaim n/gpu: spec: is immutable in the API")
    assert 'replace_on_changes=["spec"] and delete_before_replace=True' in said
    (said,) = run(IMMUTABLE_SPECS, [claim(fixed, delete_before_replace=False)])
    assert run(IMMUTABLE_SPECS, [claim(fixed, delete_before_replace=True)]) == []


def test_a_name_that_pulumi_makes_up_needs_no_deletion_first() -> None:
    autonamed = {"name": "gpu-81697ee0", "annotations": {"pulumi.com/autonamed": "true"}}
    for metadata in ({}, {"namespace": UNKNOWN}, {"generateName": "gpu-"}, autonamed):
        assert run(IMMUTABLE_SPECS, [claim(dict(metadata))]) == [], metadata


def test_what_is_mutable_may_be_updated() -> None:
    slice_ = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}
    assert run(IMMUTABLE_SPECS, [Resource(slice_)]) == []
    assert from_the_wire(slice_)["kind"] == "ResourceSlice"
