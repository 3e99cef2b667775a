"""Preemption: it frees counted GPUs and cannot free claimed ones."""

from dataclasses import replace

import pulumi
from pulumi_kubernetes.scheduling.v1 import PriorityClass

from components.expectation import PodsFit
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.options import name_of
from components.pods import PodArgs
from dra.pool import GPU_RESOURCE

URGENT = "preemption-urgent"
COUNT = 2


class Preemption(Lesson):
    """Two nodes of two GPUs each, all in use, and on each an urgent pod that wants one."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Preemption", name, opts)
        urgent = self._keep(
            PriorityClass(
                f"{name}-urgent",
                metadata={"name": URGENT},
                value=1000,
                description="for pods that may push others off a node",
                # A class's value is immutable, and a pod keeps the one that it was made with.
                opts=self._child(replace_on=["value"]),
            )
        )
        counted = self.node("preemption-counted", counted=COUNT)
        claimed = self.node("preemption-claimed")
        self.gpus(claimed, "NVIDIA L40S", COUNT)
        template = self.template("one-gpu", gpus())
        asks = {
            "counted": PodArgs(limits={GPU_RESOURCE: "1"}, node=counted),
            "claimed": PodArgs(claims={"gpu": template}, node=claimed),
        }
        for how, args in asks.items():
            usual = self.deployment(f"usual-{how}", COUNT, args)
            self.pod(
                f"urgent-{how}",
                replace(args, more={"priority_class_name": name_of(urgent, URGENT)}),
                after=[self.running(f"usual-{how}", COUNT, after=[usual])],
            )
        self.expectations = [
            PodsFit(
                step="an urgent pod, GPUs counted",
                namespace=name,
                label="app=urgent-counted",
                running=1,
                pending=0,
            ),
            PodsFit(
                step="for it one of the usual pods there had to go",
                namespace=name,
                label="app=usual-counted",
                running=COUNT - 1,
                pending=1,
                reason=f"Insufficient {GPU_RESOURCE}",
            ),
            PodsFit(
                step="an urgent pod, GPUs claimed",
                namespace=name,
                label="app=urgent-claimed",
                running=0,
                pending=1,
                reason="cannot allocate all claims",
            ),
            PodsFit(
                step="the usual pods there stay",
                namespace=name,
                label="app=usual-claimed",
                running=COUNT,
                pending=0,
            ),
        ]
        self.register_outputs({"placed": self.placed})
