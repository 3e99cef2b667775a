"""Double booking: a device plugin and a DRA driver on one node sell every GPU twice."""

import pulumi

from components.expectation import NodeGpus, PodsFit
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import PodArgs
from dra.pool import GPU_RESOURCE

PRODUCT = "NVIDIA L40S"
COUNT = 2


class DoubleBooking(Lesson):
    """Two nodes with two GPUs each, and four pods for each: one node has two ledgers, the other one."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:DoubleBooking", name, opts)
        template = self.template("one-gpu", gpus())
        both = self.node("double-booking-both", counted=COUNT)
        one = self.node("double-booking-one")
        for ledgers, node in {"two-ledgers": both, "one-ledger": one}.items():
            self.gpus(node, PRODUCT, COUNT)
            claiming = self.deployment(
                f"{ledgers}-claim", COUNT, PodArgs(claims={"gpu": template}, node=node)
            )
            self.deployment(
                f"{ledgers}-count",
                COUNT,
                PodArgs(limits={GPU_RESOURCE: "1"}, node=node),
                after=[self.running(f"{ledgers}-claim", COUNT, after=[claiming])],
            )
        self.expectations = [
            NodeGpus(step="GPUs", node=both, count=COUNT, mechanism="both"),
            NodeGpus(step="GPUs", node=one, count=COUNT, mechanism="claimed"),
            *[
                _pods(name, f"{ledgers}, {step}", f"{ledgers}-{how}", running)
                for ledgers, running in (("two-ledgers", COUNT), ("one-ledger", 0))
                for how, step, running in (
                    ("claim", "pods with a claim", COUNT),
                    ("count", f"pods with {GPU_RESOURCE}", running),
                )
            ],
        ]
        self.register_outputs({"placed": self.placed})


def _pods(namespace: str, step: str, app: str, running: int) -> PodsFit:
    return PodsFit(
        step=step.replace("-", " "),
        namespace=namespace,
        label=f"app={app}",
        running=running,
        pending=COUNT - running,
        reason="" if running == COUNT else "cannot allocate all claims",
    )
