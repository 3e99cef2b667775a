"""CEL selectors over what a GPU is, and what a missing key does."""

import pulumi

from components.expectation import ClaimOutcome, ClaimState
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import PodArgs
from dra.pool import GPU_DRIVER

ATTRIBUTES = f"device.attributes['{GPU_DRIVER}']"
CAPACITY = f"device.capacity['{GPU_DRIVER}']"

FITTING = {
    "product": f"{ATTRIBUTES}.productName == 'NVIDIA H100 80GB HBM3'",
    "memory": f"{CAPACITY}.memory.compareTo(quantity('48Gi')) >= 0",
    "capability": f"{ATTRIBUTES}.cudaComputeCapability.isGreaterThan(semver('8.9.0'))",
    "driver": f"{ATTRIBUTES}.driverVersion.major() >= 570",
    "guarded": f"{ATTRIBUTES}.?index.orValue(0) == 0",
}
"""Each of these claims gets a GPU."""
UNGUARDED = f"{ATTRIBUTES}.index == 0"
"""NVIDIA's driver published `index` once; no longer. A selector that reads it fails on the first device."""
TOO_MUCH = f"{CAPACITY}.memory.compareTo(quantity('100Gi')) >= 0"


class Selector(Lesson):
    """One node with eight H100, and a claim for each way to select one of them."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Selector", name, opts)
        self.gpus(self.node("selector-node"), "NVIDIA H100 80GB HBM3", 8)
        for what, expression in (FITTING | {"too-much": TOO_MUCH, "unguarded": UNGUARDED}).items():
            self.pod(what, PodArgs(claims={"gpu": self.claim(what, gpus(where=expression))}))
        self.expectations = [
            *[
                ClaimOutcome(
                    step=f"by {what}", namespace=name, name=what, state=ClaimState.ALLOCATED, devices=1
                )
                for what in FITTING
            ],
            ClaimOutcome(
                step="more memory than there is",
                namespace=name,
                name="too-much",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
            ClaimOutcome(
                step="a key that no device has",
                namespace=name,
                name="unguarded",
                state=ClaimState.ERROR,
                because="no such key: index",
            ),
        ]
        self.register_outputs({"placed": self.placed})
