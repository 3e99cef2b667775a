"""The claims of a pod, and what is worked out of an inventory once for all pods."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from dra.allocation.judge import Budget, Judge
from dra.allocation.nodeselection import selects
from dra.allocation.offer import Offer
from dra.allocation.outcome import AllocationError
from dra.allocation.plan import ClaimPlan, plan_of
from dra.allocation.pools import Pools
from dra.allocation.search import Search
from dra.allocation.views import Attributes, Views
from dra.gates import Gate, Target, is_on
from dra.inventory import Inventory
from dra.objects import Node, ResourceClaim

_STEPS = 300_000
_STEPS_PER_DEVICE = 100
"""What a search may take: about a second, and more for a large inventory."""


class Cluster:
    """An inventory with what is worked out of it once, for the pods that are judged against it."""

    def __init__(self, inventory: Inventory, target: Target) -> None:
        self.target = target
        self.pools = Pools(inventory, target)
        self.classes = {each.metadata.name: each for each in inventory.classes}
        self.devices = sum(1 for _ in self.pools.devices)
        self._views: dict[Attributes | None, Views] = {}

    def views(self, attributes: Attributes | None) -> Views:
        """Return the nodes as claims see them that read these attributes."""
        if attributes not in self._views:
            self._views[attributes] = Views(self.pools, attributes)
        return self._views[attributes]


@lru_cache(maxsize=4)
def _cluster(inventory: Inventory, target: Target) -> Cluster:
    return Cluster(inventory, target)


@dataclass(frozen=True, eq=False)
class Pod:
    """The claims of a pod, ready to be looked for."""

    claims: Sequence[ResourceClaim]
    plans: Sequence[ClaimPlan]
    cluster: Cluster
    budget: Budget

    @cached_property
    def views(self) -> Views:
        """The nodes as these claims see them."""
        names: set[str] = set()
        for plan in self.plans:
            names.update(each.attribute for each in plan.constraints)
            for ask in (ask for asks in plan.requests for ask in asks):
                for condition in ask.conditions:
                    read = condition.reads
                    if read is None:
                        return self.cluster.views(None)
                    names |= read
        return self.cluster.views(frozenset(names))

    @cached_property
    def judge(self) -> Judge:
        """What the claims' requests say to devices."""
        target = self.cluster.target
        return Judge(
            self.cluster.pools.held,
            taints=is_on(Gate.DRA_DEVICE_TAINTS, target),
            binding=is_on(Gate.DRA_DEVICE_BINDING_CONDITIONS, target)
            and is_on(Gate.DRA_RESOURCE_CLAIM_DEVICE_STATUS, target),
        )

    def search(self, node: Node, plans: Sequence[ClaimPlan] | None = None) -> Search:
        """Return a search on a node, for all claims or for some of what they ask."""
        # For claims that are all allocated the scheduler looks at no slice.
        pools, spots = (self.cluster.pools.on(node), self.views.spots(node)) if self.plans else ((), ())
        return Search(
            Offer(pools, spots, self.judge),
            [plan.fresh() for plan in (self.plans if plans is None else plans)],
            self.budget,
        )

    def shape(self, node: Node) -> int:
        """Return a number that is the same for nodes that look the same to the claims.

        Raises:
            ValueError: The scheduler cannot read a node selector.

        """
        return self.views.shape(node) if self.plans else 0

    def attempt(self, node: Node) -> Search | AllocationError | None:
        """Return a search that found devices for all claims, the error that it met, or None.

        Raises:
            OutOfSteps: It took too long.

        """
        try:
            search = self.search(node)
            return search if search.run() else None
        except AllocationError as error:
            return error
        except ValueError as error:
            return AllocationError(self.plans[0].index, "", f"gather pool information: {error}")

    def free_devices(self, node: Node) -> int:
        """Return how many of a node's devices no claim holds."""
        held = self.cluster.pools.held
        pools = self.cluster.pools.on(node) if self.plans else ()
        return sum(device.id not in held for pool in pools for device in pool.devices)

    def unavailable(self, node: Node) -> ResourceClaim | None:
        """Return a claim that is allocated already and that the node cannot use."""
        for claim in self.claims:
            selector = claim.allocated_nodes
            if claim.allocated is not None and selector is not None and not selects(selector, node):
                return claim
        return None


def plan_pod(claims: Sequence[ResourceClaim], inventory: Inventory, target: Target) -> Pod:
    """Return what is looked for, for the claims that are not allocated yet; raises AllocationError."""
    cluster = _cluster(inventory, target)
    return Pod(
        claims=claims,
        plans=[
            plan_of(index, claim, cluster.classes, target)
            for index, claim in enumerate(claims)
            if claim.allocated is None
        ],
        cluster=cluster,
        budget=Budget(_STEPS + _STEPS_PER_DEVICE * cluster.devices),
    )
