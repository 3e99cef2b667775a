"""Shape and selectors: what the API server says of one object."""

from typing import Any

import pytest
from harness import ADVISORY, UNKNOWN, Resource, run
from resources import DRA, IS_H100, claim, device_class, pod, pod_spec, template

from policies.admitted import SELECTORS, SHAPE


@pytest.mark.parametrize("resource", [claim("gpu", IS_H100, count=2), template(), device_class(), pod()])
def test_what_the_api_server_takes_passes(resource: Resource) -> None:
    assert run(SHAPE, [resource]) == []
    assert run(SELECTORS, [resource]) == []


def test_a_spelling_that_no_attribute_can_have_is_told_with_its_place() -> None:
    wrong = claim(constraints=[{"requests": ["gpu"], "matchAttribute": "gpu.nvidia.com/numa-node"}], count=2)
    (said,) = run(SHAPE, [wrong])
    assert said.startswith(
        "ResourceClaim team/gpu: spec.devices.constraints[0].matchAttribute: Invalid value"
    )
    assert said.endswith(".md)")
    assert "docs/findings/DRA1" in said


def test_a_selector_that_does_not_compile_is_told_by_its_own_policy_alone() -> None:
    wrong = claim("gpu", 'device.attributes["type"] == "gpu"')
    assert run(SHAPE, [wrong]) == []
    (said,) = run(SELECTORS, [wrong])
    assert said.startswith("ResourceClaim team/gpu: spec.devices.requests[0].exactly.selectors[0]")
    assert "found no matching overload" in said


def test_a_device_class_is_judged_as_a_claim_is() -> None:
    (said,) = run(SELECTORS, [device_class("device.driver")])
    assert "must evaluate to bool" in said


@pytest.mark.parametrize("spec", [None, {}, [], "text", {"devices": None}, {"devices": {"requests": [None]}}])
def test_odd_specs_are_told_or_taken_and_make_no_traceback(spec: Any) -> None:  # noqa: ANN401 - odd types
    props = {"apiVersion": DRA, "kind": "ResourceClaim", "metadata": {"name": "gpu"}, "spec": spec}
    for said in run(SHAPE, [Resource(props)]):
        assert said.startswith("ResourceClaim gpu: ")


def test_the_target_decides() -> None:
    tolerating = claim(tolerations=[{"key": "gpu/unhealthy", "operator": "Exists"}])
    older = claim(spec={"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu.nvidia.com"}]}})
    assert run(SHAPE, [tolerating], {"target": "1.34"}) == []
    (said,) = run(SHAPE, [older], {"target": "1.34"})
    assert "deviceClassName" in said
    (said,) = run(SHAPE, [older], {"target": "1.33"})
    assert "target is '1.33': Input should be '1.34', '1.35', '1.36' or '1.37'." in said


def test_an_unknown_spec_is_a_violation_or_a_note() -> None:
    unknown = claim(count=UNKNOWN)
    path = "spec.devices.requests[0].exactly.count"
    for rule in (SHAPE, SELECTORS):
        (said,) = run(rule, [unknown])
        assert f"cannot be judged at preview: {path} is not known before the update" in said
        (note,) = run(rule, [unknown], {"unknownValues": "warn"})
        assert note == f"{ADVISORY}string value at .{path} can't be known during preview"


def test_unknown_metadata_and_images_are_nobodys_business() -> None:
    spec = pod_spec(gpu="gpu")
    spec["containers"][0]["image"] = UNKNOWN
    spec["resourceClaims"][0]["resourceClaimName"] = UNKNOWN  # another object's name
    assert run(SHAPE, [claim(namespace=UNKNOWN), pod(spec=spec)]) == []


def test_each_item_of_a_list_is_judged_at_its_place() -> None:
    items = [claim().inputs, claim("two", count=-1).inputs]
    (said,) = run(SHAPE, [Resource({"apiVersion": DRA, "kind": "ResourceClaimList", "items": items})])
    assert said.startswith("ResourceClaim team/two: items[1].spec.devices.requests[0].exactly.count: ")


def test_an_unknown_value_in_a_list_is_named_with_its_place() -> None:
    items = [claim(count=UNKNOWN, allocationMode=UNKNOWN).inputs]
    (said,) = run(SHAPE, [Resource({"apiVersion": DRA, "kind": "ResourceClaimList", "items": items})])
    at = "items[0].spec.devices.requests[0].exactly"
    assert f"{at}.count and {at}.allocationMode are not known before the update" in said or (
        f"{at}.allocationMode and {at}.count are not known before the update" in said
    )


def test_what_is_not_about_dra_passes_by() -> None:
    for props in (
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"spec": "x"}},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", "nonsense": True}]}},
    ):
        assert run(SHAPE, [Resource(props)]) == []
