"""Documents are read as `kubectl apply --validate=strict` has them read."""

import time
from typing import Any

import pytest
from admitting import (
    EMPTY,
    Document,
    admission,
    claim,
    device_class,
    exactly,
    messages,
    of_kind,
    problems,
    remedies,
    resource_slice,
)

from dra import codes
from dra.gates import Target
from dra.objects import Namespace, Node, ResourceClaim, ResourceSlice
from dra.validation import admit

COUNT = "ExactDeviceRequest.spec.devices.requests.exactly.count"
QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def with_capacity(value: object) -> Document:
    return resource_slice({"name": "g", "capacity": {"memory": {"value": value}}})


def capacity_of(document: Document) -> str:
    found = admission(document).object
    assert isinstance(found, ResourceSlice)
    assert found.spec.devices
    return found.spec.devices[0].capacity["memory"].value


def test_unknown_fields_are_told_all_of_them_in_the_order_of_their_sorted_keys() -> None:
    document = claim(exactly(b=1, A=2), zebra=1) | {"extra": 1}
    assert messages(document) == [
        'unknown field "extra"',
        'unknown field "spec.devices.requests[0].exactly.A"',
        'unknown field "spec.devices.requests[0].exactly.b"',
        'unknown field "spec.devices.zebra"',
    ]


def test_a_field_has_one_spelling() -> None:
    document = claim(exactly(Count=1))
    assert messages(document) == ['unknown field "spec.devices.requests[0].exactly.Count"']
    assert remedies(document) == ["Did you mean count? The field is not in the API as it is spelt here."]


def test_an_unknown_field_of_a_map_s_value_has_the_key_in_its_path() -> None:
    document = resource_slice({"name": "g", "attributes": {"a.b/c": {"text": "x"}}})
    assert messages(document) == ['unknown field "spec.devices[0].attributes.a.b/c.text"']


def test_admin_access_in_an_alternative_is_sent_to_exactly() -> None:
    document = claim(
        {"name": "g", "firstAvailable": [{"name": "a", "deviceClassName": "c", "adminAccess": True}]}
    )
    assert "`exactly`" in remedies(document)[0]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            claim(exactly(count="2")),
            f"string into Go struct field {COUNT} of type int64",
        ),
        (
            claim(exactly(count=1.5)),
            f"number 1.5 into Go struct field {COUNT} of type int64",
        ),
        (
            claim(exactly(count=2**63)),
            (
                "number 9223372036854775808 into Go struct field "
                "ExactDeviceRequest.spec.devices.requests.exactly.count of type int64"
            ),
        ),
        (
            claim(exactly(count=True)),
            "bool into Go struct field ExactDeviceRequest.spec.devices.requests.exactly.count of type int64",
        ),
        (
            claim(exactly(adminAccess="yes")),
            (
                "string into Go struct field ExactDeviceRequest.spec.devices.requests.exactly.adminAccess "
                "of type bool"
            ),
        ),
        (
            claim(exactly() | {"name": 8}),
            "number into Go struct field DeviceRequest.spec.devices.requests.name of type string",
        ),
        (
            of_kind("ResourceClaim", {"devices": {"requests": EMPTY}}),
            "object into Go struct field DeviceClaim.spec.devices.requests of type []v1.DeviceRequest",
        ),
        (
            of_kind("ResourceClaim", {"devices": {"requests": ["gpu"]}}),
            "string into Go struct field DeviceClaim.spec.devices.requests of type v1.DeviceRequest",
        ),
        (
            of_kind("ResourceClaim", []),
            "array into Go struct field ResourceClaim.spec of type v1.ResourceClaimSpec",
        ),
        (
            of_kind("ResourceClaim", EMPTY, labels={"a": 1}),
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            of_kind("ResourceClaim", EMPTY, labels="a"),
            "string into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_in_go_s_words(document: Document, expected: str) -> None:
    found = admission(document)
    assert found.object is None
    assert [problem.message for problem in found.problems] == [f"json: cannot unmarshal {expected}"]
    assert found.problems[0].code == codes.WRONG_TYPE.code


def test_a_document_with_unknown_fields_is_decoded_all_the_same() -> None:
    found = admission(claim(exactly(extra=1)))
    assert isinstance(found.object, ResourceClaim)


def test_null_is_as_good_as_nothing() -> None:
    document = claim(
        exactly(selectors=None, count=None, adminAccess=None), None, constraints=None, config=None
    )
    assert problems(document) == problems(claim(exactly(), EMPTY))
    assert problems(of_kind("ResourceClaim", {"devices": None}, labels=None, annotations=None)) == []


def test_a_whole_number_may_have_a_decimal_point() -> None:
    found = admission(claim(exactly(count=2.0))).object
    assert isinstance(found, ResourceClaim)
    assert found.spec.devices.requests
    assert found.spec.devices.requests[0].exactly
    assert found.spec.devices.requests[0].exactly.count == 2


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("40Gi", "40Gi"),
        ("1024Mi", "1Gi"),
        (" 1 ", "1"),
        (10, "10"),
        (0.5, "500m"),
        (1e21, "1e+21"),
        (1e-07, "100e-9"),
        (None, "0"),
        # Kubernetes prints this as 5; what it is compared with is the number.
        ("5000000000000000000000", "5000000000000000000000"),
    ],
)
def test_a_quantity_may_be_a_number_and_is_stored_as_kubernetes_prints_it(given: object, stored: str) -> None:
    assert capacity_of(with_capacity(given)) == stored


@pytest.mark.parametrize("given", ["", "40 Gi", "40GB", True, [1], EMPTY])
def test_what_is_no_quantity_is_refused(given: object) -> None:
    found = admission(with_capacity(given))
    assert found.object is None
    assert "quantit" in found.problems[0].message
    assert found.problems[0].path == "spec.devices[0].capacity.memory.value"


def test_where_the_api_server_stops_reading_is_told_first() -> None:
    document = resource_slice({"name": 1, "capacity": {"memory": {"value": "x"}}})
    assert messages(document)[0] == QUANTITY
    taint = {"key": "a", "effect": "NoSchedule", "timeAdded": 5}
    document = resource_slice({"name": "g", "bindsToNode": 1, "taints": [taint]})
    assert messages(document)[0] == (
        "json: cannot unmarshal number into Go struct field DeviceTaint.spec.devices.taints.timeAdded "
        "of type string"
    )


@pytest.mark.parametrize(
    ("given", "good"),
    [
        ("2026-01-31T12:00:00Z", True),
        ("2026-01-31T12:00:00.5+02:00", True),
        ("2026-01-31", False),
        ("soon", False),
    ],
)
def test_a_time_is_of_rfc_3339(*, given: str, good: bool) -> None:
    taint = {"key": "a", "effect": "NoSchedule", "timeAdded": given}
    found = messages(resource_slice({"name": "g", "taints": [taint]}))
    assert [text.split('"')[0] for text in found] == ([] if good else ["parsing time "])


def test_keys_that_are_no_strings_become_the_strings_that_kubectl_makes_of_them() -> None:
    document = of_kind("ResourceClaim", {"devices": EMPTY, 7: "x", True: "y", None: "z"})
    assert messages(document) == [
        'unknown field "spec.7"',
        'unknown field "spec.null"',
        'unknown field "spec.true"',
    ]


def test_half_a_character_is_replaced_as_go_does_it() -> None:
    assert '"a\\ud800"' not in problems(claim(exactly() | {"name": "a\ud800"}))[0]
    assert '"a�"' in problems(claim(exactly() | {"name": "a\ud800"}))[0]


def test_what_is_quoted_is_escaped_as_go_does_it() -> None:
    assert problems(claim(exactly() | {"name": 'a"\\\n\x01\u200b\U000e0001é'}))[0].startswith(
        'spec.devices.requests[0].name: Invalid value: "a\\"\\\\\\n\\x01\\u200b\\U000e0001é": '
    )


def test_nodes_and_namespaces_are_read_for_what_matters_of_them() -> None:
    node = admission(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n", "labels": {"a": "b"}, "uid": "u", "managedFields": [EMPTY]},
            "spec": {"unschedulable": True, "podCIDR": "10.0.0.0/24"},
            "status": {"allocatable": {"nvidia.com/gpu": 8}, "nodeInfo": EMPTY},
        }
    ).object
    assert isinstance(node, Node)
    assert (node.metadata.labels, node.allocatable, node.unschedulable) == (
        {"a": "b"},
        {"nvidia.com/gpu": "8"},
        True,
    )
    namespace = admission({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}).object
    assert isinstance(namespace, Namespace)


def test_an_unknown_kind_of_the_group_is_answered_with_those_that_there_are() -> None:
    found = admission(of_kind("ResourceClaims", EMPTY))
    assert found.problems[0].message == 'no matches for kind "ResourceClaims" in version "resource.k8s.io/v1"'
    assert "ResourceClaim, ResourceClaimTemplate" in found.problems[0].remedy


HOSTILE: dict[str, Document] = {
    "many requests": claim(*[exactly() | {"name": f"r{n}"} for n in range(100_000)]),
    "many devices": resource_slice(*[{"name": f"g{n}"} for n in range(100_000)]),
    "many unknown fields": of_kind("ResourceClaim", {f"f{n}": n for n in range(100_000)}),
    "many references": claim(
        exactly(), constraints=[{"requests": ["x"] * 100_000, "matchAttribute": "a.b/c"}]
    ),
    "many attributes": resource_slice({"name": "g", "attributes": {f"a{n}": EMPTY for n in range(100_000)}}),
    "many conditions": resource_slice(
        {"name": "g", "bindingConditions": ["a"] * 50_000, "bindingFailureConditions": ["a"] * 50_000}
    ),
    "a long name": claim(exactly() | {"name": "a-" * 1_000_000}),
    "a long class": claim(exactly(deviceClassName="a." * 1_000_000)),
    "a long attribute": claim(exactly(), constraints=[{"matchAttribute": "a/" + "b." * 1_000_000}]),
    "a long key": resource_slice({"name": "g", "attributes": {"a" * 1_000_000: EMPTY}}),
    "a long version": resource_slice({"name": "g", "attributes": {"a": {"version": "1." * 1_000_000}}}),
    "a long quantity": with_capacity("1" * 1_000_000),
    "a long resource": device_class(extendedResourceName="a/" * 1_000_000),
}


@pytest.mark.parametrize("document", HOSTILE.values(), ids=HOSTILE)
def test_hostile_input_is_refused_in_no_time(document: Document) -> None:
    started = time.process_time()
    assert admission(document).problems
    assert time.process_time() - started < 10


def test_parameters_that_are_too_deep_or_stand_for_too_much_are_refused() -> None:
    deep: Any = EMPTY
    for _ in range(100_000):
        deep = {"a": deep}
    bomb: Any = ["x"]
    for _ in range(60):
        bomb = [bomb, bomb]
    for parameters in (deep, {"a": bomb}):
        document = claim(exactly(), config=[{"opaque": {"driver": "a.b", "parameters": parameters}}])
        assert problems(document) == [
            "spec.devices.config[0].opaque.parameters: Too long: may not be more than 10240 bytes"
        ]


def test_lists_of_lists_that_stand_for_too_much_are_not_read_to_the_end() -> None:
    selectors = [{"cel": {"expression": "true"}}] * 2000
    requests = [exactly(selectors=selectors)] * 2000
    found = admit(claim(*requests), Target.V1_37)
    assert found is not None
    assert [problem.message for problem in found.problems] == ["Request entity too large: limit is 3145728"]


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"])
@pytest.mark.parametrize("version", ["v1", "apps/v1", "resource.k8s.io", "resource/v1"])
def test_a_kind_of_ours_in_another_group_of_kubernetes_is_a_slip(kind: str, version: str) -> None:
    admission = admit({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}, Target.V1_37)
    assert admission is not None
    assert [each.message for each in admission.problems] == [
        f'no matches for kind "{kind}" in version "{version}"'
    ]
    assert admit({"apiVersion": "example.com/v1", "kind": kind}, Target.V1_37) is None


@pytest.mark.parametrize("nothing", [{}, {"apiVersion": ""}, {"apiVersion": None}])
def test_a_kind_of_ours_without_a_version_and_a_version_without_a_kind_are_told(nothing: Document) -> None:
    (admission, other) = (
        admit(nothing | {"kind": "ResourceClaim"}, Target.V1_37),
        admit({"apiVersion": "resource.k8s.io/v1"}, Target.V1_37),
    )
    assert admission is not None
    assert other is not None
    assert [each.message for each in (*admission.problems, *other.problems)] == [
        "apiVersion not set",
        "kind not set",
    ]
