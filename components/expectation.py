"""What a step of a lesson should come to, as data: components state it, the lab observes it.

`expected` is what people read, in the pages and beside what was seen; `met_by` compares the two. What is seen
says the same words first and may go on: with the devices' names, with the scheduler's message.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

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


class Expected(Model):
    """One thing to see. `step` says which, in a few words."""

    step: str

    @property
    def title(self) -> str:
        """What the step is called in a table."""
        return self.step

    @property
    def expected(self) -> str:
        """What should be seen, in words."""
        raise NotImplementedError

    def met_by(self, seen: str) -> bool:
        """Return whether what was seen is what was expected."""
        return seen.startswith(self.expected)


class NodeGpus(Expected):
    """A node has `count` GPUs, counted in its status or claimable from its slices; or so many by both.

    `pool` is the one whose label it should have, for a lesson's own node none.
    """

    kind: Literal["node-gpus"] = "node-gpus"
    node: str
    pool: str | None = None
    count: int
    mechanism: Literal["counted", "claimed", "both", "none"]

    @property
    def title(self) -> str:
        """The step and the node."""
        return f"{self.step} of {self.node}"

    @property
    def expected(self) -> str:
        """The count, and how they are given out."""
        if self.mechanism == "both":
            return f"{self.count} counted and {self.count} claimed: every GPU is sold twice"
        return gpus(self.count, self.mechanism)


class PodsFit(Expected):
    """Of a namespace's pods with a label `running` run, and `pending` wait for `reason`.

    `finished` have ended well. Pods that are gone are in none of the numbers.
    """

    kind: Literal["pods-fit"] = "pods-fit"
    namespace: str
    label: str
    running: int
    pending: int
    finished: int = 0
    reason: str = ""

    @model_validator(mode="after")
    def _who_waits_has_a_reason(self) -> Self:
        # Without one, a pod that the scheduler has not looked at yet would do.
        if self.pending and not self.reason:
            raise ValueError("pods that are expected to wait need a reason that is expected with them")
        return self

    @property
    def expected(self) -> str:
        """The numbers and the reason."""
        return fit(self.running, self.pending, self.finished, self.reason)


class ApiServed(Expected):
    """The API group serves these resources at this version."""

    kind: Literal["api-served"] = "api-served"
    group: str
    version: str
    resources: list[str]

    @property
    def expected(self) -> str:
        """The resources, by name."""
        return f"{', '.join(sorted(self.resources))} at {self.version}"


class ClaimRef(Model):
    """A claim by its name or, with a pod, one that was made for that pod.

    Then `name` is what the pod calls it, and empty for what it asks for as an extended resource.
    """

    name: str
    pod: str | None = None


class ClaimOutcome(Expected):
    """A claim gets to a state. Of an allocated one more can be said:

    `same` and `distinct` are attributes that all its devices share, or of which no two have the same value;
    `requests` are the requests (`request/subrequest` for an alternative) that its devices answer;
    `reserved_for` are the pods that may use it, sorted; `consumed` is what it takes of its device's capacity;
    `configured` is the driver's own configuration that came along, as JSON.
    Of one that is not, `because` is a part of what the scheduler says. `otherwise` is another state that will
    do: where claims want the same devices, the scheduler decides which of them comes first, and where.
    """  # noqa: D400, D415 - a list of the fields follows

    kind: Literal["claim-outcome"] = "claim-outcome"
    namespace: str
    name: str
    pod: str | None = None
    state: Annotated[ClaimState, Field(strict=False)]
    devices: int = 0
    same: str | None = None
    distinct: str | None = None
    requests: Sequence[str] = ()
    reserved_for: Sequence[str] = ()
    consumed: Mapping[str, str] = {}
    configured: Sequence[str] = ()
    because: str = ""
    otherwise: Annotated[ClaimState | None, Field(strict=False)] = None

    @property
    def ref(self) -> ClaimRef:
        """Which claim."""
        return ClaimRef(name=self.name, pod=self.pod)

    @property
    def expected(self) -> str:
        """The state with all that is to be said of it."""
        return f"{self._first}, or {self.otherwise.value}" if self.otherwise else self._first

    @property
    def _first(self) -> str:
        if self.state is not ClaimState.ALLOCATED:
            return self.state.value + (f" (… {self.because} …)" if self.because else "")
        count = f"{self.devices} device" + ("s" if self.devices != 1 else "")
        parts = [
            f" of one {self.same}" if self.same else "",
            f" of different {self.distinct}" if self.distinct else "",
            f", for {', '.join(self.requests)}" if self.requests else "",
            ", each with " + ", ".join(f"{amount} of {name}" for name, amount in self.consumed.items())
            if self.consumed
            else "",
            f", used by {' and '.join(self.reserved_for)}" if self.reserved_for else "",
            f", configured by {', '.join(self.configured)}" if self.configured else "",
        ]
        return f"{self.state.value}: {count}{''.join(parts)}"

    def met_by(self, seen: str) -> bool:
        """Return whether the state is that, for that reason, or the other."""
        if self.otherwise and seen.startswith(self.otherwise.value):
            return True
        if self.state is ClaimState.ALLOCATED:
            return seen.startswith(self._first)
        return seen.startswith(self.state.value) and self.because in seen


class ClaimsCompared(Expected):
    """Claims have the same device(s), or no device in common."""

    kind: Literal["claims-compared"] = "claims-compared"
    namespace: str
    claims: Sequence[ClaimRef]
    devices: Literal["the same", "different"]

    @property
    def expected(self) -> str:
        """Same or different."""
        return f"{self.devices} devices"


class ClaimRejected(Expected):
    """The API server refuses the claim, naming `because`. Asked by a dry run: nothing is made."""

    kind: Literal["claim-rejected"] = "claim-rejected"
    namespace: str
    name: str
    spec: ResourceClaimSpec
    because: str

    @property
    def expected(self) -> str:
        """The refusal and its reason."""
        return f"{ClaimState.REJECTED.value}: {self.because}"

    def met_by(self, seen: str) -> bool:
        """Return whether it is refused for that reason."""
        return seen.startswith(ClaimState.REJECTED.value) and self.because in seen


class FieldSeen(Expected):
    """A field of an object has a value.

    `path` leads to it by keys; `type=Ready` in it picks the element of a list that has this key and value.
    """

    kind: Literal["field-seen"] = "field-seen"
    api_version: str
    object_kind: str
    namespace: str | None = None
    name: str
    path: Sequence[str]
    value: str

    @property
    def expected(self) -> str:
        """The value."""
        return self.value


class EventSeen(Expected):
    """An event of this reason tells of an object whose name begins with `about`, and says `because`."""

    kind: Literal["event-seen"] = "event-seen"
    namespace: str
    about: str
    reason: str
    because: str = ""

    @property
    def expected(self) -> str:
        """The event's reason, and what it says."""
        return f"{self.reason}" + (f": … {self.because} …" if self.because else "")

    def met_by(self, seen: str) -> bool:
        """Return whether there is such an event."""
        return seen.startswith(self.reason) and self.because in seen


Expectation = (
    NodeGpus | PodsFit | ApiServed | ClaimOutcome | ClaimsCompared | ClaimRejected | FieldSeen | EventSeen
)


class Outcome(Model):
    """An expectation beside what was seen. `lesson` is None for the steps of Lab 4."""

    lesson: str | None = None
    step: str
    expected: str
    observed: str
    ok: bool


def gpus(count: int, mechanism: str) -> str:
    """Return a number of GPUs in words."""
    return f"{count} GPU{'s' if count != 1 else ''}, {mechanism}" if count else "no GPUs"


def fit(running: int, pending: int, finished: int, reason: str) -> str:
    """Return what became of some pods in words."""
    return (
        f"{running} running, "
        + (f"{finished} finished, " if finished else "")
        + f"{pending} pending"
        + (f": {reason}" if pending and reason else "")
    )
