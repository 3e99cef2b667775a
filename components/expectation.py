"""What a step of the lesson should come to, as data: components state it, the lab observes it."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from dra.claim import ResourceClaimSpec
from dra.model import Model


class ClaimState(StrEnum):
    """Where a claim got to, and why it got no further. The values are what people read."""

    ALLOCATED = "allocated"
    NO_CONSUMER = "pending: no pod uses it"
    NO_CLASS = "pending: its DeviceClass does not exist"
    NO_DRIVER = "pending: no driver publishes devices"
    NO_MATCH = "pending: no device matches"
    ERROR = "error: the scheduler fails the pod"
    REJECTED = "rejected by the API server"


class NodeGpus(Model):
    """A node has the `count` GPUs of its pool, counted in its status or claimable from its slices."""

    kind: Literal["node-gpus"] = "node-gpus"
    step: str
    node: str
    pool: str
    count: int
    mechanism: Literal["counted", "claimed", "none"]


class PodsFit(Model):
    """Of a namespace's pods with a label `running` run, and `pending` wait for `reason`."""

    kind: Literal["pods-fit"] = "pods-fit"
    step: str
    namespace: str
    label: str
    running: int
    pending: int
    reason: str


class ApiServed(Model):
    """The API group serves these resources at this version."""

    kind: Literal["api-served"] = "api-served"
    step: str
    group: str
    version: str
    resources: list[str]


class ClaimOutcome(Model):
    """A claim gets to a state; `same` is an attribute that all its devices must then share."""

    kind: Literal["claim-outcome"] = "claim-outcome"
    step: str
    namespace: str
    name: str
    state: Annotated[ClaimState, Field(strict=False)]
    devices: int = 0
    same: str | None = None


class ClaimRejected(Model):
    """The API server refuses the claim, naming `because`. Asked by a dry run: nothing is made."""

    kind: Literal["claim-rejected"] = "claim-rejected"
    step: str
    namespace: str
    name: str
    spec: ResourceClaimSpec
    because: str


Expectation = NodeGpus | PodsFit | ApiServed | ClaimOutcome | ClaimRejected


class Outcome(Model):
    """An expectation beside what was seen."""

    step: str
    expected: str
    observed: str
    ok: bool
