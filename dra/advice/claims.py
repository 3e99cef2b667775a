"""Advice on ResourceClaims and ResourceClaimTemplates."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from dra import codes
from dra.advice.selectors import on_selectors
from dra.advice.world import World, each_request
from dra.claim import DeviceConstraint, ResourceClaimSpec
from dra.finding import Finding
from dra.pool import GPU_DRIVER

DOCUMENTED_TOLERATIONS = 16
"""`DeviceTolerationsMaxLength` of resource/v1, which no API server up to 1.37 enforces."""
CLAIM_LIMIT = 32
"""`AllocationResultsMaxSize` of resource/v1: the scheduler fails a pod whose claim would need more."""
_SHARING_GATES = {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}
"""The NVIDIA driver's own gates, off by default (its `sharing.strategy`)."""


def on_claim(spec: ResourceClaimSpec, base: str, world: World) -> Iterator[Finding]:
    """Yield advice on a claim. `base` is the path of its spec in the document."""
    yield from _nothing_asked(spec, base)
    yield from _over_the_limit(spec, base, world)
    for path, name, request in each_request(spec, base):
        yield from on_selectors(request.selectors, path, world, request.device_class_name)
        yield from _many_tolerations(len(request.tolerations or ()), path)
        if request.capacity is not None:
            yield from _capacity_names(name, request.capacity.requests or {}, path, world)
    for index, constraint in enumerate(spec.devices.constraints or ()):
        path = f"{base}.devices.constraints[{index}]"
        yield from _match_and_distinct(constraint, path)
        yield from _two_slashes(constraint, path)
    for index, config in enumerate(spec.devices.config or ()):
        if config.opaque is not None and config.opaque.driver == GPU_DRIVER:
            yield from _driver_gate(
                config.opaque.parameters, f"{base}.devices.config[{index}].opaque.parameters"
            )


def _nothing_asked(spec: ResourceClaimSpec, base: str) -> Iterator[Finding]:
    if not spec.devices.requests:
        yield codes.NO_REQUESTS.at(
            f"{base}.devices.requests",
            "The claim has no requests, so it is allocated at once and has no devices.",
            "Ask for a device: requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}].",
        )


def _over_the_limit(spec: ResourceClaimSpec, base: str, world: World) -> Iterator[Finding]:
    if world.devices:
        return  # The scheduler's own count says it, with what All matches.
    least = 0
    for index, request in enumerate(spec.devices.requests or ()):
        alternatives = [request.exactly] if request.exactly else request.first_available or ()
        counts = [0 if each.allocation_mode == "All" else each.count or 1 for each in alternatives]
        least += min(counts, default=0)
        if least > CLAIM_LIMIT:
            yield codes.CLAIM_LIMIT.at(
                f"{base}.devices.requests[{index}]",
                f"With this request the claim asks for {least} devices, and no claim may have more than "
                f"{CLAIM_LIMIT}: the scheduler fails every pod that uses it.",
                "Ask for fewer, or by several claims.",
            )
            return


def _many_tolerations(number: int, path: str) -> Iterator[Finding]:
    if number > DOCUMENTED_TOLERATIONS:
        yield codes.MANY_TOLERATIONS.at(
            f"{path}.tolerations",
            f"The request has {number} tolerations where the API documents at most {DOCUMENTED_TOLERATIONS}, "
            "which a later release may enforce.",
            "Tolerate by key with operator Exists, which takes fewer.",
        )


def _capacity_names(name: str, requests: Mapping[str, str], path: str, world: World) -> Iterator[Finding]:
    for asked in requests:
        if not world.devices or asked in world.capacity_names:
            continue
        short = asked.rpartition("/")[2].lower()
        meant = sorted(each for each in world.capacity_names if each.rpartition("/")[2].lower() == short)
        known = ", ".join(meant or sorted(world.capacity_names)) or "none"
        yield codes.CAPACITY_NAME.at(
            f"{path}.capacity.requests.{asked}",
            f"The request {name!r} asks for the capacity {asked!r}, and the slices have {known}: it must be "
            "spelled as there, with the domain only if the slice has it.",
            f"Write {meant[0]}." if meant else "Ask for a capacity that the devices have.",
        )


def _match_and_distinct(constraint: DeviceConstraint, path: str) -> Iterator[Finding]:
    if constraint.match_attribute and constraint.distinct_attribute:
        yield codes.MATCH_AND_DISTINCT.at(
            f"{path}.distinctAttribute",
            f"The constraint has matchAttribute too, so the scheduler ignores distinctAttribute "
            f"{constraint.distinct_attribute!r}.",
            "Make them two constraints.",
        )


def _two_slashes(constraint: DeviceConstraint, path: str) -> Iterator[Finding]:
    attributes = {
        "matchAttribute": constraint.match_attribute,
        "distinctAttribute": constraint.distinct_attribute,
    }
    for field, attribute in attributes.items():
        if attribute is not None and attribute.count("/") > 1:
            yield codes.TWO_SLASHES.at(
                f"{path}.{field}",
                f"{attribute!r} has {attribute.count('/')} slashes, and no attribute can be named so: "
                "the constraint never holds.",
                "Write the domain, one slash and the identifier: resource.kubernetes.io/pcieRoot.",
            )


def _driver_gate(parameters: Any, path: str) -> Iterator[Finding]:  # noqa: ANN401 - the driver's own JSON
    sharing: Any = (
        cast("Mapping[str, Any]", parameters).get("sharing") if isinstance(parameters, Mapping) else None
    )
    strategy: Any = (
        cast("Mapping[str, Any]", sharing).get("strategy") if isinstance(sharing, Mapping) else None
    )
    gate = _SHARING_GATES.get(strategy) if isinstance(strategy, str) else None
    if gate is not None:
        yield codes.DRIVER_GATE.at(
            f"{path}.sharing.strategy",
            f"The driver takes the strategy {strategy!r} only with its own feature gate {gate}, which is off "
            "by default; nothing before the kubelet says so.",
            f"Install the driver with featureGates.{gate}=true.",
        )
