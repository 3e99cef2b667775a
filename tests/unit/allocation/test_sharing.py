from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from scenes import (
    DRIVER,
    alternatives,
    claim,
    device,
    devices_of,
    gpus,
    held,
    message,
    outcome,
    request,
    share,
    slice_of,
    taint_rule,
    why,
)

from dra.allocation import Allocated, Failed, Unsatisfied
from dra.gates import Target

UNHEALTHY = {"key": "unhealthy", "value": "ecc", "effect": "NoSchedule"}


def memory(value: str, policy: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"memory": {"value": value} | ({"requestPolicy": policy} if policy else {})}


def shared(name: str, value: str, policy: Mapping[str, Any] | None = None, **more: object) -> dict[str, Any]:
    return device(name, None, allowMultipleAllocations=True, capacity=memory(value, policy), **more)


def asking(amount: str, name: str = "gpu", **more: object) -> dict[str, Any]:
    return request(name, cls="any", cel=(), capacity={"requests": {"memory": amount}}, **more)


def consumed(result: Allocated | Unsatisfied | Failed) -> Sequence[Mapping[str, str]]:
    assert isinstance(result, Allocated), result
    return [each.consumed_capacity for each in result.devices["claim"]]


def test_a_device_in_use_is_passed_over() -> None:
    other = claim(name="other", held=held("gpu-0"))
    assert devices_of(outcome(claim(request()), slice_of("node", gpus(2)), other)) == ["gpu-1"]


def test_devices_in_use_are_named_with_their_claims() -> None:
    other = claim(name="other", held=held("gpu-0", "gpu-1"))
    result = outcome(claim(request(count=3)), slice_of("node", gpus(4)), other)
    assert why(result) == (
        "node: 4 devices are of class any, 2 are free (not gpu-0, gpu-1 held by team/other), 3 were asked"
    )


def test_admin_access_takes_devices_in_use_and_leaves_them_in_use() -> None:
    other = claim(name="other", held=held("gpu-0"))
    admin = claim(request(adminAccess=True))
    result = outcome(admin, slice_of("node", gpus(1)), other)
    assert isinstance(result, Allocated)
    assert result.devices["claim"][0].admin_access
    watching = claim(name="watching", held=held("gpu-0", admin=True))
    assert devices_of(outcome(claim(request()), slice_of("node", gpus(1)), watching)) == ["gpu-0"]


def test_admin_access_takes_each_device_once_for_a_claim() -> None:
    admin = claim(request("a", adminAccess=True), request("b", adminAccess=True))
    assert devices_of(outcome(admin, slice_of("node", gpus(2)))) == ["gpu-0", "gpu-1"]
    assert isinstance(outcome(admin, slice_of("node", gpus(1))), Unsatisfied)


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_taint_keeps_claims_away(effect: str) -> None:
    tainted = slice_of("node", [device("gpu-0", None, taints=[UNHEALTHY | {"effect": effect}]), *gpus(2)[1:]])
    assert devices_of(outcome(claim(request()), tainted)) == ["gpu-1"]
    result = outcome(claim(request(count=2)), tainted)
    assert why(result) == (
        "node: 2 devices are of class any, 1 has no taint that is not tolerated "
        f"(not unhealthy=ecc:{effect} on gpu-0), 2 were asked"
    )
    assert isinstance(result, Unsatisfied)
    assert result.path == "spec.devices.requests[0].exactly.tolerations"


def test_a_taint_without_effect_keeps_nobody_away() -> None:
    assert devices_of(
        outcome(claim(request()), slice_of("node", gpus(1, taints=[UNHEALTHY | {"effect": "None"}])))
    )


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "unhealthy", "operator": "Exists"}, True),
        ({"key": "unhealthy", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "unhealthy", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "unhealthy", "operator": "Equal", "value": "ecc"}, True),
        ({"key": "unhealthy", "value": "ecc"}, True),
        ({"key": "unhealthy", "value": "xid"}, False),
        ({"key": "unhealthy"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_tolerations_are_for_the_taints_that_they_fit(
    toleration: Mapping[str, str], *, tolerated: bool
) -> None:
    result = outcome(claim(request(tolerations=[toleration])), slice_of("node", gpus(1, taints=[UNHEALTHY])))
    assert isinstance(result, Allocated if tolerated else Unsatisfied)


@pytest.mark.parametrize(
    ("selector", "hit"),
    [
        ({}, True),
        (None, False),
        ({"driver": DRIVER}, True),
        ({"driver": "other.example.com"}, False),
        ({"pool": "node", "device": "gpu-0"}, True),
        ({"device": "gpu-1"}, False),
    ],
)
def test_a_rule_taints_the_devices_that_it_selects(selector: Mapping[str, str] | None, *, hit: bool) -> None:
    result = outcome(claim(request()), slice_of("node", gpus(1)), taint_rule(UNHEALTHY, selector))
    assert isinstance(result, Unsatisfied if hit else Allocated)


def test_taints_count_only_where_the_release_has_them() -> None:
    tainted = slice_of("node", gpus(1, taints=[UNHEALTHY]))
    assert isinstance(outcome(claim(request()), tainted, target=Target.V1_36), Unsatisfied)
    assert isinstance(outcome(claim(request()), tainted, target=Target.V1_35), Allocated)
    by_rule = slice_of("node", gpus(1)), taint_rule(UNHEALTHY, {})
    assert isinstance(outcome(claim(request()), *by_rule, target=Target.V1_36), Allocated)


@pytest.mark.parametrize(
    ("asked", "policy", "taken"),
    [
        ("10Gi", None, "10Gi"),
        ("10Gi", {"default": "1Gi", "validRange": {"min": "4Gi", "step": "4Gi"}}, "12Gi"),
        ("1Gi", {"default": "4Gi", "validRange": {"min": "4Gi", "step": "4Gi"}}, "4Gi"),
        ("3Gi", {"default": "1Gi", "validRange": {"min": "1Gi"}}, "3Gi"),
        ("9Gi", {"default": "8Gi", "validValues": ["8Gi", "16Gi"]}, "16Gi"),
        ("600m", {"default": "500m", "validRange": {"min": "500m", "step": "250m"}}, "1"),
        (None, {"default": "8Gi", "validValues": ["8Gi", "16Gi"]}, "8Gi"),
        (None, None, "80Gi"),
    ],
)
def test_what_is_asked_of_a_shared_device_is_rounded_by_its_policy(
    asked: str | None, policy: Mapping[str, Any] | None, taken: str
) -> None:
    wanted = asking(asked) if asked else request()
    result = outcome(claim(wanted), slice_of("node", [shared("gpu-0", "80Gi", policy)]))
    assert consumed(result) == [{"memory": taken}]


@pytest.mark.parametrize(
    ("asked", "policy"),
    [
        ("20Gi", {"default": "8Gi", "validValues": ["8Gi", "16Gi"]}),
        ("9Gi", {"default": "1Gi", "validRange": {"min": "1Gi", "max": "8Gi"}}),
    ],
)
def test_what_a_policy_does_not_allow_is_not_satisfied(asked: str, policy: Mapping[str, Any]) -> None:
    result = outcome(claim(asking(asked)), slice_of("node", [shared("gpu-0", "80Gi", policy)]))
    assert "its requestPolicy does not allow what was asked" in why(result)


def test_an_amount_that_cannot_be_rounded_fails_the_pod() -> None:
    policy = {"default": "1", "validRange": {"min": "1", "step": "1"}}
    result = outcome(claim(asking("10E")), slice_of("node", [shared("gpu-0", "80Gi", policy)]))
    assert f'checking capacity for device {DRIVER}/node/gpu-0: capacity "memory": ' in message(result)
    assert message(result).endswith("request 10E exceeds MaxInt64")


def test_shares_of_a_device_add_up() -> None:
    two = claim(asking("30Gi", "a"), asking("40Gi", "b"))
    result = outcome(two, slice_of("node", [shared("gpu-0", "80Gi")]))
    assert devices_of(result) == ["gpu-0", "gpu-0"]
    assert isinstance(result, Allocated)
    assert len({each.share_id for each in result.devices["claim"]}) == 2
    three = claim(asking("30Gi", "a"), asking("40Gi", "b"), asking("20Gi", "c"))
    assert why(outcome(three, slice_of("node", [shared("gpu-0", "80Gi")]))) == (
        "node: 1 device is of class any, 0 are left beside requests a, b "
        "(gpu-0: memory: 20Gi asked, 10Gi left), 1 was asked"
    )


def test_a_request_takes_one_share_of_a_device() -> None:
    both = claim(asking("10Gi", count=2))
    assert isinstance(outcome(both, slice_of("node", [shared("gpu-0", "80Gi")])), Unsatisfied)
    assert devices_of(outcome(both, slice_of("node", [shared("gpu-0", "80Gi"), shared("gpu-1", "80Gi")])))


def test_shares_of_other_claims_count() -> None:
    other = claim(
        name="other", held=[share("gpu-0", "one", memory="60Gi"), share("gpu-0", "two", memory="10Gi")]
    )
    there = slice_of("node", [shared("gpu-0", "80Gi")])
    assert devices_of(outcome(claim(asking("10Gi")), there, other)) == ["gpu-0"]
    result = outcome(claim(asking("11Gi")), there, other)
    assert why(result) == (
        "node: 1 device is of class any, 0 have the capacity (not gpu-0: memory: 11Gi asked, 10Gi left), "
        "1 was asked"
    )
    assert isinstance(result, Unsatisfied)
    assert result.path == "spec.devices.requests[0].exactly.capacity"


def test_an_exhausted_device_does_not_end_the_search() -> None:
    other = claim(name="other", held=[share("gpu-0", "one", memory="80Gi")])
    there = slice_of("node", [shared("gpu-0", "80Gi"), shared("gpu-1", "80Gi")])
    assert devices_of(outcome(claim(asking("1Gi")), there, other)) == ["gpu-1"]


def test_all_fails_where_one_match_is_exhausted() -> None:
    other = claim(name="other", held=[share("gpu-0", "one", memory="80Gi")])
    there = slice_of("node", [shared("gpu-0", "80Gi"), shared("gpu-1", "80Gi")])
    result = outcome(claim(asking("1Gi", allocationMode="All")), there, other)
    assert "1 has the capacity (not gpu-0: memory: 1Gi asked, 0 left), all of them were asked for" in why(
        result
    )


def test_all_leaves_out_what_could_never_have_the_capacity() -> None:
    there = slice_of("node", [shared("gpu-0", "1Gi"), shared("gpu-1", "80Gi")])
    assert devices_of(outcome(claim(asking("2Gi", allocationMode="All")), there)) == ["gpu-1"]


def test_a_capacity_is_found_only_as_the_slice_spells_it() -> None:
    spelled = claim(request(capacity={"requests": {f"{DRIVER}/memory": "1Gi"}}))
    result = outcome(spelled, slice_of("node", [shared("gpu-0", "80Gi")]))
    assert f"gpu-0: it has no capacity {DRIVER}/memory" in why(result)


def test_distinct_devices_keep_shares_apart() -> None:
    there = slice_of(
        "node", [shared(f"gpu-{i}", "80Gi") | device(f"gpu-{i}", {"index": i}) for i in range(2)]
    )
    apart = [{"distinctAttribute": f"{DRIVER}/index"}]
    assert devices_of(outcome(claim(asking("1Gi", "a"), asking("1Gi", "b"), constraints=apart), there)) == [
        "gpu-0",
        "gpu-1",
    ]


def partitions(*slots: int, of: int) -> tuple[Any, Any]:
    """Return the slices of a GPU that is shared out in partitions."""
    devices = [
        device(
            f"part-{i}",
            None,
            consumesCounters=[{"counterSet": "gpu", "counters": {"slots": {"value": str(each)}}}],
        )
        for i, each in enumerate(slots)
    ]
    counters = [{"name": "gpu", "counters": {"slots": {"value": str(of)}}}]
    return (
        slice_of("node", devices, count=2, name="devices"),
        slice_of("node", count=2, name="counters", sharedCounters=counters),
    )


def test_partitions_share_their_counters() -> None:
    assert devices_of(outcome(claim(request(count=2)), *partitions(4, 3, 3, of=7))) == ["part-0", "part-1"]
    assert devices_of(outcome(claim(request(count=2)), *partitions(6, 3, 3, of=7))) == ["part-1", "part-2"]


def test_counters_that_do_not_suffice_are_told() -> None:
    result = outcome(claim(request(count=3)), *partitions(3, 3, 3, of=7))
    assert why(result) == (
        "node: 3 devices are of class any, 3 were asked, but their shared counters do not suffice for so many"
    )
    alone = outcome(claim(request()), *partitions(8, of=7))
    assert why(alone) == (
        "node: 1 device is of class any, 0 have their shared counters "
        "(not gpu/slots of pool node: part-0 needs 8, 7 left), 1 was asked"
    )
    beside = outcome(claim(request("a", count=2), request("b")), *partitions(3, 3, 3, of=7))
    assert why(beside) == (
        "node: 3 devices are of class any, 0 are left beside request a "
        "(gpu/slots of pool node: part-2 needs 3, 1 left), 1 was asked"
    )


def test_allocated_partitions_take_their_counters() -> None:
    other = claim(name="other", held=held("part-0"))
    result = outcome(claim(request(count=2)), *partitions(3, 3, 3, of=7), other)
    assert isinstance(result, Unsatisfied)
    assert devices_of(outcome(claim(request()), *partitions(3, 3, 3, of=7), other)) == ["part-1"]


def test_a_pool_with_an_overdrawn_counter_gives_away_no_partition() -> None:
    other = claim(name="other", held=held("part-0", "part-1"))
    result = outcome(claim(request()), *partitions(4, 4, 0, of=7), other)
    assert "0 have their shared counters (not pool node: allocated devices take more than there is" in why(
        result
    )


def test_partitions_are_not_there_where_the_release_has_none() -> None:
    result = outcome(claim(request()), *partitions(1, of=7), target=Target.V1_35)
    assert isinstance(result, Unsatisfied)


def test_an_unknown_counter_set_makes_the_pool_invalid() -> None:
    odd = device(
        "part-0", None, consumesCounters=[{"counterSet": "gone", "counters": {"slots": {"value": "1"}}}]
    )
    result = outcome(claim(request()), slice_of("node", [odd]))
    assert f"pool {DRIVER}/node is left out: counter set gone not found" in why(result)


def test_a_smaller_alternative_is_taken_where_the_larger_has_no_counters() -> None:
    devices, counters = partitions(7, 1, of=6)
    tainted = taint_rule(UNHEALTHY, {"device": "part-1"})
    choice = alternatives("gpu", {"name": "whole"}, {"name": "part", "tolerations": [{"operator": "Exists"}]})
    result = outcome(claim(choice), devices, counters, tainted)
    assert isinstance(result, Allocated)
    assert result.devices["claim"][0].request == "gpu/part"


def test_devices_to_be_bound_first_come_last() -> None:
    conditions = {
        "bindingConditions": ["example.com/ready"],
        "bindingFailureConditions": ["example.com/failed"],
    }
    fabric = slice_of("node", [device("fabric-0", None, **conditions)], pool="a-pool", name="a-pool")
    local = slice_of("node", gpus(1))
    assert devices_of(outcome(claim(request(count=2)), fabric, local)) == ["gpu-0", "fabric-0"]
    assert isinstance(outcome(claim(request()), fabric, target=Target.V1_35), Unsatisfied)
