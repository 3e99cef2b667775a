"""MIG: one GPU in partitions that share its counters."""

import pulumi

from components.driver import MIG_CLASS
from components.expectation import ClaimOutcome, ClaimRef, ClaimsCompared, ClaimState
from components.lesson import Lesson
from components.lessons.requests import claim_of, exactly, gpus, matching
from components.pods import PodArgs
from dra.claim import ResourceClaimSpec
from dra.device import ResourcePool, ResourceSliceSpec
from dra.mig import PRODUCT, counter_set, partitioned
from dra.pool import GPU_DRIVER, GpuPool

PARENT = f"{GPU_DRIVER}/parentUUID"
TAKEN = {"half-a": ["3g.20gb"], "half-b": ["3g.20gb"], "mixed": ["4g.20gb", "2g.10gb", "1g.5gb"]}
"""These fill two GPUs: the memory of one, and of the other all that a partition could start at."""


def partitions(*profiles: str) -> ResourceClaimSpec:
    """Return the claim of partitions of one GPU."""
    requests = [
        exactly(
            f"p-{profile.replace('.', '-')}",
            of=MIG_CLASS,
            where=f"device.attributes['{GPU_DRIVER}'].profile == '{profile}'",
        )
        for profile in profiles
    ]
    return claim_of(*requests, constraints=[matching(PARENT)] if len(profiles) > 1 else None)


class Mig(Lesson):
    """A node with two A100 of which every partition is published; what fits, and what no longer does."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Mig", name, opts)
        self._publish(self.node("mig-node"), 2)
        running = [
            self.running(
                what,
                after=[self.pod(what, PodArgs(claims={"mig": self.claim(what, partitions(*profiles))}))],
            )
            for what, profiles in TAKEN.items()
        ]
        for what, spec in {"one-more": partitions("1g.5gb"), "whole": gpus()}.items():
            self.pod(what, PodArgs(claims={"gpu": self.claim(what, spec)}), after=running)
        self.expectations = [
            ClaimOutcome(
                step="half a GPU", namespace=name, name="half-a", state=ClaimState.ALLOCATED, devices=1
            ),
            ClaimsCompared(
                step="and the other half",
                namespace=name,
                claims=[ClaimRef(name="half-a"), ClaimRef(name="half-b")],
                devices="different",
            ),
            ClaimOutcome(
                step="three partitions of one GPU",
                namespace=name,
                name="mixed",
                state=ClaimState.ALLOCATED,
                devices=3,
                same=PARENT,
            ),
            ClaimOutcome(
                step="the smallest partition, now",
                namespace=name,
                name="one-more",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
            ClaimOutcome(
                step="a whole GPU, now",
                namespace=name,
                name="whole",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
        ]
        self.register_outputs({"placed": self.placed})

    def _publish(self, node: str, count: int) -> None:
        """Publish the counters and what draws on them, in one pool: since 1.35 each in a slice of its own."""
        both = ResourceSliceSpec(
            driver=GPU_DRIVER, node_name=node, pool=ResourcePool(name=node, resource_slice_count=2)
        )
        counters = [counter_set(index) for index in range(count)]
        self.slice(f"{node}-counters", both.model_copy(update={"shared_counters": counters}))
        whole = GpuPool(name="gpus", product=PRODUCT, count=count, nodes=[node]).devices()
        devices = [part for index, gpu in enumerate(whole) for part in partitioned(gpu, index, node)]
        self.slice(node, both.model_copy(update={"devices": devices}))
