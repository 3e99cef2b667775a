"""Limits on GPUs: of a claim, and of a stack."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field

from dra.claim import ResourceClaimSpec
from dra.demand import devices_asked
from dra.objects import ResourceClaim, ResourceClaimTemplate, Workload
from dra.quantity import Quantity
from policies.admitted import object_of
from policies.judge import ResourceRule, StackRule, Violation
from policies.kinds import claims, claims_and_workloads
from policies.objects import KubernetesObject
from policies.settings import TargetSettings
from policies.stack import Stack


class LimitSettings(TargetSettings):
    """How many devices, and what counts: classes as shell patterns, extended resources by their names."""

    maximum: Annotated[int | None, Field(ge=0)] = None
    device_classes: Sequence[str] = ("*",)


class StackLimitSettings(LimitSettings):
    """As for a claim, with what is counted by a device plugin."""

    resources: Sequence[str] = ("nvidia.com/gpu",)


def claim_limit(item: KubernetesObject, settings: LimitSettings) -> Iterator[Violation]:
    """Yield a claim that can get more devices than one claim may."""
    claim = object_of(item, settings.target)
    if settings.maximum is None or not isinstance(claim, ResourceClaim | ResourceClaimTemplate):
        return
    asked = _asked(claim.spec, settings)
    if asked is None:
        yield _unbounded(settings.maximum, "a claim")
    elif asked > settings.maximum:
        yield Violation(
            path="spec.devices.requests",
            message=f"asks for {asked} devices, and a claim may have {settings.maximum}",
            remedy="Ask for fewer, or share the work out over several pods with a claim each",
        )


def stack_limit(
    stack: Stack, settings: StackLimitSettings
) -> Iterator[tuple[KubernetesObject | None, Violation]]:
    """Yield a stack whose claims and pods can together get more devices than a stack may."""
    if settings.maximum is None:
        return
    found = [(item, object_of(item, settings.target)) for item in stack.objects if claims_and_workloads(item)]
    pods: Counter[tuple[str, str]] = Counter()
    total = 0
    for _item, workload in found:
        if isinstance(workload, Workload):
            for claim in workload.claims.resource_claims:
                if claim.resource_claim_template_name:
                    pods[workload.metadata.namespace, claim.resource_claim_template_name] += workload.replicas
            total += workload.replicas * _counted(workload, settings.resources)
    for item, claim in found:
        if not isinstance(claim, ResourceClaim | ResourceClaimTemplate):
            continue
        is_template = isinstance(claim, ResourceClaimTemplate)
        times = pods[claim.metadata.namespace, claim.metadata.name] if is_template else 1
        asked = _asked(claim.spec, settings)
        if asked is None and times:
            yield item, _unbounded(settings.maximum, "the stack")
        total += times * (asked or 0)
    if total > settings.maximum:
        yield (
            None,
            Violation(
                path="",
                message=f"The stack asks for {total} GPUs, and a stack may have {settings.maximum}",
                remedy="Ask for fewer, or have the limit raised",
            ),
        )


def _unbounded(maximum: int, whose: str) -> Violation:
    return Violation(
        path="spec.devices.requests",
        message=f"asks for all devices that match, which nothing bounds, and {whose} may have {maximum}",
        remedy="Ask for an ExactCount",
    )


def _asked(spec: ResourceClaimSpec, settings: LimitSettings) -> int | None:
    return devices_asked(
        spec, lambda name: any(fnmatchcase(name, pattern) for pattern in settings.device_classes)
    )


def _counted(workload: Workload, resources: Sequence[str]) -> int:
    """Return how many of the resources a pod's containers have as limits; a limit is a whole number."""
    return sum(
        Quantity.parse(quantity).to_integer() or 0
        for limits in workload.limits.values()
        for resource, quantity in (limits.requests or {}).items()
        if resource in resources
    )


GPUS_PER_CLAIM = ResourceRule(
    name="gpus-per-claim",
    description="A claim asks for no more devices than one claim may have.",
    settings=LimitSettings,
    judged=claims,
    judge=claim_limit,
    concerns=lambda _, settings: settings.maximum is not None,
)
GPUS_PER_STACK = StackRule(
    name="gpus-per-stack",
    description="The claims and pods of a stack ask for no more GPUs than a stack may have.",
    settings=StackLimitSettings,
    judged=claims_and_workloads,
    judge=stack_limit,
    concerns=lambda _, settings: settings.maximum is not None,
)
