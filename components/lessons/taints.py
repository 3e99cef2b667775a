"""Device taints: set by the driver, tolerated by a claim, and set by an administrator to evict."""

import pulumi

from components.driver import GPU_CLASS
from components.expectation import ClaimOutcome, ClaimState, EventSeen, PodsFit
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import PodArgs
from dra.claim import DeviceClaim, DeviceRequest, DeviceToleration, ExactDeviceRequest, ResourceClaimSpec
from dra.device import DeviceTaint, DeviceTaintRuleSpec, DeviceTaintSelector
from dra.pool import GPU_DRIVER, GpuPool

PRODUCT = "NVIDIA L40S"
UNHEALTHY = DeviceTaint(key=f"{GPU_DRIVER}/xid", value="79", effect="NoSchedule")
"""The GPU has fallen off the bus; the driver says so in its slice."""
MAINTENANCE = DeviceTaint(key="gpulab.dev/maintenance", effect="NoExecute")


def tolerating(taint: DeviceTaint) -> ResourceClaimSpec:
    """Return the claim of a GPU that takes it even with this taint."""
    request = ExactDeviceRequest(
        device_class_name=GPU_CLASS,
        tolerations=[DeviceToleration(key=taint.key, operator="Exists", effect=taint.effect)],
    )
    return ResourceClaimSpec(devices=DeviceClaim(requests=[DeviceRequest(name="gpu", exactly=request)]))


class Taints(Lesson):
    """A node whose only GPU is tainted, and one whose GPUs get a taint under running pods."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Taints", name, opts)
        sick, drained = self.node("taints-sick"), self.node("taints-drained")
        [gpu] = GpuPool(name="gpus", product=PRODUCT, count=1, nodes=[sick]).devices()
        self.devices(sick, [gpu.model_copy(update={"taints": [UNHEALTHY]})])
        self.gpus(drained, PRODUCT, 2)
        for what, spec in {"careful": gpus(), "tolerant": tolerating(UNHEALTHY)}.items():
            self.pod(what, PodArgs(claims={"gpu": self.claim(what, spec)}, node=sick))
        running = [
            self.running(
                what,
                after=[
                    self.deployment(what, 1, PodArgs(claims={"gpu": self.template(what, spec)}, node=drained))
                ],
            )
            for what, spec in {"evicted": gpus(), "staying": tolerating(MAINTENANCE)}.items()
        ]
        selected = DeviceTaintSelector(driver=GPU_DRIVER, pool=drained)
        rule = DeviceTaintRuleSpec(device_selector=selected, taint=MAINTENANCE)
        self.taint_rule("taints-maintenance", rule, after=running)
        self.expectations = [
            ClaimOutcome(
                step="a tainted GPU",
                namespace=name,
                name="careful",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
            ClaimOutcome(
                step="with a toleration",
                namespace=name,
                name="tolerant",
                state=ClaimState.ALLOCATED,
                devices=1,
            ),
            EventSeen(
                step="the rule evicts",
                namespace=name,
                about="evicted-",
                reason="DeviceTaintManagerEviction",
            ),
            PodsFit(
                step="the evicted pod's successor",
                namespace=name,
                label="app=evicted",
                running=0,
                pending=1,
                reason="cannot allocate all claims",
            ),
            PodsFit(
                step="the pod that tolerates it", namespace=name, label="app=staying", running=1, pending=0
            ),
        ]
        self.register_outputs({"placed": self.placed})
