"""What is written in the shape of an older API version is refused, and answered with the shape of v1."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from admitting import EMPTY, Document, admission, claim, device_class, exactly, of_kind, pod, resource_slice

from dra import codes
from dra.gates import Target
from dra.objects import ResourceClaim, ResourceSlice
from dra.validation import admit

FLAT = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 2}


def rewritten(document: Mapping[str, Any], target: Target = Target.V1_37) -> Any:  # noqa: ANN401 - any YAML
    """Return the YAML that the first problem's remedy shows."""
    problem = admission(document, target).problems[0]
    return yaml.safe_load(problem.remedy.split(":\n", 1)[1])


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (claim(FLAT), exactly(count=2)),
        (
            of_kind("ResourceClaim", {"resourceClassName": "gpu", "tolerations": [{"key": "a"}]}),
            {
                "devices": {
                    "requests": [
                        {
                            "name": "device",
                            "exactly": {"deviceClassName": "gpu", "tolerations": [{"key": "a"}]},
                        }
                    ]
                }
            },
        ),
        (
            resource_slice(
                {"name": "g", "basic": {"attributes": {"a": {"int": 1}}, "capacity": {"m": "1Gi"}}}
            ),
            {"name": "g", "attributes": {"a": {"int": 1}}, "capacity": {"m": {"value": "1Gi"}}},
        ),
        (
            resource_slice({"name": "g", "attributes": {"model": {"stringValue": "A100"}}}),
            {"string": "A100"},
        ),
        (
            pod({"name": "g", "source": {"resourceClaimTemplateName": "t"}}),
            {"name": "g", "resourceClaimTemplateName": "t"},
        ),
    ],
)
def test_an_older_shape_is_answered_with_that_of_v1(document: Document, expected: object) -> None:
    assert admission(document).problems[0].message.startswith("unknown field")
    assert admission(document).problems[0].code == codes.OLD_SHAPE.code
    assert rewritten(document) == expected


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("capacity", "80Gi", {"value": "80Gi"}),
        ("attributes", "A100", {"string": "A100"}),
        ("attributes", 1, {"int": 1}),
        ("attributes", True, {"bool": True}),
    ],
)
def test_a_bare_value_in_a_slice_is_answered_with_its_struct(
    *, field: str, value: object, expected: object
) -> None:
    document = resource_slice({"name": "g", field: {"x": value}})
    assert admission(document).problems[0].code == codes.WRONG_TYPE.code
    assert rewritten(document) == expected


@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("version", ["v1alpha2", "v1alpha3", "v1beta1", "v1beta2"])
def test_no_older_version_is_served(version: str, target: Target) -> None:
    document = claim(FLAT) | {"apiVersion": f"resource.k8s.io/{version}"}
    found = admission(document, target)
    assert [problem.message for problem in found.problems] == [
        f'no matches for kind "ResourceClaim" in version "resource.k8s.io/{version}"'
    ]
    assert found.problems[0].code == codes.NOT_SERVED.code
    assert rewritten(document, target) == claim(exactly(count=2))
    assert isinstance(found.object, ResourceClaim)


def test_a_whole_slice_and_template_are_rewritten() -> None:
    old = resource_slice({"name": "g", "basic": {"capacity": {"m": "1Gi"}}}, pool={"name": "n"})
    shown = rewritten(old | {"apiVersion": "resource.k8s.io/v1beta1"})
    assert shown["spec"]["devices"] == [{"name": "g", "capacity": {"m": {"value": "1Gi"}}}]
    template = of_kind("ResourceClaimTemplate", {"spec": {"devices": {"requests": [FLAT]}}})
    shown = rewritten(template | {"apiVersion": "resource.k8s.io/v1beta1"})
    assert shown["spec"]["spec"]["devices"]["requests"] == [exactly(count=2)]


def test_a_class_loses_what_v1_has_no_place_for() -> None:
    document = device_class(suitableNodes=EMPTY) | {"apiVersion": "resource.k8s.io/v1alpha3"}
    assert rewritten(document)["spec"] == {}


@pytest.mark.parametrize("kind", ["ResourceClass", "PodSchedulingContext", "ResourceClaimParameters"])
def test_kinds_that_are_gone_are_answered_with_what_came_instead(kind: str) -> None:
    document = {"apiVersion": "resource.k8s.io/v1alpha2", "kind": kind}
    found = admit(document, Target.V1_37)
    assert found is not None
    assert found.object is None
    assert "The kinds of" not in found.problems[0].remedy


def test_taint_rules_come_with_1_37() -> None:
    rule = of_kind("DeviceTaintRule", {"taint": {"key": "a", "effect": "NoSchedule"}})
    served = [not admission(rule, target).problems for target in Target]
    assert served == [False, False, False, True]
    assert "from Kubernetes 1.37 on" in admission(rule, Target.V1_36).problems[0].remedy


def test_an_older_object_is_what_it_would_be_in_v1() -> None:
    old = resource_slice({"name": "g", "basic": EMPTY}) | {"apiVersion": "resource.k8s.io/v1beta1"}
    found = admission(old).object
    assert isinstance(found, ResourceSlice)
    assert [device.name for device in found.spec.devices or ()] == ["g"]


def test_a_large_object_is_not_repeated_in_the_remedy() -> None:
    document = claim(FLAT | {"selectors": [{"cel": {"expression": "x" * 11_000}}]})
    remedy = admission(document).problems[0].remedy
    assert len(remedy) < 200
    assert remedy.endswith(".")


def test_lists_of_the_group_are_left_to_who_reads_documents() -> None:
    assert admit({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimList"}, Target.V1_37) is None
