"""Part B of Lab 4 as written, and the other reasons for which a claim gets no device."""

import pulumi

from components.expectation import ClaimOutcome, ClaimRejected, ClaimState
from components.lesson import Lesson
from components.lessons.lab4_claims import LESSON_NUMA_ATTRIBUTE, one_gpu, two_gpus_sharing
from components.lessons.requests import claim_of, exactly, gpus
from components.pods import PodArgs

UNKNOWN_CLASS = "gpu.example.com"


class Pending(Lesson):
    """A node with two H100, and claims of which none gets one."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Pending", name, opts)
        self.gpus(self.node("pending-node"), "NVIDIA H100 80GB HBM3", 2)
        self.claim("unused", one_gpu("NVIDIA H100 80GB HBM3"))
        for what, spec in {
            "training-gpu": one_gpu("H100"),
            "no-class": claim_of(exactly("gpu", of=UNKNOWN_CLASS)),
            "too-many": gpus(3),
        }.items():
            self.pod(what, PodArgs(claims={"gpu": self.claim(what, spec)}))
        self.expectations = [
            ClaimOutcome(step="no pod uses it", namespace=name, name="unused", state=ClaimState.NO_CONSUMER),
            ClaimOutcome(
                step="no device has that product name",
                namespace=name,
                name="training-gpu",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
            ClaimOutcome(
                step="three of two",
                namespace=name,
                name="too-many",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
            ClaimOutcome(
                step="the class does not exist",
                namespace=name,
                name="no-class",
                state=ClaimState.NO_CLASS,
                because=f"device class {UNKNOWN_CLASS} does not exist",
            ),
            ClaimRejected(
                step="Lab 4's attribute for the NUMA node",
                namespace=name,
                name="distributed-training",
                spec=two_gpus_sharing(LESSON_NUMA_ATTRIBUTE),
                because="C identifier",
            ),
        ]
        self.register_outputs({"placed": self.placed})
