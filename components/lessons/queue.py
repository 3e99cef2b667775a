"""A queue in front of the scheduler: jobs are let in one after the other, as their GPUs are there."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.expectation import EventSeen, FieldSeen, PodsFit
from components.lesson import Lesson
from components.lessons.completion import TIME_SCALE
from components.lessons.requests import gpus
from components.pods import SLEEPS_SECONDS, JobArgs, PodArgs

API = "kueue.x-k8s.io/v1beta2"
GPUS = 2
COUNTED = "gpus"
"""What Kueue calls the devices of the class gpu.nvidia.com (toolchain/modules/kueue)."""
QUOTA = "queue-gpus"
LOCAL_QUEUE = "training"
A_YEAR = 365 * 24 * 3600
"""In seconds: for ever, as far as this lesson goes."""


class Queue(Lesson):
    """Kueue with two GPUs to give, and three Jobs that want both: one that ends, and two that do not."""

    def __init__(
        self, name: str, opts: pulumi.ResourceOptions | None = None, *, time_scale: int = TIME_SCALE
    ) -> None:
        super().__init__("gpulab:lessons:Queue", name, opts)
        self.gpus(self.node("queue-node"), "NVIDIA L40S", GPUS)
        ends = JobArgs(
            pods=GPUS,
            pod=PodArgs(claims={"gpu": self.template("one-gpu", gpus())}),
            run_seconds=math.ceil(SLEEPS_SECONDS / time_scale),
            queue=LOCAL_QUEUE,
            until="jsonpath={.spec.suspend}=false",
        )
        stays = replace(ends, run_seconds=A_YEAR, until="")
        first = self.job("first", ends, after=[self._queues()])
        second = self.job("second", stays, behind=[first])
        # A wait at the Job itself would be one at every `up` after a refresh, for as long as it runs.
        running = self.running("second", GPUS, after=[second], seconds=60 + ends.run_seconds)
        self.job("third", stays, after=[running], behind=[first, second])
        self.expectations = [
            PodsFit(
                step="the first Job", namespace=name, label="app=first", running=0, pending=0, finished=GPUS
            ),
            PodsFit(
                step="the second, let in when the first was over",
                namespace=name,
                label="app=second",
                running=GPUS,
                pending=0,
            ),
            PodsFit(step="the pods of the third", namespace=name, label="app=third", running=0, pending=0),
            FieldSeen(
                step="the third is",
                api_version="batch/v1",
                object_kind="Job",
                namespace=name,
                name="third",
                path=["status", "conditions", "type=Suspended", "status"],
                value="True",
            ),
            EventSeen(
                step="what Kueue says of it",
                namespace=name,
                about="job-third",
                reason="Pending",
                because=f"insufficient unused quota for {COUNTED}",
            ),
        ]
        self.register_outputs({"placed": self.placed})

    def _queues(self) -> pulumi.Resource:
        """Make the queue of this namespace, and the GPUs that it may give."""
        flavor = self._kueue("ResourceFlavor", QUOTA, {})
        quotas = [{"name": COUNTED, "nominalQuota": str(GPUS)}]
        group = {"coveredResources": [COUNTED], "flavors": [{"name": QUOTA, "resources": quotas}]}
        cluster = self._kueue(
            "ClusterQueue", QUOTA, {"namespaceSelector": {}, "resourceGroups": [group]}, after=[flavor]
        )
        return self._kueue(
            "LocalQueue", LOCAL_QUEUE, {"clusterQueue": QUOTA}, namespace=self.namespace, after=[cluster]
        )

    def _kueue(
        self,
        kind: str,
        name: str,
        spec: dict[str, object],
        *,
        namespace: pulumi.Input[str] | None = None,
        after: Sequence[pulumi.Resource] = (),
    ) -> CustomResource:
        metadata: dict[str, pulumi.Input[str]] = {"name": name} | (
            {"namespace": namespace} if namespace else {}
        )
        return self._keep(
            CustomResource(
                f"{self.lesson}-{name}-{kind.lower()}",
                api_version=API,
                kind=kind,
                metadata=metadata,
                spec=spec,
                opts=self._child(after),
            )
        )
