"""Admin access: a claim that sees devices in use and takes none away."""

import pulumi

from components.driver import GPU_CLASS
from components.expectation import ClaimOutcome, ClaimRejected, ClaimState, FieldSeen
from components.lesson import Lesson
from components.lessons.requests import claim_of, gpus
from components.pods import PodArgs
from dra.claim import DeviceRequest, ExactDeviceRequest

ADMIN_LABEL = "resource.kubernetes.io/admin-access"
"""A namespace with this label, `true`, may have claims with admin access (KEP-5018)."""

ALL_GPUS = claim_of(
    DeviceRequest(
        name="gpu",
        exactly=ExactDeviceRequest(device_class_name=GPU_CLASS, allocation_mode="All", admin_access=True),
    )
)


class AdminAccess(Lesson):
    """A node with three GPUs, two of them in use: a monitor has all three, and the third is still free."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:AdminAccess", name, opts, namespace_labels={ADMIN_LABEL: "true"})
        self.gpus(self.node("admin-access-node"), "NVIDIA L40S", 3)
        after: list[pulumi.Resource] = []
        for what, spec in {"training": gpus(2), "monitor": ALL_GPUS, "late": gpus()}.items():
            pod = self.pod(what, PodArgs(claims={"gpu": self.claim(what, spec)}), after=after)
            after = [self.running(what, after=[pod])]
        self.pod("too-late", PodArgs(claims={"gpu": self.claim("too-late", gpus())}), after=after)
        self.expectations = [
            ClaimOutcome(
                step="a job", namespace=name, name="training", state=ClaimState.ALLOCATED, devices=2
            ),
            ClaimOutcome(
                step="the monitor sees the busy GPUs too",
                namespace=name,
                name="monitor",
                state=ClaimState.ALLOCATED,
                devices=3,
            ),
            FieldSeen(
                step="marked as admin access",
                api_version="resource.k8s.io/v1",
                object_kind="ResourceClaim",
                namespace=name,
                name="monitor",
                path=["status", "allocation", "devices", "results", "request=gpu", "adminAccess"],
                value="True",
            ),
            ClaimOutcome(
                step="a job after the monitor",
                namespace=name,
                name="late",
                state=ClaimState.ALLOCATED,
                devices=1,
            ),
            ClaimOutcome(
                step="one more than there are GPUs",
                namespace=name,
                name="too-late",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
            ClaimRejected(
                step="the monitor's claim in a namespace without the label",
                namespace="default",
                name="monitor",
                spec=ALL_GPUS,
                because=f"admin access to devices requires the `{ADMIN_LABEL}: true` label",
            ),
        ]
        self.register_outputs({"placed": self.placed})
