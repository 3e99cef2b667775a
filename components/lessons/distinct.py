"""GPUs that must differ: constraints by `distinctAttribute`, alone and beside `matchAttribute`."""

import pulumi

from components.expectation import ClaimOutcome, ClaimState
from components.lesson import Lesson
from components.lessons.requests import claim_of, differing, exactly, matching
from components.pods import PodArgs
from dra.pool import GPU_DRIVER, NUMA_ATTRIBUTE, PCIE_ATTRIBUTE

PRODUCT_ATTRIBUTE = f"{GPU_DRIVER}/productName"


class Distinct(Lesson):
    """A node with eight H100 on two NUMA nodes and four PCIe roots, and claims of GPUs apart."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Distinct", name, opts)
        self.gpus(self.node("distinct-node"), "NVIDIA H100 80GB HBM3", 8, numa_nodes=2)
        for what, spec in {
            "apart": claim_of(exactly("gpus", 2), constraints=[differing(NUMA_ATTRIBUTE)]),
            "spread": claim_of(
                exactly("gpus", 4), constraints=[matching(PRODUCT_ATTRIBUTE), differing(PCIE_ATTRIBUTE)]
            ),
            "too-far": claim_of(exactly("gpus", 3), constraints=[differing(NUMA_ATTRIBUTE)]),
        }.items():
            self.pod(what, PodArgs(claims={"gpus": self.claim(what, spec)}))
        self.expectations = [
            ClaimOutcome(
                step="two GPUs, one on each NUMA node",
                namespace=name,
                name="apart",
                state=ClaimState.ALLOCATED,
                devices=2,
                distinct=NUMA_ATTRIBUTE,
            ),
            ClaimOutcome(
                step="four alike, each at a PCIe root of its own",
                namespace=name,
                name="spread",
                state=ClaimState.ALLOCATED,
                devices=4,
                same=PRODUCT_ATTRIBUTE,
                distinct=PCIE_ATTRIBUTE,
            ),
            ClaimOutcome(
                step="three, each on a NUMA node of its own",
                namespace=name,
                name="too-far",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
        ]
        self.register_outputs({"placed": self.placed})
