"""Time-slicing: configuration for the driver, carried from class and claim into the allocation."""

import json
from collections.abc import Mapping
from typing import Any

import pulumi

from components.driver import CLASSES, GPU_CLASS
from components.expectation import ClaimOutcome, ClaimRejected, ClaimState, FieldSeen
from components.lesson import Lesson
from components.lessons.requests import exactly
from components.pods import PodArgs
from dra.claim import (
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceClassConfiguration,
    DeviceClassSpec,
    OpaqueDeviceConfiguration,
    ResourceClaimSpec,
)
from dra.pool import GPU_DRIVER

CLASS = "time-slicing.gpulab.dev"


def sharing(strategy: str, **settings: Any) -> Mapping[str, Any]:  # noqa: ANN401 - what the driver takes
    """Return the parameters that NVIDIA's driver takes for a GPU (its api/nvidia.com/resource/v1beta1)."""
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "GpuConfig",
        "sharing": {"strategy": strategy, **settings},
    }


LONG = sharing("TimeSlicing", timeSlicingConfig={"interval": "Long"})
SHORT = sharing("TimeSlicing", timeSlicingConfig={"interval": "Short"})
MISSPELT = sharing("TimeSlizing")


def text(parameters: Mapping[str, Any]) -> str:
    """Return parameters as the lab shows them."""
    return json.dumps(parameters, sort_keys=True)


def configured(
    parameters: Mapping[str, Any], *, of: str = GPU_CLASS, request: str = "gpu"
) -> ResourceClaimSpec:
    """Return the claim of a GPU with parameters for its driver, for the devices of `request`."""
    opaque = OpaqueDeviceConfiguration(driver=GPU_DRIVER, parameters=parameters)
    return ResourceClaimSpec(
        devices=DeviceClaim(
            requests=[exactly("gpu", of=of)],
            config=[DeviceClaimConfiguration(requests=[request], opaque=opaque)],
        )
    )


class TimeSlicing(Lesson):
    """A node with three GPUs: one sliced for two pods, one configured twice, one with a spelling mistake."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:TimeSlicing", name, opts)
        self.gpus(self.node("time-slicing-node"), "NVIDIA L40S", 3)
        of_class = OpaqueDeviceConfiguration(driver=GPU_DRIVER, parameters=SHORT)
        self.device_class(
            CLASS,
            DeviceClassSpec(
                selectors=CLASSES[GPU_CLASS].selectors, config=[DeviceClassConfiguration(opaque=of_class)]
            ),
        )
        sliced = self.claim("sliced", configured(LONG))
        for pod in ("tenant-a", "tenant-b"):
            self.pod(pod, PodArgs(claims={"gpu": sliced}))
        self.pod("both", PodArgs(claims={"gpu": self.claim("both", configured(LONG, of=CLASS))}))
        self.pod("misspelt", PodArgs(claims={"gpu": self.claim("misspelt", configured(MISSPELT))}))
        self.expectations = [
            ClaimOutcome(
                step="one GPU for two pods, and what its driver is told",
                namespace=name,
                name="sliced",
                state=ClaimState.ALLOCATED,
                devices=1,
                reserved_for=["tenant-a", "tenant-b"],
                configured=[text(LONG)],
            ),
            ClaimOutcome(
                step="the class's settings, then the claim's",
                namespace=name,
                name="both",
                state=ClaimState.ALLOCATED,
                devices=1,
                configured=[text(SHORT), text(LONG)],
            ),
            _from(name, "whose the first is", "both", "FromClass", "Short"),
            _from(name, "whose the second is", "both", "FromClaim", "Long"),
            ClaimOutcome(
                step="a strategy that there is not",
                namespace=name,
                name="misspelt",
                state=ClaimState.ALLOCATED,
                devices=1,
                configured=[text(MISSPELT)],
            ),
            ClaimRejected(
                step="settings for a request that is not there",
                namespace=name,
                name="no-request",
                spec=configured(LONG, request="gpus"),
                because="must be the name of a request in the claim",
            ),
        ]
        self.register_outputs({"placed": self.placed})


def _from(namespace: str, step: str, claim: str, source: str, interval: str) -> FieldSeen:
    """Return what should be seen of the interval that the class or the claim sets."""
    path = [
        *("status", "allocation", "devices", "config", f"source={source}"),
        *("opaque", "parameters", "sharing", "timeSlicingConfig", "interval"),
    ]
    return FieldSeen(
        step=step,
        api_version="resource.k8s.io/v1",
        object_kind="ResourceClaim",
        namespace=namespace,
        name=claim,
        path=path,
        value=interval,
    )
