"""Part B of Lab 4: its two claims, as written and corrected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import permutations

import pulumi
from pulumi_kubernetes.core.v1 import Namespace

from components.claims import ClaimConsumer, ClaimConsumerArgs, ResourceClaim, ResourceClaimArgs
from components.driver import GPU_CLASS
from components.expectation import ClaimOutcome, ClaimRejected, ClaimState, Expectation
from components.options import child_of
from dra import objects
from dra.allocation import Allocated, allocate
from dra.claim import (
    DeviceClaim,
    DeviceConstraint,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaimSpec,
    selector,
)
from dra.gates import Target
from dra.inventory import Inventory
from dra.pool import GPU_DRIVER, NUMA_ATTRIBUTE, GpuPool, Mechanism

LESSON_NUMA_ATTRIBUTE = f"{GPU_DRIVER}/numa-node"
"""Lab 4's spelling. No attribute can have it: after the slash a C identifier is required."""


class Claims(StrEnum):
    """Which text of the claims."""

    CORRECTED = "corrected"
    AS_WRITTEN = "as-written"


@dataclass(frozen=True, kw_only=True)
class Lab4ClaimsArgs:
    """`device_class`: whether there is a DRA driver, and so the DeviceClass that the claims name.

    `pools` are those that it publishes; `other_slices`: whether there are devices of somebody else.
    """

    claims: Claims
    device_class: bool
    pools: Sequence[GpuPool] = ()
    other_slices: bool = False


def one_gpu(product: str) -> ResourceClaimSpec:
    """Return the claim of step 8 for a product."""
    return ResourceClaimSpec(
        devices=DeviceClaim(
            requests=[
                DeviceRequest(
                    name="gpu",
                    exactly=ExactDeviceRequest(
                        device_class_name=GPU_CLASS,
                        allocation_mode="ExactCount",
                        count=1,
                        selectors=[selector(f'device.attributes["{GPU_DRIVER}"].productName == "{product}"')],
                    ),
                )
            ]
        )
    )


def two_gpus_sharing(attribute: str) -> ResourceClaimSpec:
    """Return the claim of step 9: two GPUs with one value of an attribute."""
    request = ExactDeviceRequest(device_class_name=GPU_CLASS, allocation_mode="ExactCount", count=2)
    return ResourceClaimSpec(
        devices=DeviceClaim(
            requests=[DeviceRequest(name="gpu-pair", exactly=request)],
            constraints=[DeviceConstraint(requests=["gpu-pair"], match_attribute=attribute)],
        )
    )


class Lab4Claims(pulumi.ComponentResource):
    """`training-gpu` and `distributed-training`, each with a pod that uses it, and a claim without one."""

    expectations: Sequence[Expectation]
    """What the lab should see."""
    placed: pulumi.Output[Sequence[str]]
    """The claims and pods; known when all were made."""

    def __init__(self, name: str, args: Lab4ClaimsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Lab4Claims", name, {}, opts)
        here = child_of(self, opts)
        namespace = Namespace(f"{name}-namespace", metadata={"name": name}, opts=here)
        placed: list[pulumi.Output[str]] = []
        for claim_name, spec in claim_specs(args.claims).items():
            claim = ResourceClaim(
                f"{name}-{claim_name}",
                ResourceClaimArgs(claim_name=claim_name, namespace=namespace.metadata.name, spec=spec),
                opts=here,
            )
            placed.append(claim.name)
            if claim_name != UNUSED:
                pod = ClaimConsumer(
                    f"{name}-{claim_name}-pod",
                    ClaimConsumerArgs(pod_name=claim_name, namespace=namespace.metadata.name, claim=claim),
                    opts=here,
                )
                placed.append(pod.name)
        self.expectations = expected(name, args)
        self.placed = pulumi.Output.all(*placed)
        self.register_outputs({"placed": self.placed})


UNUSED = "unused"
"""The claim that no pod uses: pending under any driver, and for another reason than the others."""


def claim_specs(claims: Claims) -> dict[str, ResourceClaimSpec]:
    """Return the claims that the API server takes, by name."""
    if claims is Claims.AS_WRITTEN:
        return {"training-gpu": one_gpu("H100"), UNUSED: one_gpu("H100")}
    product = "NVIDIA H100 80GB HBM3"
    return {
        "training-gpu": one_gpu(product),
        "distributed-training": two_gpus_sharing(NUMA_ATTRIBUTE),
        UNUSED: one_gpu(product),
    }


def expected(namespace: str, args: Lab4ClaimsArgs) -> list[Expectation]:
    """Return what comes of each claim."""
    unused = ClaimOutcome(
        step="8 a claim that no pod uses", namespace=namespace, name=UNUSED, state=ClaimState.NO_CONSUMER
    )
    if args.claims is Claims.AS_WRITTEN:
        return [
            _pending("8 an H100 by CEL", namespace, "training-gpu", args),
            unused,
            ClaimRejected(
                step="9 two GPUs of one NUMA node",
                namespace=namespace,
                name="distributed-training",
                spec=two_gpus_sharing(LESSON_NUMA_ATTRIBUTE),
                because="C identifier",
            ),
        ]
    ends = _ends(args)
    return [
        _outcome("8 an H100 by CEL", namespace, "training-gpu", args, ends),
        unused,
        _outcome("9 two GPUs of one NUMA node", namespace, "distributed-training", args, ends),
    ]


def _outcome(
    step: str, namespace: str, name: str, args: Lab4ClaimsArgs, ends: Sequence[frozenset[str]]
) -> ClaimOutcome:
    """Return what comes of a claim: devices in each possible end, in none, or in some."""
    pending = _pending(step, namespace, name, args)
    if not any(name in end for end in ends):
        return pending
    alike = {"devices": 2, "same": NUMA_ATTRIBUTE} if name == "distributed-training" else {"devices": 1}
    otherwise = None if all(name in end for end in ends) else pending.state
    return pending.model_copy(update={"state": ClaimState.ALLOCATED, "otherwise": otherwise, **alike})


def _pending(step: str, namespace: str, name: str, args: Lab4ClaimsArgs) -> ClaimOutcome:
    """Return the outcome of a claim that nothing satisfies: without its class nobody looks for devices."""
    published = args.other_slices or any(pool.mechanism is Mechanism.CLAIMED for pool in args.pools)
    state = (
        ClaimState.NO_CLASS
        if not args.device_class
        else ClaimState.NO_MATCH
        if published
        else ClaimState.NO_DRIVER
    )
    return ClaimOutcome(step=step, namespace=namespace, name=name, state=state)


def _ends(args: Lab4ClaimsArgs) -> list[frozenset[str]]:
    """Return which claims can get devices together: their pods in each order, each of them on each node.

    Both are the scheduler's to decide. On a node it takes the devices that the checker's allocator takes. Of
    a pool two nodes are enough for two pods.
    """
    if not args.device_class:
        return [frozenset()]
    pools = [pool.model_copy(update={"nodes": pool.nodes[:2]}) for pool in args.pools]
    used = [
        objects.ResourceClaim(metadata=objects.ObjectMeta(name=name), spec=spec)
        for name, spec in claim_specs(args.claims).items()
        if name != UNUSED
    ]
    nodes = [node for pool in pools for node in pool.nodes]
    orders = permutations(used)
    return [end for order in orders for end in _placed(order, nodes, Inventory.of_pools(pools))]


def _placed(
    claims: Sequence[objects.ResourceClaim], nodes: Sequence[str], inventory: Inventory
) -> list[frozenset[str]]:
    """Return which of the claims get devices, one after the other, for each choice of their nodes."""
    if not claims:
        return [frozenset()]
    claim, *later = claims
    name = claim.metadata.name
    tried = [allocate([claim], inventory, Target.V1_37, partial(_is_named, node)) for node in nodes]
    taken = [
        replace(
            inventory,
            claims=[*inventory.claims, claim.model_copy(update={"allocated": each.devices[name]})],
        )
        for each in tried
        if isinstance(each, Allocated)
    ]
    if not taken:
        return _placed(later, nodes, inventory)
    return [end | {name} for after in taken for end in _placed(later, nodes, after)]


def _is_named(name: str, node: objects.Node) -> bool:
    return node.metadata.name == name
