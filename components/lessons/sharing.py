"""Sharing: several claims, each for an amount of one GPU's capacity."""

import pulumi

from components.driver import GPU_CLASS
from components.expectation import ClaimOutcome, ClaimRef, ClaimsCompared, ClaimState
from components.lesson import Lesson, PodArgs
from components.lessons.requests import claim_of, gpus
from dra.claim import CapacityRequirements, DeviceRequest, ExactDeviceRequest, ResourceClaimSpec
from dra.device import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from dra.pool import GpuPool

PRODUCT = "NVIDIA A100-SXM4-40GB"
MEMORY = DeviceCapacity(
    value="40Gi",
    request_policy=CapacityRequestPolicy(
        default="8Gi", valid_range=CapacityRequestPolicyRange(min="1Gi", max="40Gi", step="1Gi")
    ),
)
"""What the driver gives out: whole Gi, and 8 to a claim that names no amount."""


def part(memory: str) -> ResourceClaimSpec:
    """Return the claim of so much of a GPU's memory."""
    request = ExactDeviceRequest(
        device_class_name=GPU_CLASS, capacity=CapacityRequirements(requests={"memory": memory})
    )
    return claim_of(DeviceRequest(name="gpu", exactly=request))


class Sharing(Lesson):
    """A node with one GPU that takes several claims: tenants until its memory is given out."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Sharing", name, opts)
        node = self.node("sharing-node")
        [gpu] = GpuPool(name="gpus", product=PRODUCT, count=1, nodes=[node]).devices()
        shared = {"allow_multiple_allocations": True, "capacity": {"memory": MEMORY}}
        self.devices(node, [gpu.model_copy(update=shared)])
        tenants = {"large": part("16Gi"), "odd": part("10500Mi"), "silent": gpus()}
        running = [
            self.running(what, after=[self.pod(what, PodArgs(claims={"gpu": self.claim(what, spec)}))])
            for what, spec in tenants.items()
        ]
        refused = self.pod(
            "too-much", PodArgs(claims={"gpu": self.claim("too-much", part("6Gi"))}), after=running
        )
        self.pod("last", PodArgs(claims={"gpu": self.claim("last", part("5Gi"))}), after=[*running, refused])
        self.expectations = [
            *[
                ClaimOutcome(
                    step=step,
                    namespace=name,
                    name=claim,
                    state=ClaimState.ALLOCATED,
                    devices=1,
                    consumed={"memory": amount},
                )
                for claim, step, amount in (
                    ("large", "a tenant that asks for 16Gi", "16Gi"),
                    ("odd", "one that asks for 10500Mi", "11Gi"),
                    ("silent", "one that names no amount", "8Gi"),
                    ("last", "one that asks for 5Gi, all that is left", "5Gi"),
                )
            ],
            ClaimsCompared(
                step="their GPU",
                namespace=name,
                claims=[ClaimRef(name=claim) for claim in (*tenants, "last")],
                devices="the same",
            ),
            ClaimOutcome(
                step="a tenant for whom too little is left",
                namespace=name,
                name="too-much",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
        ]
        self.register_outputs({"placed": self.placed})
