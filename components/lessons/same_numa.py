"""GPUs of one NUMA node."""

import pulumi

from components.expectation import ClaimOutcome, ClaimState
from components.lesson import Lesson
from components.lessons.requests import claim_of, exactly, matching
from components.pods import PodArgs
from dra.claim import ResourceClaimSpec
from dra.pool import GPU_DRIVER, NUMA_ATTRIBUTE

DRIVERS_OWN = f"{GPU_DRIVER}/numaNode"
"""Well formed, and of no device: the standard attribute is in the domain of Kubernetes."""


def together(count: int, attribute: str = NUMA_ATTRIBUTE) -> ResourceClaimSpec:
    """Return the claim of some GPUs that share an attribute."""
    return claim_of(exactly("gpus", count), constraints=[matching(attribute)])


class SameNuma(Lesson):
    """A node with eight H100, four to a NUMA node, and claims of two, four and five that sit together."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:SameNuma", name, opts)
        self.gpus(self.node("same-numa-node"), "NVIDIA H100 80GB HBM3", 8, numa_nodes=2)
        for what, spec in {
            "two": together(2),
            "four": together(4),
            "five": together(5),
            "misspelt": together(2, DRIVERS_OWN),
        }.items():
            self.pod(what, PodArgs(claims={"gpus": self.claim(what, spec)}))
        self.expectations = [
            ClaimOutcome(
                step=f"{what} GPUs",
                namespace=name,
                name=what,
                state=ClaimState.ALLOCATED,
                devices=count,
                same=NUMA_ATTRIBUTE,
            )
            for what, count in {"two": 2, "four": 4}.items()
        ] + [
            ClaimOutcome(
                step=step,
                namespace=name,
                name=what,
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            )
            for what, step in {
                "five": "five GPUs, of eight in two fours",
                "misspelt": "two GPUs that share an attribute that none has",
            }.items()
        ]
        self.register_outputs({"placed": self.placed})
