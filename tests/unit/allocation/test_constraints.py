import pytest
from scenes import (
    DRIVER,
    NUMA,
    alternatives,
    claim,
    device,
    devices_of,
    gpus,
    message,
    outcome,
    request,
    slice_of,
    why,
)

from dra.allocation import Allocated, Unsatisfied

EIGHT = slice_of("node", [device(f"gpu-{i}", {NUMA: i // 4, "model": "A", "index": i}) for i in range(8)])
SAME_NUMA = [{"matchAttribute": NUMA}]


def test_matching_devices_share_the_value() -> None:
    shuffled = slice_of("node", [device(f"gpu-{i}", {NUMA: i % 2}) for i in range(4)])
    assert devices_of(outcome(claim(request(count=2), constraints=SAME_NUMA), shuffled)) == ["gpu-0", "gpu-2"]


def test_a_match_that_is_missed_says_how_many_share_the_value() -> None:
    result = outcome(claim(request(count=5), constraints=SAME_NUMA), EIGHT)
    assert why(result) == f"node: 8 devices are of class any, 4 share one {NUMA}, 5 were asked"
    assert isinstance(result, Unsatisfied)
    assert result.path == "spec.devices.constraints[0]"


@pytest.mark.parametrize("constraint", ["matchAttribute", "distinctAttribute"])
def test_a_device_without_the_attribute_satisfies_no_constraint(constraint: str) -> None:
    result = outcome(claim(request(), constraints=[{constraint: f"{DRIVER}/absent"}]), EIGHT)
    assert why(result) == (
        f"node: 8 devices are of class any, none of them has the attribute {DRIVER}/absent, 1 was asked"
    )


def test_a_bare_name_in_a_slice_belongs_to_the_drivers_domain() -> None:
    both = claim(request(count=2), constraints=[{"matchAttribute": f"{DRIVER}/model"}])
    assert isinstance(outcome(both, EIGHT), Allocated)
    foreign = claim(request(count=2), constraints=[{"matchAttribute": "other.example.com/model"}])
    assert "none of them has the attribute" in why(outcome(foreign, EIGHT))


def test_distinct_devices_differ() -> None:
    distinct = [{"distinctAttribute": f"{DRIVER}/index"}]
    assert isinstance(outcome(claim(request(count=8), constraints=distinct), EIGHT), Allocated)
    apart = claim(request(count=2), constraints=[{"distinctAttribute": NUMA}])
    assert devices_of(outcome(apart, EIGHT)) == ["gpu-0", "gpu-4"]


def test_a_distinction_that_is_missed_says_how_many_values_there_are() -> None:
    result = outcome(claim(request(count=2), constraints=[{"distinctAttribute": f"{DRIVER}/model"}]), EIGHT)
    assert why(result) == (
        f"node: 8 devices are of class any, there is 1 different {DRIVER}/model, 2 were asked"
    )


def test_with_both_attributes_the_match_counts() -> None:
    both = [{"matchAttribute": f"{DRIVER}/model", "distinctAttribute": f"{DRIVER}/model"}]
    assert isinstance(outcome(claim(request(count=2), constraints=both), EIGHT), Allocated)


def test_a_constraint_is_about_the_requests_that_it_names() -> None:
    two = [request("a", count=4), request("b", count=4)]
    named = [{"requests": ["a"], "matchAttribute": NUMA}]
    assert isinstance(outcome(claim(*two, constraints=named), EIGHT), Allocated)
    result = outcome(claim(*two, constraints=SAME_NUMA), EIGHT)
    assert why(result) == (
        f"node: all the devices of the requests a, b must share one {NUMA}. "
        f"a: 8 devices are of class any, 4 share one {NUMA}, 4 were asked; "
        f"b: 8 devices are of class any, 4 share one {NUMA}, 4 were asked"
    )


@pytest.mark.parametrize(("name", "holds"), [("gpu", True), ("gpu/five", True), ("gpu/other", False)])
def test_a_constraint_names_a_request_or_one_of_its_alternatives(name: str, *, holds: bool) -> None:
    choice = alternatives("gpu", {"name": "five", "count": 5}, {"name": "other", "count": 9})
    result = outcome(claim(choice, constraints=[{"requests": [name], "matchAttribute": NUMA}]), EIGHT)
    assert isinstance(result, Unsatisfied if holds else Allocated)


def test_values_of_different_types_do_not_match() -> None:
    mixed = slice_of("node", [device("a", {NUMA: 1}), device("b", {NUMA: "1"}), device("c", {NUMA: True})])
    result = outcome(claim(request(count=2), constraints=SAME_NUMA), mixed)
    assert f"no two share one {NUMA}" in why(result)


def test_constraints_that_can_only_be_met_one_by_one() -> None:
    crossed = slice_of("node", [device(f"gpu-{i}", {NUMA: i // 2, "model": "AB"[i % 2]}) for i in range(4)])
    both = [*SAME_NUMA, {"matchAttribute": f"{DRIVER}/model"}]
    result = outcome(claim(request(count=2), constraints=both), crossed)
    assert why(result) == (
        f"node: enough devices share {DRIVER}/model, but not together with the constraint on {NUMA}"
    )


def test_all_that_a_constraint_forbids_fails_the_pod() -> None:
    result = outcome(claim(request(allocationMode="All"), constraints=SAME_NUMA), EIGHT)
    assert message(result) == (
        f"claim team/claim, request gpu: cannot add device {DRIVER}/node/gpu-4 because a claim constraint "
        "would not be satisfied"
    )


def test_all_under_a_constraint_fails_the_pod_by_way_of_any_choice_for_another_claim() -> None:
    # With gpu-0 or gpu-1 for the first claim All cannot be had; with gpu-2, which is like gpu-0, it comes to
    # gpu-1, which does not go with gpu-0.
    three = slice_of("node", [device(f"gpu-{i}", {NUMA: numa}) for i, numa in enumerate([0, 1, 0])])
    claims = [claim(request(), name="one"), claim(request(allocationMode="All"), constraints=SAME_NUMA)]
    assert "cannot add device gpu.example.com/node/gpu-1" in message(outcome(claims, three))


def test_an_empty_constraint_fails_the_pod() -> None:
    result = outcome(claim(request(), constraints=[{}]), slice_of("node", gpus(1)))
    assert message(result) == (
        "claim team/claim, constraint #0: empty constraint (unsupported constraint type?)"
    )
