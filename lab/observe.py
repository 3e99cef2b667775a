"""What the cluster shows of each expectation. Read-only: a second `up` changes nothing.

Pods and claims take a moment to settle, so each look is repeated, at every event of what it looks at, until
it matches or its deadline has passed; then what is there is what is reported.
"""

# lightkube writes dict without its parts in many signatures.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import cast

import yaml
from lightkube import ApiError, Client, KubeConfig
from lightkube.models.core_v1 import PodSpec
from lightkube.models.resource_v1 import DeviceRequestAllocationResult
from lightkube.resources.core_v1 import Node, Pod
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
    ClaimState,
    Expectation,
    NodeGpus,
    Outcome,
    PodsFit,
)
from dra.pool import GPU_RESOURCE, POOL_LABEL

SETTLES_WITHIN_SECONDS = 15

_KINDS = {
    "deviceclasses": DeviceClass,
    "devicetaintrules": DeviceTaintRule,
    "resourceclaims": ResourceClaim,
    "resourceclaimtemplates": ResourceClaimTemplate,
    "resourceslices": ResourceSlice,
}


def connect(kubeconfig: str, context: str | None = None) -> Client:
    """Return a client for a kubeconfig's text."""
    config = KubeConfig.from_dict(yaml.safe_load(kubeconfig))
    return Client(config.get(context_name=context or None), trust_env=False)


def observe(client: Client, expectations: Iterable[Expectation]) -> list[Outcome]:
    """Return an outcome for each expectation, in their order."""
    return [_observe(client, expectation) for expectation in expectations]


def _observe(client: Client, expectation: Expectation) -> Outcome:
    match expectation:
        case NodeGpus():
            expected = _gpus(expectation.count, expectation.mechanism)
            seen = until(
                _nodes(client), lambda: node_gpus(client, expectation.node, expectation.pool), expected
            )
            return _outcome(f"{expectation.step} of {expectation.node}", expected, seen)
        case PodsFit():
            expected = _fit(expectation.running, expectation.pending, expectation.reason)
            seen = until(
                _pods(client, expectation.namespace), lambda: pods_fit(client, expectation), expected
            )
            return _outcome(expectation.step, expected, seen)
        case ApiServed():
            expected = f"{', '.join(sorted(expectation.resources))} at {expectation.version}"
            served = [resource for resource in expectation.resources if _is_served(client, resource)]
            return _outcome(
                expectation.step, expected, f"{', '.join(sorted(served))} at {expectation.version}"
            )
        case ClaimOutcome():
            expected = _claim(expectation.state, expectation.devices, expectation.same)
            return _outcome(expectation.step, expected, _claim_outcome(client, expectation, expected))
        case ClaimRejected():
            seen = dry_run(client, expectation)
            ok = seen.startswith(ClaimState.REJECTED.value) and expectation.because in seen
            expected = f"{ClaimState.REJECTED.value}: {expectation.because}"
            return Outcome(step=expectation.step, expected=expected, observed=seen, ok=ok)


def _outcome(step: str, expected: str, seen: str) -> Outcome:
    return Outcome(step=step, expected=expected, observed=seen, ok=seen.startswith(expected))


def until(events: Callable[[int], Iterable[object]], look: Callable[[], str], expected: str) -> str:
    """Look until what is seen starts with what is expected, at each event, at most the settling time.

    `events(seconds)` yields at each change of what `look` looks at, for so long.
    """
    deadline = time.monotonic() + SETTLES_WITHIN_SECONDS
    seen = look()
    while not seen.startswith(expected) and (left := deadline - time.monotonic()) > 0:
        for _ in events(max(1, int(left))):
            seen = look()
            if seen.startswith(expected) or time.monotonic() > deadline:
                break
    return seen


def _nodes(client: Client) -> Callable[[int], Iterable[object]]:
    return lambda seconds: client.watch(Node, server_timeout=seconds)


def _pods(client: Client, namespace: str) -> Callable[[int], Iterable[object]]:
    return lambda seconds: client.watch(Pod, namespace=namespace, server_timeout=seconds)


def node_gpus(client: Client, name: str, pool: str) -> str:
    """Return a node's GPUs and which mechanism gives them out."""
    node = client.get(Node, name)
    status = node.status
    counted = int((status.allocatable if status and status.allocatable else {}).get(GPU_RESOURCE, "0"))
    slices = client.list(ResourceSlice, fields={"spec.nodeName": name})
    claimed = sum(len(found.spec.devices or []) for found in slices)
    if counted and claimed:
        return f"{counted} counted and {claimed} claimed: every GPU is sold twice"
    if counted or claimed:
        return _gpus(counted or claimed, "counted" if counted else "claimed")
    return _gpus(0, "none") + _wrong_label(node, pool)


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


def _gpus(count: int, mechanism: str) -> str:
    return f"{count} GPUs, {mechanism}" if count else "no GPUs"


def pods_fit(client: Client, expectation: PodsFit) -> str:
    """Return how many of the pods run and how many wait, with the scheduler's own reason."""
    key, value = expectation.label.split("=", 1)
    pods = list(client.list(Pod, namespace=expectation.namespace, labels={key: value}))
    running = sum(_is_running(pod) for pod in pods)
    waiting = [_unscheduled(pod) for pod in pods if not _is_running(pod)]
    reasons = {reason for reason in waiting if reason}
    known = expectation.reason if any(expectation.reason in reason for reason in reasons) else ""
    reason = known or "; ".join(sorted(reasons))
    # A pod that the scheduler has not looked at yet is not an answer.
    return _fit(running, len(waiting), reason if all(waiting) else "the scheduler has not said")


def _fit(running: int, pending: int, reason: str) -> str:
    return f"{running} running, {pending} pending" + (f": {reason}" if pending else "")


def _is_running(pod: Pod) -> bool:
    return pod.status is not None and pod.status.phase == "Running"


def _unscheduled(pod: Pod) -> str:
    """Return what the scheduler says of a pod that it did not place."""
    conditions = pod.status.conditions if pod.status and pod.status.conditions else []
    for condition in conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return f"{condition.reason}: {condition.message}"
    return ""


def _is_served(client: Client, resource: str) -> bool:
    try:
        next(iter(client.list(_KINDS[resource])), None)
    except ApiError as error:
        if error.status.code == 404:  # noqa: PLR2004 - HTTP's not found
            return False
        raise
    return True


def _claim_outcome(client: Client, expectation: ClaimOutcome, expected: str) -> str:
    def look() -> str:
        return claim_outcome(client, expectation.namespace, expectation.name, expectation.same)

    return until(_pods(client, expectation.namespace), look, expected)


def claim_outcome(client: Client, namespace: str, name: str, same: str | None) -> str:
    """Return where a claim got to: its devices, or why it has none."""
    claim = client.get(ResourceClaim, name, namespace=namespace)
    if claim.status and claim.status.allocation and claim.status.allocation.devices:
        results = claim.status.allocation.devices.results or []
        shared = same if same and len(_values(client, results, same)) == 1 else None
        names = ", ".join(sorted(f"{result.pool}/{result.device}" for result in results))
        return f"{_claim(ClaimState.ALLOCATED, len(results), shared)} ({names})"
    consumers = [pod for pod in client.list(Pod, namespace=namespace) if _uses(pod.spec, name)]
    if not consumers:
        return ClaimState.NO_CONSUMER.value
    message = " ".join(_unscheduled(pod) for pod in consumers).strip()
    if not message:
        return "the scheduler has not said"
    return f"{_reason(client, message).value} ({message})"


def _reason(client: Client, message: str) -> ClaimState:
    """Tell the reasons apart. The scheduler says "cannot allocate all claims" for two of them."""
    if "device class" in message and "does not exist" in message:
        return ClaimState.NO_CLASS
    if message.startswith("SchedulerError") or "CEL runtime error" in message:
        return ClaimState.ERROR
    if next(iter(client.list(ResourceSlice)), None) is None:
        return ClaimState.NO_DRIVER
    return ClaimState.NO_MATCH


def _uses(spec: PodSpec | None, claim: str) -> bool:
    references = spec.resourceClaims if spec and spec.resourceClaims else []
    return any(reference.resourceClaimName == claim for reference in references)


def _values(client: Client, results: Sequence[DeviceRequestAllocationResult], attribute: str) -> set[str]:
    """Return the values, as JSON, that the allocated devices have of an attribute; `null` for none."""
    wanted = {(result.driver, result.pool, result.device) for result in results}
    values: set[str] = set()
    for found in client.list(ResourceSlice):
        for device in found.spec.devices or []:
            if (found.spec.driver, found.spec.pool.name, device.name) in wanted:
                values.add(json.dumps((device.attributes or {}).get(attribute), sort_keys=True))
    return values


def _claim(state: ClaimState, devices: int, same: str | None) -> str:
    if state is not ClaimState.ALLOCATED:
        return state.value
    count = f"{devices} device" + ("s" if devices != 1 else "")
    return f"{state.value}: {count}" + (f" of one {same}" if same else "")


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
