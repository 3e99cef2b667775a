"""What the cluster shows of claims: their state, their devices, and whose they are."""

# lightkube writes dict without its parts in many signatures.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
import json
from collections.abc import Sequence

from lightkube import ApiError, Client
from lightkube.models.core_v1 import PodSpec
from lightkube.models.resource_v1 import AllocationResult, DeviceRequestAllocationResult
from lightkube.resources.core_v1 import Pod
from lightkube.resources.resource_v1 import ResourceClaim, ResourceSlice

from components.expectation import ClaimOutcome, ClaimRef, ClaimsCompared, ClaimState

_NOT_FOUND = 404


def claim_outcome(client: Client, expectation: ClaimOutcome) -> str:
    """Return where a claim got to: its devices, or why it has none."""
    namespace = expectation.namespace
    claim = find(client, namespace, expectation.ref)
    allocation = claim.status.allocation if claim and claim.status else None
    if claim and allocation:
        names = ", ".join(sorted(_device(result) for result in _results(allocation)))
        return f"{_as_seen(client, expectation, claim, allocation).expected} ({names})"
    name = claim.metadata.name if claim and claim.metadata else None
    consumers = [
        pod
        for pod in client.list(Pod, namespace=namespace)
        if _uses(pod.spec, name or expectation.name)
        or (pod.metadata and pod.metadata.name == expectation.pod)
    ]
    if not consumers:
        return ClaimState.NO_CONSUMER.value
    message = " ".join(unscheduled(pod) for pod in consumers).strip()
    if not message:
        return "the scheduler has not said"
    return f"{_reason(client, message).value} ({message})"


def claims_compared(client: Client, expectation: ClaimsCompared) -> str:
    """Return whether claims have the same devices or different ones, and which."""
    sets: list[set[str]] = []
    for ref in expectation.claims:
        claim = find(client, expectation.namespace, ref)
        allocation = claim.status.allocation if claim and claim.status else None
        if allocation is None:
            return f"{ref.pod or ref.name} has no devices"
        sets.append({f"{result.pool}/{result.device}" for result in _results(allocation)})
    listed = "; ".join(", ".join(sorted(devices)) for devices in sets)
    if all(devices == sets[0] for devices in sets):
        return f"the same devices ({listed})"
    if sum(map(len, sets)) == len(set[str]().union(*sets)):
        return f"different devices ({listed})"
    return f"some devices in common ({listed})"


def find(client: Client, namespace: str, ref: ClaimRef) -> ResourceClaim | None:
    """Return a claim by its name, or by the pod that it was made for; None if there is none (yet)."""
    try:
        name = (
            _name_of_pod_s(client.get(Pod, ref.pod, namespace=namespace), ref.name) if ref.pod else ref.name
        )
        return client.get(ResourceClaim, name, namespace=namespace) if name else None
    except ApiError as error:
        if error.status.code == _NOT_FOUND:
            return None
        raise


def _name_of_pod_s(pod: Pod, reference: str) -> str | None:
    if pod.status is None:
        return None
    if not reference:
        extended = pod.status.extendedResourceClaimStatus
        return extended.resourceClaimName if extended else None
    made = [one for one in pod.status.resourceClaimStatuses or [] if one.name == reference]
    return made[0].resourceClaimName if made else None


def unscheduled(pod: Pod) -> str:
    """Return what the scheduler says of a pod that it did not place."""
    conditions = pod.status.conditions if pod.status and pod.status.conditions else []
    for condition in conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return f"{condition.reason}: {condition.message}"
    return ""


def _as_seen(
    client: Client, expectation: ClaimOutcome, claim: ResourceClaim, allocation: AllocationResult
) -> ClaimOutcome:
    """Return the expectation as it would be for what is there. Only what it asks for is looked at."""
    results = _results(allocation)
    reserved = (claim.status.reservedFor if claim.status else None) or []
    seen = {
        "state": ClaimState.ALLOCATED,
        "devices": len(results),
        "same": expectation.same
        if expectation.same and len(_values(client, results, expectation.same)) == 1
        else None,
        "distinct": expectation.distinct
        if expectation.distinct and len(_values(client, results, expectation.distinct)) == len(results)
        else None,
        "requests": [result.request for result in results] if expectation.requests else (),
        "reserved_for": sorted(one.name for one in reserved) if expectation.reserved_for else (),
        "consumed": _consumed(results) if expectation.consumed else {},
        "configured": _configured(allocation) if expectation.configured else (),
        "otherwise": None,
    }
    return expectation.model_copy(update=seen)


def _results(allocation: AllocationResult) -> Sequence[DeviceRequestAllocationResult]:
    return (allocation.devices.results if allocation.devices else None) or []


def _device(result: DeviceRequestAllocationResult) -> str:
    return f"{result.pool}/{result.device}" + (f" share {result.shareID[:8]}" if result.shareID else "")


def _consumed(results: Sequence[DeviceRequestAllocationResult]) -> dict[str, str]:
    """Return what each device gives, if all give the same."""
    given = [dict(sorted((result.consumedCapacity or {}).items())) for result in results]
    return given[0] if given and all(one == given[0] for one in given) else {"unlike amounts": "each"}


def _configured(allocation: AllocationResult) -> list[str]:
    configs = (allocation.devices.config if allocation.devices else None) or []
    return [json.dumps(one.opaque.parameters, sort_keys=True) for one in configs if one.opaque]


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
    return bool(claim) and any(reference.resourceClaimName == claim for reference in references)


def _values(client: Client, results: Sequence[DeviceRequestAllocationResult], attribute: str) -> set[str]:
    """Return the values, as JSON, that the allocated devices have of an attribute; `null` for none."""
    wanted = {(result.driver, result.pool, result.device) for result in results}
    values: set[str] = set()
    for found in client.list(ResourceSlice):
        for device in found.spec.devices or []:
            if (found.spec.driver, found.spec.pool.name, device.name) in wanted:
                known = (device.attributes or {}).get(attribute)
                domain, _, own = attribute.rpartition("/")
                if known is None and domain == found.spec.driver:
                    # The driver's own attributes are published without its domain.
                    known = (device.attributes or {}).get(own)
                values.add(json.dumps(known, sort_keys=True, default=lambda one: one.to_dict()))
    return values
