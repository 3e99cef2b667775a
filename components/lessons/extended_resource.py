"""The old request, `nvidia.com/gpu: 1`, served by the new mechanism."""

import pulumi

from components.expectation import ClaimOutcome, ClaimRef, ClaimsCompared, ClaimState, NodeGpus, PodsFit
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import PodArgs
from dra.pool import GPU_RESOURCE


class ExtendedResource(Lesson):
    """A node with two GPUs of a DRA driver and none counted; pods ask as if they were counted.

    The DeviceClass says `extendedResourceName: nvidia.com/gpu` and the node has none of that resource, so
    the scheduler makes a claim for such a pod (KEP-5004). Claims and counts then draw on one ledger.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:ExtendedResource", name, opts)
        node = self.node("extended-resource-node")
        self.gpus(node, "NVIDIA A100-SXM4-40GB", 2)
        counting = PodArgs(limits={GPU_RESOURCE: "1"})
        first = self.pod("counting", counting)
        second = self.pod("claiming", PodArgs(claims={"gpu": self.claim("claiming", gpus())}))
        both = [self.running("counting", after=[first]), self.running("claiming", after=[second])]
        self.pod("third", counting, after=both)
        self.expectations = [
            NodeGpus(step="ledger", node=node, count=2, mechanism="claimed"),
            ClaimOutcome(
                step="the claim made for `nvidia.com/gpu: 1`",
                namespace=name,
                pod="counting",
                name="",
                state=ClaimState.ALLOCATED,
                devices=1,
                reserved_for=["counting"],
            ),
            ClaimOutcome(
                step="a claim beside it",
                namespace=name,
                name="claiming",
                state=ClaimState.ALLOCATED,
                devices=1,
            ),
            ClaimsCompared(
                step="they are",
                namespace=name,
                claims=[ClaimRef(pod="counting", name=""), ClaimRef(name="claiming")],
                devices="different",
            ),
            PodsFit(
                step="a third pod",
                namespace=name,
                label="app=third",
                running=0,
                pending=1,
                reason="cannot allocate all claims",
            ),
        ]
        self.register_outputs({"placed": self.placed})
