"""Devices that break under running pods: one that its driver taints, and one that it no longer publishes."""

from collections.abc import Sequence

import pulumi

from components.expectation import ClaimOutcome, ClaimState, EventSeen, PodsFit
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import PodArgs
from dra.device import Device, DeviceTaint, ResourcePool, ResourceSliceSpec
from dra.pool import GPU_DRIVER, GpuPool

PRODUCT = "NVIDIA L40S"
LOST = DeviceTaint(key=f"{GPU_DRIVER}/xid", value="79", effect="NoExecute")
"""The GPU has fallen off the bus, so what runs on it is lost."""


class BrokenDevice(Lesson):
    """A node whose driver taints a GPU in use, and one whose driver takes its GPUs out of the slice.

    A driver that publishes anew raises the generation of its pool, and of a pool only the slices of the
    highest generation count (KEP-4381). So each news here is a slice more, and none is changed: a refresh
    finds what the program says.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:BrokenDevice", name, opts)
        tainted, gone = self.node("broken-device-tainted"), self.node("broken-device-gone")
        two = GpuPool(name="gpus", product=PRODUCT, count=2, nodes=[tainted]).devices()
        published = [
            self._publish(tainted, 1, two),
            self._publish(gone, 1, GpuPool(name="gpus", product=PRODUCT, count=1, nodes=[gone]).devices()),
        ]
        moved = self.deployment(
            "moved", 1, PodArgs(claims={"gpu": self.template("moved", gpus())}, node=tainted), after=published
        )
        held = PodArgs(claims={"gpu": self.claim("held", gpus())}, node=gone)
        running = [
            self.running("moved", after=[moved]),
            self.running("unaware", after=[self.pod("unaware", held, after=published)]),
        ]
        [first, second] = two
        self._publish(tainted, 2, [first.model_copy(update={"taints": [LOST]}), second], after=running)
        withdrawn = self._publish(gone, 2, [], after=running)
        self.pod("same-claim", held, after=[withdrawn])
        self.pod(
            "new-claim", PodArgs(claims={"gpu": self.claim("new", gpus())}, node=gone), after=[withdrawn]
        )
        self.expectations = [
            EventSeen(
                step="the pod on a GPU that gets a taint",
                namespace=name,
                about="moved-",
                reason="DeviceTaintManagerEviction",
            ),
            PodsFit(
                step="its successor, on the other GPU",
                namespace=name,
                label="app=moved",
                running=1,
                pending=0,
            ),
            PodsFit(
                step="the pod on a GPU that is gone",
                namespace=name,
                label="app=unaware",
                running=1,
                pending=0,
            ),
            ClaimOutcome(
                step="its claim, and another pod with it",
                namespace=name,
                name="held",
                state=ClaimState.ALLOCATED,
                devices=1,
                reserved_for=["same-claim", "unaware"],
            ),
            ClaimOutcome(
                step="a claim made now",
                namespace=name,
                name="new",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
        ]
        self.register_outputs({"placed": self.placed})

    def _publish(
        self,
        node: str,
        generation: int,
        devices: Sequence[Device],
        *,
        after: Sequence[pulumi.Resource] = (),
    ) -> pulumi.Resource:
        """Publish the node's devices as they are from this generation of its pool on."""
        pool = ResourcePool(name=node, generation=generation, resource_slice_count=1)
        # An empty list is left out by the API server, and would be a change at each `up`.
        spec = ResourceSliceSpec(driver=GPU_DRIVER, node_name=node, pool=pool, devices=devices or None)
        return self.slice(f"{node}-{generation}", spec, after=after)
