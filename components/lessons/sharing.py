"""Sharing: several claims, each for a part of one GPU's capacity."""

from collections.abc import Mapping

import pulumi

from components.driver import GPU_CLASS
from components.expectation import ClaimOutcome, ClaimRef, ClaimsCompared, ClaimState, PodsFit
from components.lesson import Lesson
from components.lessons.requests import claim_of, gpus
from components.pods import PodArgs
from dra.claim import CapacityRequirements, DeviceRequest, ExactDeviceRequest, ResourceClaimSpec
from dra.device import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from dra.pool import GpuPool

PRODUCT = "NVIDIA A100-SXM4-40GB"
SHARES = 4


def capacity(value: str, *, least: str, default: str, step: str) -> DeviceCapacity:
    """Return a capacity of which claims may take parts."""
    parts = CapacityRequestPolicyRange(min=least, max=value, step=step)
    return DeviceCapacity(
        value=value, request_policy=CapacityRequestPolicy(default=default, valid_range=parts)
    )


BY_MEMORY = {"memory": capacity("40Gi", least="1Mi", default="40Gi", step="1Mi")}
"""As NVIDIA's driver publishes a GPU with `consumableShares: memory` (its consumable_shares.go)."""
BY_SHARES = {
    "memory": capacity("40Gi", least="0", default="0", step="1Mi"),
    "shares": capacity(str(SHARES), least="1", default="1", step="1"),
}
"""As it does with `consumableShares: 4`."""


def part(memory: str) -> ResourceClaimSpec:
    """Return the claim of so much of a GPU's memory."""
    request = ExactDeviceRequest(
        device_class_name=GPU_CLASS, capacity=CapacityRequirements(requests={"memory": memory})
    )
    return claim_of(DeviceRequest(name="gpu", exactly=request))


class Sharing(Lesson):
    """Two nodes with a GPU each that takes several claims: one is cut by memory, the other into shares."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Sharing", name, opts)
        by_memory = self._publish("sharing-memory", BY_MEMORY)
        by_shares = self._publish("sharing-shares", BY_SHARES)
        running: list[pulumi.Resource] = []
        for claims in (
            {"large": part("16Gi"), "odd": part("10G")},
            {"whole": gpus(), "rest": part("15039Mi")},
        ):
            pods = {
                what: self.pod(
                    what, PodArgs(claims={"gpu": self.claim(what, spec)}, node=by_memory), after=running
                )
                for what, spec in claims.items()
            }
            if not running:
                running = [self.running(what, after=[pod]) for what, pod in pods.items()]
        self.deployment(
            "server", SHARES + 1, PodArgs(claims={"gpu": self.template("share", gpus())}, node=by_shares)
        )
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
                    ("odd", "one that asks for 10G", "9537Mi"),
                    ("rest", "one that asks for all that is left", "15039Mi"),
                )
            ],
            ClaimsCompared(
                step="their GPU",
                namespace=name,
                claims=[ClaimRef(name=claim) for claim in ("large", "odd", "rest")],
                devices="the same",
            ),
            ClaimOutcome(
                step="one that names no amount",
                namespace=name,
                name="whole",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
            PodsFit(
                step=f"five tenants of a GPU with {SHARES} shares",
                namespace=name,
                label="app=server",
                running=SHARES,
                pending=1,
                reason="cannot allocate all claims",
            ),
        ]
        self.register_outputs({"placed": self.placed})

    def _publish(self, name: str, parts: Mapping[str, DeviceCapacity]) -> str:
        """Make a node with one GPU that several claims may have parts of."""
        node = self.node(name)
        [gpu] = GpuPool(name="gpus", product=PRODUCT, count=1, nodes=[node]).devices()
        self.devices(
            node, [gpu.model_copy(update={"allow_multiple_allocations": True, "capacity": dict(parts)})]
        )
        return node
