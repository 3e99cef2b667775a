"""Quota: how many devices a namespace may ask for."""

import pulumi
from pulumi_kubernetes.core.v1 import ResourceQuota

from components.driver import GPU_CLASS
from components.expectation import ClaimOutcome, ClaimRejected, ClaimState, EventSeen, FieldSeen
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import PodArgs
from dra.pool import GPU_RESOURCE

BY_CLASS = f"{GPU_CLASS}.deviceclass.resource.k8s.io/devices"
"""Devices that claims ask for of a class. Source: ResourceClaimsPerClass of k8s.io/api/core/v1."""
BY_RESOURCE = f"requests.{GPU_RESOURCE}"
"""GPUs that pods ask for as an extended resource and, where a DeviceClass serves it, that claims ask for."""

LIMIT = 4


class Quota(Lesson):
    """A node with eight GPUs, and a namespace that may ask for four of them."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Quota", name, opts)
        self.gpus(self.node("quota-node"), "NVIDIA L40S", 8)
        quota = self._keep(
            ResourceQuota(
                f"{name}-quota",
                metadata={"name": "gpus", "namespace": self.namespace},
                # The provider waits until the quota is in force.
                spec={"hard": {BY_CLASS: str(LIMIT), BY_RESOURCE: str(LIMIT)}},
                opts=self._child(),
            )
        )
        idle = self.claim("idle", gpus(), after=[quota])
        training = self.claim("training", gpus(2), after=[quota])
        running = [
            self.running(what, after=[self.pod(what, args, after=[quota])])
            for what, args in {
                "training": PodArgs(claims={"gpu": training}),
                "old-style": PodArgs(limits={GPU_RESOURCE: "1"}),
            }.items()
        ]
        late = PodArgs(claims={"gpu": self.template("one-gpu", gpus())})
        self.pod("late", late, after=[*running, idle.resource])
        self.expectations = [
            ClaimOutcome(
                step="two GPUs by a claim",
                namespace=name,
                name="training",
                state=ClaimState.ALLOCATED,
                devices=2,
            ),
            ClaimOutcome(
                step=f"one by {GPU_RESOURCE}",
                namespace=name,
                name="",
                pod="old-style",
                state=ClaimState.ALLOCATED,
                devices=1,
            ),
            ClaimOutcome(
                step="one asked for and not used", namespace=name, name="idle", state=ClaimState.NO_CONSUMER
            ),
            *[_used(name, key) for key in (BY_CLASS, BY_RESOURCE)],
            ClaimRejected(
                step="one claim more",
                namespace=name,
                name="one-more",
                spec=gpus(),
                because="exceeded quota: gpus",
            ),
            EventSeen(
                step="one more by a template",
                namespace=name,
                about="late",
                reason="FailedResourceClaimCreation",
                because="exceeded quota: gpus",
            ),
            FieldSeen(
                step="its pod has not even a claim",
                api_version="v1",
                object_kind="Pod",
                namespace=name,
                name="late",
                path=["status", "resourceClaimStatuses"],
                value="nothing",
            ),
        ]
        self.register_outputs({"placed": self.placed})


def _used(namespace: str, key: str) -> FieldSeen:
    """Return what should be used up of the quota under one of its keys."""
    return FieldSeen(
        step=f"used of {key}",
        api_version="v1",
        object_kind="ResourceQuota",
        namespace=namespace,
        name="gpus",
        path=["status", "used", key],
        value=str(LIMIT),
    )
