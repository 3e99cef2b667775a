import pytest
from scenes import alternatives, claim, devices_of, gpus, held, message, node, outcome, request, slice_of, why

from dra.allocation import Allocated, Failed, Unsatisfied
from dra.gates import Target

EIGHT = slice_of("node", gpus(8))


def test_the_first_devices_are_taken() -> None:
    assert devices_of(outcome(claim(request(count=2)), EIGHT)) == ["gpu-0", "gpu-1"]


def test_a_request_without_count_is_for_one() -> None:
    assert devices_of(outcome(claim(request()), EIGHT)) == ["gpu-0"]


def test_more_than_there_are_stays_pending_with_both_numbers() -> None:
    result = outcome(claim(request(count=9)), EIGHT)
    assert why(result) == "node: 8 devices are of class any, 9 were asked"
    assert isinstance(result, Unsatisfied)
    assert result.path == "spec.devices.requests[0].exactly.count"


def test_a_claim_without_requests_is_allocated_without_devices() -> None:
    assert outcome(claim(), EIGHT) == Allocated("node", {"claim": []})


def test_requests_do_not_share_devices() -> None:
    two = claim(request("a", count=5), request("b", count=4))
    result = outcome(two, EIGHT)
    assert why(result) == "node: 8 devices are of class any, 3 are left beside request a, 4 were asked"
    assert isinstance(result, Unsatisfied)
    assert result.path == "spec.devices.requests[1].exactly.count"


def test_a_choice_is_taken_back_when_a_later_request_needs_the_device() -> None:
    # `any` comes first and would take gpu-0, which is the only one that the second request may have.
    plain = slice_of("node", [*gpus(1, taints=[{"key": "k", "effect": "NoSchedule"}]), *gpus(2)[1:]])
    tolerant = [{"operator": "Exists"}]
    result = outcome(claim(request("a", count=1, tolerations=tolerant), request("b")), plain)
    assert devices_of(result) == ["gpu-0", "gpu-1"]
    swapped = outcome(claim(request("b"), request("a", count=2, tolerations=tolerant)), plain)
    assert isinstance(swapped, Unsatisfied)


def test_all_takes_every_device() -> None:
    assert len(devices_of(outcome(claim(request(allocationMode="All")), EIGHT))) == 8


def test_all_of_none_stays_pending() -> None:
    assert "there are no devices on the only node" in why(
        outcome(claim(request(allocationMode="All")), slice_of("node", []))
    )


def test_all_is_all_or_nothing() -> None:
    other = claim(name="other", held=held("gpu-3"))
    result = outcome(claim(request(allocationMode="All")), EIGHT, other)
    assert why(result) == (
        "node: 8 devices are of class any, 7 are free (not gpu-3 held by team/other), "
        "all of them were asked for"
    )


@pytest.mark.parametrize("asked", [request(count=33), request(allocationMode="All")])
def test_more_than_32_devices_fail_the_pod(asked: dict[str, object]) -> None:
    result = outcome(claim(asked), slice_of("node", gpus(33)))
    assert message(result) == (
        "claim team/claim, request gpu: adding 33 devices exceeds the claim limit of 32, "
        "with 0 already accounted for"
    )


def test_the_limit_is_for_the_sum_of_a_claims_requests() -> None:
    result = outcome(claim(request("a", count=20), request("b", count=13)), EIGHT)
    assert message(result).endswith(
        "request b: adding 13 devices exceeds the claim limit of 32, with 20 already accounted for"
    )


def test_the_limit_is_not_for_the_sum_of_a_pods_claims() -> None:
    claims = [claim(request(count=20), name="a"), claim(request(count=20), name="b")]
    assert isinstance(outcome(claims, slice_of("node", gpus(40))), Allocated)


def test_the_first_alternative_that_fits_is_taken() -> None:
    choice = alternatives("gpu", {"name": "big", "count": 16}, {"name": "small", "count": 2})
    result = outcome(claim(choice), EIGHT)
    assert isinstance(result, Allocated)
    assert [each.request for each in result.devices["claim"]] == ["gpu/small", "gpu/small"]


def test_each_alternative_is_told_why_it_fails() -> None:
    choice = alternatives("gpu", {"name": "big", "count": 16}, {"name": "small", "count": 12})
    result = outcome(claim(choice), EIGHT)
    assert why(result) == (
        "node: no alternative can be met. gpu/big: 8 devices are of class any, 16 were asked; "
        "gpu/small: 8 devices are of class any, 12 were asked"
    )


def test_an_alternative_over_the_limit_is_passed_over() -> None:
    choice = alternatives("b", {"name": "big", "count": 20}, {"name": "small", "count": 2})
    result = outcome(claim(request("a", count=20), choice), slice_of("node", gpus(64)))
    assert len(devices_of(result)) == 22


def test_an_earlier_alternative_gives_way_to_a_later_request() -> None:
    choice = alternatives("a", {"name": "big", "count": 6}, {"name": "small", "count": 2})
    result = outcome(claim(choice, request("b", count=4)), EIGHT)
    assert isinstance(result, Allocated)
    assert [each.request for each in result.devices["claim"]] == ["a/small"] * 2 + ["b"] * 4


def test_alternatives_fail_the_pod_where_the_release_has_none() -> None:
    missing = alternatives("gpu", {"name": "a", "deviceClassName": "gone"})
    assert message(outcome(claim(missing), EIGHT)) == "request gpu/a: device class gone does not exist"


def test_a_missing_class_fails_the_pod() -> None:
    result = outcome(claim(request(cls="gone")), EIGHT)
    assert result == Failed(
        "claim",
        "spec.devices.requests[0].exactly.deviceClassName",
        "request gpu: device class gone does not exist",
    )


def test_the_claims_of_a_pod_are_allocated_on_one_node() -> None:
    pair = [claim(request(count=3), name="a"), claim(request(count=2), name="b")]
    small, large = slice_of("small", gpus(4)), slice_of("large", gpus(5))
    result = outcome(pair, small, large)
    assert isinstance(result, Allocated)
    assert result.node == "large"
    assert devices_of(result, "b") == ["gpu-3", "gpu-4"]


def test_claims_that_fit_only_alone_stay_pending() -> None:
    pair = [claim(request(count=5), name="a"), claim(request(count=4), name="b")]
    result = outcome(pair, EIGHT)
    assert why(result) == "node: 8 devices are of class any, 3 are left beside claim a, 4 were asked"
    assert isinstance(result, Unsatisfied)
    assert result.claim == "b"


def test_the_node_that_comes_nearest_is_named() -> None:
    result = outcome(claim(request(count=9)), slice_of("four", gpus(4)), EIGHT, slice_of("two", gpus(2)))
    assert why(result).startswith("node: 8 devices")


def test_without_a_node_the_claim_stays_pending() -> None:
    assert why(outcome(claim(request()))) == "there is no node"


def test_a_cordoned_node_takes_no_pod() -> None:
    result = outcome(claim(request()), node("node", unschedulable=True), EIGHT)
    assert why(result) == "the only node does not take the pod at all, whatever devices are there"


def test_capacity_requests_fail_the_pod_where_the_release_does_not_have_them() -> None:
    result = outcome(claim(request(capacity={"requests": {"memory": "1Gi"}})), EIGHT, target=Target.V1_35)
    assert message(result).endswith(
        "request gpu: has capacity requests, but the DRAConsumableCapacity feature is disabled"
    )
