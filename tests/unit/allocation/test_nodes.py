import pytest
from scenes import (
    ANY,
    DRIVER,
    claim,
    device,
    devices_of,
    gpus,
    held,
    message,
    node,
    outcome,
    request,
    slice_of,
    why,
)

from dra.allocation import Allocated, Failed, Unsatisfied, allocate
from dra.allocation.nodeselection import selects
from dra.device import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import ResourceClaim
from dra.pool import GpuPool, Mechanism

ONE = claim(request())


def selector(key: str, operator: str, *values: str, field: bool = False) -> NodeSelector:
    requirement = [NodeSelectorRequirement(key=key, operator=operator, values=values or None)]
    term = (
        NodeSelectorTerm(match_fields=requirement)
        if field
        else NodeSelectorTerm(match_expressions=requirement)
    )
    return NodeSelector(node_selector_terms=[term])


@pytest.mark.parametrize(
    ("one", "holds"),
    [
        (selector("zone", "In", "a", "b"), True),
        (selector("zone", "In", "b"), False),
        (selector("absent", "In", "b"), False),
        (selector("zone", "NotIn", "b"), True),
        (selector("absent", "NotIn", "b"), True),
        (selector("zone", "Exists"), True),
        (selector("absent", "Exists"), False),
        (selector("absent", "DoesNotExist"), True),
        (selector("cores", "Gt", "7"), True),
        (selector("cores", "Gt", "8"), False),
        (selector("cores", "Lt", "9"), True),
        (selector("zone", "Lt", "9"), False),
        (selector("absent", "Gt", "0"), False),
        (selector("metadata.name", "In", "n", field=True), True),
        (selector("metadata.name", "NotIn", "n", field=True), False),
        (selector("metadata.uid", "In", "n", field=True), False),
        (NodeSelector(node_selector_terms=[]), False),
        (NodeSelector(node_selector_terms=[NodeSelectorTerm()]), False),
    ],
)
def test_a_node_selector_holds_as_in_kubernetes(one: NodeSelector, *, holds: bool) -> None:
    assert selects(one, node("n", zone="a", cores="8")) is holds


def test_the_terms_of_a_selector_are_alternatives() -> None:
    terms = [
        *selector("zone", "In", "x").node_selector_terms,
        *selector("zone", "In", "a").node_selector_terms,
    ]
    assert selects(NodeSelector(node_selector_terms=terms), node("n", zone="a"))


def test_a_slice_without_its_node_stands_for_one() -> None:
    result = outcome(ONE, slice_of("n", gpus(1)))
    assert isinstance(result, Allocated)
    assert result.node == "n"


def test_network_devices_are_for_the_nodes_that_are_selected() -> None:
    west = selector("zone", "In", "west").model_dump(by_alias=True, exclude_none=True)
    fabric = slice_of(None, gpus(1), pool="fabric", name="fabric", nodeSelector=west)
    result = outcome(ONE, node("a", zone="east"), node("b", zone="west"), fabric)
    assert isinstance(result, Allocated)
    assert result.node == "b"


def test_network_devices_can_be_for_all_nodes() -> None:
    result = outcome(
        claim(request(count=2)), node("a"), slice_of(None, gpus(2), pool="p", name="p", allNodes=True)
    )
    assert devices_of(result) == ["gpu-0", "gpu-1"]


def test_each_device_can_be_for_other_nodes() -> None:
    each = slice_of(
        None,
        [device("a", nodeName="a"), device("b", nodeName="b"), device("c", allNodes=True)],
        pool="p",
        name="p",
        perDeviceNodeSelection=True,
    )
    result = outcome(claim(request(count=2)), node("b"), each)
    assert devices_of(result) == ["b", "c"]
    assert why(outcome(claim(request(count=3)), node("b"), each)) == (
        "b: 3 devices are of class any, 2 are for this node (not a), 3 were asked"
    )


def test_a_selector_that_cannot_be_read_fails_the_pod() -> None:
    odd = selector("cores", "Gt", "many").model_dump(by_alias=True, exclude_none=True)
    result = outcome(ONE, node("a"), slice_of(None, gpus(1), pool="p", name="p", nodeSelector=odd))
    assert message(result).startswith(
        "gather pool information: failed to perform node selection for slice p:"
    )


def test_nothing_is_taken_from_an_incomplete_pool() -> None:
    result = outcome(ONE, slice_of("node", gpus(1), count=2))
    assert why(result) == (
        "there are no devices on the only node, 1 was asked; "
        f"pool {DRIVER}/node is left out: 1 of 2 slices of its generation 1 are there"
    )


def test_all_of_an_incomplete_pool_fails_the_pod() -> None:
    result = outcome(claim(request(allocationMode="All")), slice_of("node", gpus(1), count=2))
    assert message(result) == (
        f"claim team/claim, request gpu: asks for all devices, but resource pool {DRIVER}/node is currently "
        "being updated"
    )


def test_an_incomplete_pool_does_not_keep_others_from_being_used() -> None:
    broken = slice_of("node", gpus(1), pool="another", name="another", count=2)
    assert isinstance(outcome(ONE, slice_of("node", gpus(1)), broken), Allocated)


def test_slices_of_an_older_generation_are_not_there() -> None:
    old, new = slice_of("node", gpus(8)), slice_of("node", [device("new")], generation=2)
    assert devices_of(outcome(ONE, old, new)) == ["new"]
    assert devices_of(outcome(ONE, new, old)) == ["new"]


def test_a_pool_with_a_device_name_twice_is_invalid() -> None:
    twice = slice_of("node", [device("a"), device("a")])
    assert "pool gpu.example.com/node is left out: duplicate device name a" in why(outcome(ONE, twice))
    assert message(outcome(claim(request(allocationMode="All")), twice)).endswith("is currently invalid")


def test_the_slices_of_a_pool_come_in_the_order_of_their_names() -> None:
    second, first = (slice_of("node", [device(name)], name=name, count=2) for name in ("b", "a"))
    assert devices_of(outcome(claim(request(count=2)), second, first)) == ["a", "b"]


def test_an_allocated_claim_holds_the_pod_to_its_nodes() -> None:
    bound = ResourceClaim(
        metadata=claim(name="bound").metadata,
        spec=ONE.spec,
        allocated=held("gpu-0", pool="b"),
        allocated_nodes=selector("metadata.name", "In", "b", field=True),
    )
    nodes = slice_of("a", gpus(2)), slice_of("b", gpus(2))
    result = outcome([bound, ONE], *nodes, bound)
    assert isinstance(result, Allocated)
    assert (result.node, devices_of(result), devices_of(result, "bound")) == ("b", ["gpu-1"], ["gpu-0"])
    alone = outcome([bound, ONE], nodes[0], bound)
    assert (
        why(alone)
        == "a has devices for the other claims, but claim bound is allocated already, for other nodes"
    )


def test_a_pod_whose_claims_are_all_allocated_needs_no_devices() -> None:
    bound = claim(request(), name="bound", held=held("gpu-0", pool="gone"))
    result = outcome(bound, slice_of("node", gpus(1), count=2), bound)
    assert devices_of(result, "bound") == ["gpu-0"]


def test_an_allocation_with_an_unreadable_selector_fails_the_pod() -> None:
    bound = claim(request(), held=held("gpu-0")).model_copy(
        update={"allocated_nodes": selector("cores", "Gt", "many")}
    )
    result = outcome(bound, slice_of("node", gpus(1)), bound)
    assert isinstance(result, Failed)
    assert result.path == "status.allocation.nodeSelector"


def test_of_many_nodes_that_differ_the_one_with_the_most_free_devices_is_told() -> None:
    slices = [
        slice_of(f"n-{i}", gpus(1 + i % 30, taints=[{"key": str(i), "effect": "NoSchedule"}]))
        for i in range(90)
    ]
    result = outcome(claim(request(count=32)), *slices, slice_of("plain", gpus(31)))
    assert why(result) == "plain: 31 devices are of class any, 32 were asked"


def test_what_else_the_pod_demands_of_a_node_is_asked() -> None:
    inventory = Inventory.of([ANY, slice_of("a", gpus(1)), slice_of("b", gpus(1))])
    result = allocate([ONE], inventory, Target.V1_37, lambda each: each.metadata.name == "b")
    assert isinstance(result, Allocated)
    assert result.node == "b"
    assert "none of the 2 nodes takes the pod" in why(
        allocate([ONE], inventory, Target.V1_37, lambda _: False)
    )


def test_an_error_on_one_node_fails_the_pod_though_another_would_do() -> None:
    every = claim(request(allocationMode="All"))
    result = outcome(every, slice_of("good", gpus(1)), slice_of("bad", gpus(1), count=2))
    assert isinstance(result, Failed)
    assert not result.possible_otherwise


def test_among_many_nodes_the_scheduler_may_find_enough_before_the_error() -> None:
    every = claim(request(allocationMode="All"))
    good = [slice_of(f"good-{i}", gpus(1)) for i in range(150)]
    result = outcome(every, *good, slice_of("bad", gpus(1), count=2))
    assert isinstance(result, Failed)
    assert result.possible_otherwise
    few = outcome(every, *good[:99], *(slice_of(f"bad-{i}", gpus(1), count=2) for i in range(10)))
    assert isinstance(few, Failed)
    assert not few.possible_otherwise


def test_simulated_pools_offer_their_claimed_gpus() -> None:
    pools = [
        GpuPool(name="a", product="NVIDIA T4", count=4, mechanism=Mechanism.CLAIMED, nodes=["n-1", "n-2"]),
        GpuPool(name="b", product="NVIDIA T4", count=4, nodes=["n-3"]),
    ]
    inventory = Inventory.of_pools(pools)
    four = claim(request(cls="gpu.nvidia.com", count=4))
    assert isinstance(allocate([four], inventory, Target.V1_37), Allocated)
    assert isinstance(
        allocate([claim(request(cls="gpu.nvidia.com", count=5))], inventory, Target.V1_37), Unsatisfied
    )
    assert inventory.nodes[-1].allocatable == {"nvidia.com/gpu": "4"}
