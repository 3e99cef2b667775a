"""A claim for each pod, or one that several share."""

import pulumi

from components.expectation import ClaimOutcome, ClaimRef, ClaimsCompared, ClaimState
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import PodArgs


class Template(Lesson):
    """A node with four GPUs: two pods with a claim each, two containers with one, two pods with one."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Template", name, opts)
        self.gpus(self.node("template-node"), "NVIDIA L40S", 4)
        template = self.template("one-gpu", gpus())
        for pod in ("own-a", "own-b"):
            self.pod(pod, PodArgs(claims={"gpu": template}))
        self.pod(
            "containers", PodArgs(claims={"gpu": template}, containers={"train": ["gpu"], "watch": ["gpu"]})
        )
        shared = self.claim("shared", gpus())
        for pod in ("sharing-a", "sharing-b"):
            self.pod(pod, PodArgs(claims={"gpu": shared}))
        self.expectations = [
            ClaimOutcome(
                step="a claim made for a pod",
                namespace=name,
                name="gpu",
                pod="own-a",
                state=ClaimState.ALLOCATED,
                devices=1,
                reserved_for=["own-a"],
            ),
            ClaimsCompared(
                step="and one for the other pod",
                namespace=name,
                claims=[ClaimRef(name="gpu", pod="own-a"), ClaimRef(name="gpu", pod="own-b")],
                devices="different",
            ),
            ClaimOutcome(
                step="one for two containers of a pod",
                namespace=name,
                name="gpu",
                pod="containers",
                state=ClaimState.ALLOCATED,
                devices=1,
                reserved_for=["containers"],
            ),
            ClaimOutcome(
                step="one that two pods name",
                namespace=name,
                name="shared",
                state=ClaimState.ALLOCATED,
                devices=1,
                reserved_for=["sharing-a", "sharing-b"],
            ),
        ]
        self.register_outputs({"placed": self.placed})
