"""Fields of a gate that is off are dropped and told; those of a gate that does not exist yet are unknown."""

import pytest
from admitting import Document, admission, claim, device_class, exactly, of_kind, problems, resource_slice

from dra.gates import Gate, Target
from dra.objects import ResourceClaim, ResourceSlice

OLD, MIDDLE, NEW, NEWEST = Target
TAINT = {"key": "a", "effect": "NoSchedule"}
COUNTERS = {"m": {"value": 1}}
ALTERNATIVE = {"name": "a", "deviceClassName": "c"}


def device(**fields: object) -> Document:
    return resource_slice({"name": "g"} | fields)


def constrained(**constraint: object) -> Document:
    return claim(exactly(), constraints=[constraint])


FROM_1_36: list[tuple[Document, str, Gate]] = [
    (
        claim(exactly(tolerations=[TAINT])),
        "spec.devices.requests[0].exactly.tolerations",
        Gate.DRA_DEVICE_TAINTS,
    ),
    (
        claim({"name": "g", "firstAvailable": [ALTERNATIVE | {"tolerations": [TAINT]}]}),
        "spec.devices.requests[0].firstAvailable[0].tolerations",
        Gate.DRA_DEVICE_TAINTS,
    ),
    (
        claim(exactly(capacity={"requests": {"m": 1}})),
        "spec.devices.requests[0].exactly.capacity",
        Gate.DRA_CONSUMABLE_CAPACITY,
    ),
    (
        claim({"name": "g", "firstAvailable": [ALTERNATIVE | {"capacity": {"requests": {"m": 1}}}]}),
        "spec.devices.requests[0].firstAvailable[0].capacity",
        Gate.DRA_CONSUMABLE_CAPACITY,
    ),
    (
        constrained(matchAttribute="a.b/c", distinctAttribute="a.b/c"),
        "spec.devices.constraints[0].distinctAttribute",
        Gate.DRA_CONSUMABLE_CAPACITY,
    ),
    (
        device_class(extendedResourceName="a.b/c"),
        "spec.extendedResourceName",
        Gate.DRA_EXTENDED_RESOURCE,
    ),
    (device(taints=[TAINT]), "spec.devices[0].taints", Gate.DRA_DEVICE_TAINTS),
    (
        device(allowMultipleAllocations=False),
        "spec.devices[0].allowMultipleAllocations",
        Gate.DRA_CONSUMABLE_CAPACITY,
    ),
    (device(bindsToNode=True), "spec.devices[0].bindsToNode", Gate.DRA_DEVICE_BINDING_CONDITIONS),
    (
        device(consumesCounters=[{"counterSet": "c", "counters": COUNTERS}]),
        "spec.devices[0].consumesCounters",
        Gate.DRA_PARTITIONABLE_DEVICES,
    ),
    (
        resource_slice(devices=None, sharedCounters=[{"name": "c", "counters": COUNTERS}]),
        "spec.sharedCounters",
        Gate.DRA_PARTITIONABLE_DEVICES,
    ),
]


@pytest.mark.parametrize(("document", "path", "gate"), FROM_1_36)
def test_a_field_is_dropped_and_told_where_its_gate_is_off(document: Document, path: str, gate: Gate) -> None:
    for target in (OLD, MIDDLE):
        found = admission(document, target)
        assert [(dropped.path, dropped.gate) for dropped in found.dropped] == [(path, gate)]
        assert found.problems == []
    for target in (NEW, NEWEST):
        found = admission(document, target)
        assert (found.dropped, found.problems) == ([], [])


ALPHAS: list[tuple[Document, str, Target]] = [
    (device(attributes={"a": {"int": 1, "ints": [1]}}), "spec.devices[0].attributes.a.ints", NEW),
    (
        device(nodeAllocatableResources={"cpu": {"mapping": {"deviceMultiplier": "1"}}}),
        "spec.devices[0].nodeAllocatableResources",
        NEWEST,
    ),
    (
        claim(exactly(derivedAttributes=[{"name": "a.b/c", "expression": "1"}])),
        "spec.devices.requests[0].exactly.derivedAttributes",
        NEWEST,
    ),
    (resource_slice(skipNodeOperations=["*"]), "spec.skipNodeOperations", NEWEST),
    (resource_slice(partitionTypeAttribute="a.b/c"), "spec.partitionTypeAttribute", NEWEST),
]


@pytest.mark.parametrize(("document", "path", "new_in"), ALPHAS)
def test_an_alpha_field_is_unknown_before_its_release_and_dropped_from_then_on(
    document: Document, path: str, new_in: Target
) -> None:
    for target in Target:
        found = admission(document, target)
        if target < new_in:
            assert [problem.message for problem in found.problems] == [f'unknown field "{path}"']
            assert f"comes with Kubernetes {new_in}" in found.problems[0].remedy
        else:
            assert found.problems == []
            assert [dropped.path for dropped in found.dropped] == [path]


def test_an_attribute_that_has_nothing_but_a_list_is_left_without_a_value() -> None:
    found = admission(device(attributes={"a": {"ints": [1]}}))
    assert [dropped.gate for dropped in found.dropped] == [Gate.DRA_LIST_TYPE_ATTRIBUTES]
    assert [problem.path for problem in found.problems] == ["spec.devices[0].attributes[a]"]


def test_what_is_dropped_is_not_in_the_object_and_not_held_to_rules() -> None:
    wrong = {"key": "-", "operator": "Lt"}
    document = claim(exactly(tolerations=[wrong]))
    found = admission(document, MIDDLE)
    assert found.problems == []
    assert isinstance(found.object, ResourceClaim)
    assert found.object.spec.devices.requests
    exact = found.object.spec.devices.requests[0].exactly
    assert exact
    assert exact.tolerations is None
    assert admission(document, NEW).problems


def test_what_is_empty_is_dropped_without_a_word() -> None:
    found = admission(claim(exactly(tolerations=[], capacity=None)), OLD)
    assert found.dropped == []


def test_counters_and_devices_in_one_slice_pass_where_the_counters_are_dropped() -> None:
    document = resource_slice({"name": "g"}, sharedCounters=[{"name": "c", "counters": COUNTERS}])
    assert [bool(problems(document, target)) for target in Target] == [False, False, True, True]


def test_nodes_of_each_device_are_lost_where_the_gate_is_off() -> None:
    document = resource_slice({"name": "g", "nodeName": "n"}, nodeName=None, perDeviceNodeSelection=True)
    old = admission(document, OLD)
    assert [dropped.path for dropped in old.dropped] == [
        "spec.devices[0].nodeName",
        "spec.perDeviceNodeSelection",
    ]
    assert [problem.path for problem in old.problems] == ["spec"]
    assert problems(document, NEW) == []


def test_a_constraint_that_loses_its_attribute_lacks_one() -> None:
    document = constrained(distinctAttribute="a.b/c")
    assert problems(document, OLD) == ["spec.devices.constraints[0].matchAttribute: Required value"]
    assert problems(document, NEW) == []


def test_a_request_policy_is_dropped_from_its_capacity() -> None:
    policy = {"default": 1, "validValues": [1]}
    document = device(capacity={"m": {"value": 1, "requestPolicy": policy}}, allowMultipleAllocations=True)
    found = admission(document, MIDDLE)
    assert [dropped.path for dropped in found.dropped] == [
        "spec.devices[0].allowMultipleAllocations",
        "spec.devices[0].capacity.m.requestPolicy",
    ]
    assert isinstance(found.object, ResourceSlice)
    assert problems(document, NEW) == []


def test_prioritized_lists_and_admin_access_are_on_everywhere() -> None:
    document = claim(exactly(adminAccess=True), {"name": "b", "firstAvailable": [ALTERNATIVE]})
    for target in Target:
        found = admission(document, target)
        assert (found.dropped, found.problems) == ([], [])


def test_a_compatibility_group_is_dropped_from_1_37_on() -> None:
    uses = {"counterSet": "c", "counters": COUNTERS, "compatibilityGroups": ["g"]}
    found = admission(device(consumesCounters=[uses]), NEWEST)
    assert [dropped.path for dropped in found.dropped] == [
        "spec.devices[0].consumesCounters[0].compatibilityGroups"
    ]
    assert found.problems == []


def test_the_status_of_a_claim_is_nobody_s_to_drop() -> None:
    result = {"request": "gpu", "driver": "a.b", "pool": "p", "device": "g", "tolerations": [TAINT]}
    document = of_kind("ResourceClaim", claim(exactly())["spec"]) | {
        "status": {"allocation": {"devices": {"results": [result]}}}
    }
    assert admission(document, OLD).dropped == []
