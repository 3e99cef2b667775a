"""The best GPU, else others: a prioritized list."""

import pulumi

from components.driver import GPU_CLASS
from components.expectation import ClaimOutcome, ClaimState
from components.lesson import Lesson
from components.lessons.requests import claim_of
from components.pods import PodArgs
from dra.claim import DeviceRequest, DeviceSubRequest, selector
from dra.pool import GPU_DRIVER, GpuPool

H100 = "NVIDIA H100 80GB HBM3"
A100 = "NVIDIA A100-SXM4-40GB"


def alternative(name: str, product: str, count: int) -> DeviceSubRequest:
    """Return one entry of the list."""
    return DeviceSubRequest(
        name=name,
        device_class_name=GPU_CLASS,
        count=count,
        selectors=[selector(f"device.attributes['{GPU_DRIVER}'].productName == '{product}'")],
    )


EITHER = claim_of(
    DeviceRequest(
        name="gpu", first_available=[alternative("h100", H100, 1), alternative("two-a100", A100, 2)]
    )
)


class Alternatives(Lesson):
    """A node with one H100 and three A100, and three claims of an H100 or else two A100, one by one."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Alternatives", name, opts)
        node = self.node("alternatives-node")
        best = GpuPool(name="best", product=H100, count=1, nodes=[node]).devices()
        others = GpuPool(name="others", product=A100, count=3, nodes=[node]).devices()
        self.devices(
            node,
            [gpu.model_copy(update={"name": f"gpu-{index}"}) for index, gpu in enumerate([*best, *others])],
        )
        before: list[pulumi.Resource] = []
        for what in ("first", "second", "third"):
            pod = self.pod(what, PodArgs(claims={"gpu": self.claim(what, EITHER)}), after=before)
            before = [self.running(what, after=[pod])] if what != "third" else []
        self.expectations = [
            ClaimOutcome(
                step="the first to come",
                namespace=name,
                name="first",
                state=ClaimState.ALLOCATED,
                devices=1,
                requests=["gpu/h100"],
            ),
            ClaimOutcome(
                step="the second",
                namespace=name,
                name="second",
                state=ClaimState.ALLOCATED,
                devices=2,
                requests=["gpu/two-a100", "gpu/two-a100"],
            ),
            ClaimOutcome(
                step="the third, with one A100 left",
                namespace=name,
                name="third",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
        ]
        self.register_outputs({"placed": self.placed})
