"""Pods that end: what they held goes to those that wait."""

import math

import pulumi

from components.expectation import EventSeen, FieldSeen, PodsFit
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import SLEEPS_SECONDS, Claim, JobArgs, PodArgs

GPUS = 2
PODS = 3
TIME_SCALE = 150
"""So many seconds of a pod's time pass in one of ours, unless the configuration says otherwise."""


class Completion(Lesson):
    """A node with two GPUs and four pods of one GPU each that end: a Job of three, and a Job with a claim."""

    def __init__(
        self, name: str, opts: pulumi.ResourceOptions | None = None, *, time_scale: int = TIME_SCALE
    ) -> None:
        super().__init__("gpulab:lessons:Completion", name, opts)
        self._seconds = math.ceil(SLEEPS_SECONDS / time_scale)
        self.gpus(self.node("completion-node"), "NVIDIA L40S", GPUS)
        self._job("batch", PODS, self.template("batch", gpus()))
        self._job("named", 1, self.claim("kept", gpus()))
        self.expectations = [
            EventSeen(
                step="one of three pods had to wait",
                namespace=name,
                about="batch-",
                reason="FailedScheduling",
                because="cannot allocate all claims",
            ),
            PodsFit(
                step="all three have had their turn",
                namespace=name,
                label="app=batch",
                running=0,
                pending=0,
                finished=PODS,
            ),
            PodsFit(
                step="the pod that names a claim",
                namespace=name,
                label="app=named",
                running=0,
                pending=0,
                finished=1,
            ),
            FieldSeen(
                step="what that claim holds now",
                api_version="resource.k8s.io/v1",
                object_kind="ResourceClaim",
                namespace=name,
                name="kept",
                path=["status", "allocation"],
                value="nothing",
            ),
        ]
        self.register_outputs({"placed": self.placed})

    def _job(self, name: str, pods: int, claim: Claim) -> None:
        """Make a Job whose pods end after their time, and wait until they have."""
        self.job(
            name,
            JobArgs(
                pods=pods,
                pod=PodArgs(claims={"gpu": claim}),
                run_seconds=self._seconds,
                until="condition=Complete",
                wait_seconds=60 + self._seconds * (PODS + 1),
            ),
        )
