"""What the cluster shows of each expectation. Read-only: a second `up` changes nothing.

Pods and claims take a moment to settle, so each look is repeated until it matches or its deadline has passed;
then what is there is what is reported. Not by a watch: lightkube's goes on for ever where nothing happens.
"""

# lightkube writes dict without its parts in many signatures.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, cast

import httpx2
import yaml
from lightkube import ApiError, Client, KubeConfig
from lightkube.core.resource_registry import resource_registry
from lightkube.resources.core_v1 import Event, Node, Pod
from lightkube.resources.resource_v1 import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)

from components.expectation import (
    ApiServed,
    ClaimOutcome,
    ClaimRejected,
    ClaimsCompared,
    ClaimState,
    EventSeen,
    Expectation,
    FieldSeen,
    NodeGpus,
    Outcome,
    PodsFit,
    fit,
    gpus,
)
from dra.pool import GPU_RESOURCE, POOL_LABEL
from lab.claims import claim_outcome, claims_compared, unscheduled

if TYPE_CHECKING:
    from collections.abc import Callable

SETTLES_WITHIN_SECONDS = 45
"""For all outcomes, as they settle together: three times what the slowest takes on two busy cores.

What is as expected is reported at once.
"""
LOOKS_EVERY_SECONDS = 0.25
AT_ONCE = 16
"""So many expectations are looked at together: most of the time is spent waiting for the API server."""

_NOT_FOUND = 404

_KINDS = {
    "deviceclasses": DeviceClass,
    "devicetaintrules": DeviceTaintRule,
    "resourceclaims": ResourceClaim,
    "resourceclaimtemplates": ResourceClaimTemplate,
    "resourceslices": ResourceSlice,
}


def connect(kubeconfig: str, context: str | None = None) -> list[Client]:
    """Return clients for a kubeconfig's text, one for each expectation that is looked at together."""
    config = KubeConfig.from_dict(yaml.safe_load(kubeconfig)).get(context_name=context or None)
    return [Client(config, trust_env=False) for _ in range(AT_ONCE)]


def observe(
    clients: Sequence[Client], expectations: Mapping[str | None, Sequence[Expectation]]
) -> list[Outcome]:
    """Return an outcome for each expectation of each lesson, in their order. None is Lab 4 itself.

    A client is used by one thread at a time: httpcore2 writes into its TLS context whenever it opens a
    connection, and what another thread opens with the same context at that moment begins with a broken hello.
    """
    pairs = [(lesson, expectation) for lesson, all_ in expectations.items() for expectation in all_]
    deadline = time.monotonic() + SETTLES_WITHIN_SECONDS
    free = SimpleQueue[Client]()
    for client in clients:
        free.put(client)

    def outcome(pair: tuple[str | None, Expectation]) -> Outcome:
        lesson, expectation = pair
        client = free.get()
        try:
            seen = _until(client, expectation, deadline)
        finally:
            free.put(client)
        return Outcome(
            lesson=lesson,
            step=expectation.title,
            expected=expectation.expected,
            observed=seen,
            ok=expectation.met_by(seen),
        )

    with ThreadPoolExecutor(len(clients)) as threads:
        return list(threads.map(outcome, pairs))


def _until(client: Client, expectation: Expectation, deadline: float) -> str:
    """Look until what is seen is what is expected, at least once and at most until the deadline."""
    while not expectation.met_by(seen := look(client, expectation)) and time.monotonic() < deadline:
        time.sleep(LOOKS_EVERY_SECONDS)
    return seen


def look(client: Client, expectation: Expectation) -> str:
    """Return what there is to see of an expectation now, in its own words."""
    looks: dict[type, Callable[[Client, Any], str]] = {
        NodeGpus: node_gpus,
        PodsFit: pods_fit,
        ApiServed: api_served,
        ClaimOutcome: claim_outcome,
        ClaimsCompared: claims_compared,
        ClaimRejected: dry_run,
        FieldSeen: field_seen,
        EventSeen: event_seen,
    }
    try:
        return looks[type(expectation)](client, expectation)
    except ApiError as error:
        # Such as a node that was deleted by hand: it is what is seen, and no reason to end the program.
        return f"not to be had: {error.status.message or error}"
    except httpx2.HTTPError as error:
        return f"not to be had: the API server does not answer ({error})"


def node_gpus(client: Client, expectation: NodeGpus) -> str:
    """Return a node's GPUs and which mechanism gives them out."""
    node = client.get(Node, expectation.node)
    status = node.status
    counted = int((status.allocatable if status and status.allocatable else {}).get(GPU_RESOURCE, "0"))
    slices = client.list(ResourceSlice, fields={"spec.nodeName": expectation.node})
    claimed = sum(len(found.spec.devices or []) for found in slices)
    if counted and claimed:
        return f"{counted} counted and {claimed} claimed: every GPU is sold twice"
    if counted or claimed:
        return gpus(counted or claimed, "counted" if counted else "claimed")
    return gpus(0, "none") + (_wrong_label(node, expectation.pool) if expectation.pool else "")


def _wrong_label(node: Node, pool: str) -> str:
    """Say which pool a node is labelled with, where that is another than the stack gives it."""
    labels = node.metadata.labels if node.metadata and node.metadata.labels else {}
    label = labels.get(POOL_LABEL)
    if label == pool:
        return ""
    has = f"has {POOL_LABEL}={label}" if label else f"has no label {POOL_LABEL}"
    return (
        f": it {has}, and its pool is {pool}; `kubectl label --overwrite` it, or refresh the stack and `up`"
    )


def pods_fit(client: Client, expectation: PodsFit) -> str:
    """Return how many of the pods run and how many wait, with the scheduler's own reason."""
    key, value = expectation.label.split("=", 1)
    pods = list(client.list(Pod, namespace=expectation.namespace, labels={key: value}))
    running = sum(_phase(pod) == "Running" for pod in pods)
    finished = sum(_phase(pod) == "Succeeded" for pod in pods)
    waiting = [unscheduled(pod) for pod in pods if _phase(pod) not in {"Running", "Succeeded"}]
    reasons = {reason for reason in waiting if reason}
    known = expectation.reason if any(expectation.reason in reason for reason in reasons) else ""
    reason = known or "; ".join(sorted(reasons))
    # A pod that the scheduler has not looked at yet is not an answer.
    return fit(running, len(waiting), finished, reason if all(waiting) else "the scheduler has not said")


def _phase(pod: Pod) -> str | None:
    return pod.status.phase if pod.status else None


def api_served(client: Client, expectation: ApiServed) -> str:
    """Return which of the resources the API server serves."""
    served = [resource for resource in expectation.resources if _is_served(client, resource)]
    return expectation.model_copy(update={"resources": served}).expected


def _is_served(client: Client, resource: str) -> bool:
    try:
        next(iter(client.list(_KINDS[resource])), None)
    except ApiError as error:
        if error.status.code == _NOT_FOUND:
            return False
        raise
    return True


def dry_run(client: Client, expectation: ClaimRejected) -> str:
    """Ask the API server for its verdict on a claim, without making it."""
    claim = cast(
        "ResourceClaim",
        ResourceClaim.from_dict(
            {
                "metadata": {"name": expectation.name, "namespace": expectation.namespace},
                "spec": expectation.spec.document(),
            }
        ),
    )
    try:
        client.create(claim, dry_run=True)
    except ApiError as error:
        return f"{ClaimState.REJECTED.value}: {error.status.message}"
    return "accepted"


def field_seen(client: Client, expectation: FieldSeen) -> str:
    """Return the value of a field, or that there is none."""
    kind = cast("Any", resource_registry.load(expectation.api_version, expectation.object_kind))
    try:
        found = client.get(kind, expectation.name, namespace=expectation.namespace)
    except ApiError as error:
        if error.status.code == _NOT_FOUND:
            return f"no {expectation.object_kind} {expectation.name}"
        raise
    value: Any = found.to_dict()
    for key in expectation.path:
        value = _step(value, key)
    return "nothing" if value is None else str(value)


def _step(value: Any, key: str) -> Any:  # noqa: ANN401 - whatever an object holds
    """Return what a key leads to: of an object, or of a list whose elements have `key=value`."""
    if isinstance(value, list):
        name, _, wanted = key.partition("=")
        return next((one for one in value if one.get(name) == wanted), None)
    return value.get(key) if isinstance(value, dict) else None


def event_seen(client: Client, expectation: EventSeen) -> str:
    """Return the event, or the others that tell of the same object."""
    events = [
        f"{event.reason}: {event.message}"
        for event in client.list(Event, namespace=expectation.namespace)
        if (event.involvedObject.name or "").startswith(expectation.about)
    ]
    fitting = [event for event in events if expectation.met_by(event)]
    return "; ".join(fitting[:1] or sorted(set(events))) or "no event"
