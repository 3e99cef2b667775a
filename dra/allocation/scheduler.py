"""The scheduler's way over the nodes.

Source: `findNodesThatPassFilters` of `pkg/scheduler/schedule_one.go` and `Filter` of
`pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`, Kubernetes 1.37.2.
"""

from collections.abc import Callable, Mapping, Sequence

from dra.allocation.judge import OutOfSteps
from dra.allocation.nodeselection import selects
from dra.allocation.outcome import Allocated, AllocationError, Failed, Unsatisfied
from dra.allocation.pick import results
from dra.allocation.pod import Pod, plan_pod
from dra.allocation.search import Search
from dra.allocation.why import nearest_miss
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import AllocatedDevice, Node, ResourceClaim

_ALWAYS_TRIED = 100
"""Fewer nodes than this are all tried (minFeasibleNodesToFind)."""


def allocate(
    claims: Sequence[ResourceClaim],
    inventory: Inventory,
    target: Target,
    node_fits: Callable[[Node], bool] | None = None,
) -> Allocated | Unsatisfied | Failed:
    """Tell what becomes of the claims of one pod, which must all be satisfied on one node.

    Claims that are allocated already keep their devices, and hold the pod to the nodes that can use them.
    `node_fits`: what else the pod demands of a node; a cordoned node fits no pod. The claims and the
    inventory are as the API server has them: admitted, with defaults.
    """
    if not claims:
        raise ValueError("a pod without claims is none of the allocator's business: name at least one claim")
    try:
        pod = plan_pod(claims, inventory, target)
    except AllocationError as error:
        # With no node at all the scheduler does not come to that, but the claim is as wrong.
        return Failed(claims[error.claim].metadata.name, error.path, str(error))
    if (unreadable := _unreadable_selector(claims)) is not None:
        return unreadable
    nodes = [
        node
        for node in pod.cluster.pools.nodes
        if not node.unschedulable and (node_fits is None or node_fits(node))
    ]
    return _over_nodes(pod, nodes) or nearest_miss(pod, nodes)


def _unreadable_selector(claims: Sequence[ResourceClaim]) -> Failed | None:
    for claim in claims:
        if claim.allocated_nodes is not None:
            try:
                selects(claim.allocated_nodes, Node(metadata=claim.metadata))
            except ValueError as error:
                return Failed(claim.metadata.name, "status.allocation.nodeSelector", str(error))
    return None


def _over_nodes(pod: Pod, nodes: Sequence[Node]) -> Allocated | Failed | None:
    """Return a node that has devices for all claims, or the error that ends the search; None for neither."""
    tried: dict[int, Search | AllocationError | None] = {}
    first: Node | None = None
    error: AllocationError | None = None
    found = 0
    for node in nodes:
        try:
            outcome = _attempt(pod, node, tried)
        except OutOfSteps:
            return Failed(
                pod.claims[pod.plans[0].index].metadata.name,
                "",
                f"node {node.metadata.name}: timed out trying to allocate devices",
                possible_otherwise=True,
            )
        if isinstance(outcome, AllocationError):
            error = error or outcome
        elif outcome is not None and pod.unavailable(node) is None:
            found += 1
            first = first or node
    if error is not None:
        return Failed(
            pod.claims[error.claim].metadata.name,
            error.path,
            str(error),
            possible_otherwise=found > _enough(len(pod.cluster.pools.nodes)),
        )
    return None if first is None else Allocated(first.metadata.name, _devices(pod, first))


def _attempt(
    pod: Pod, node: Node, tried: dict[int, Search | AllocationError | None]
) -> Search | AllocationError | None:
    try:
        shape = pod.shape(node)
    except ValueError as error:
        return AllocationError(pod.plans[0].index, "", f"gather pool information: {error}")
    if shape not in tried:
        tried[shape] = pod.attempt(node)
    return tried[shape]


def _devices(pod: Pod, node: Node) -> Mapping[str, Sequence[AllocatedDevice]]:
    # Once more on this node: it may have been tried by way of another that looks the same.
    search = pod.search(node)
    search.run()
    return {
        claim.metadata.name: claim.allocated if claim.allocated is not None else results(search.picks, index)
        for index, claim in enumerate(pod.claims)
    }


def _enough(nodes: int) -> int:
    """Return after how many nodes that fit the scheduler looks at no further one (numFeasibleNodesToFind)."""
    if nodes < _ALWAYS_TRIED:
        return nodes
    return max(_ALWAYS_TRIED, nodes * max(50 - nodes // 125, 5) // 100)
