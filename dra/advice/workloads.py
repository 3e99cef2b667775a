"""Advice on pods, and on what makes pods."""

from collections.abc import Iterator

from dra import codes
from dra.advice.world import World
from dra.claim import ResourceClaimSpec
from dra.finding import Finding
from dra.objects import Workload
from dra.pod import PodResourceClaim, pod_spec_path
from dra.pool import GPU_RESOURCE
from dra.quantity import Quantity


def on_workload(workload: Workload, world: World) -> Iterator[Finding]:
    """Yield advice on a workload."""
    base = pod_spec_path(workload.kind)
    for index, claim in enumerate(workload.claims.resource_claims):
        path = f"{base}.resourceClaims[{index}]"
        yield from _shared(workload, claim, path)
        yield from _other_namespace(workload, claim, path, world)
        yield from _unused(workload, claim, path)
    yield from _unknown_requests(workload, base, world)
    yield from _counted_too(workload, base)


def _shared(workload: Workload, claim: PodResourceClaim, path: str) -> Iterator[Finding]:
    every_node = workload.kind == "DaemonSet"
    if claim.resource_claim_name and (every_node or workload.replicas > 1):
        number = "pods on all nodes" if every_node else f"{workload.replicas} replicas"
        yield codes.SHARED_CLAIM.at(
            f"{path}.resourceClaimName",
            f"All {number} share the claim {claim.resource_claim_name!r}, and so its devices and its node.",
            "Give each pod its own by resourceClaimTemplateName, unless sharing is meant.",
        )


def _other_namespace(
    workload: Workload, claim: PodResourceClaim, path: str, world: World
) -> Iterator[Finding]:
    here = workload.metadata.namespace
    for field, name, known in (
        ("resourceClaimName", claim.resource_claim_name, world.claims),
        ("resourceClaimTemplateName", claim.resource_claim_template_name, world.templates),
    ):
        elsewhere = sorted(namespace for namespace, each in known if each == name)
        if elsewhere and here not in elsewhere:
            yield codes.OTHER_NAMESPACE.at(
                f"{path}.{field}",
                f"{name!r} is in the namespace {elsewhere[0]}, and the pod in {here}: a pod can use the "
                f"claims of its own namespace only, and waits until {here} has one of that name.",
                f"Put both into {here}.",
            )


def _unused(workload: Workload, claim: PodResourceClaim, path: str) -> Iterator[Finding]:
    used = {use.name for _, uses in workload.claims.containers for use in uses}
    if claim.name not in used:
        yield codes.UNUSED_CLAIM.at(
            f"{path}.name",
            f"No container of the pod uses its claim {claim.name!r}: the pod holds the devices, and none of "
            "its containers sees them.",
            f"Add it to a container: resources: {{claims: [{{name: {claim.name}}}]}}.",
        )


def _unknown_requests(workload: Workload, base: str, world: World) -> Iterator[Finding]:
    specs = {
        each.name: spec for each in workload.claims.resource_claims if (spec := _spec(workload, each, world))
    }
    for container, uses in workload.claims.containers:
        for use in uses:
            spec = specs.get(use.name)
            names = [request.name for request in spec.devices.requests or ()] if spec else []
            if spec is not None and use.request is not None and use.request not in names:
                yield codes.UNKNOWN_REQUEST.at(
                    f"{base}.containers",
                    f"The container {container!r} uses the request {use.request!r} of the claim "
                    f"{use.name!r}, which has {', '.join(names) or 'none'}.",
                    "Name one of its requests, or leave `request` out to use them all.",
                )


def _spec(workload: Workload, claim: PodResourceClaim, world: World) -> ResourceClaimSpec | None:
    here = workload.metadata.namespace
    found = (
        world.claims.get((here, claim.resource_claim_name))
        if claim.resource_claim_name
        else world.templates.get((here, claim.resource_claim_template_name or ""))
    )
    return found.spec if found else None


def _counted_too(workload: Workload, base: str) -> Iterator[Finding]:
    if not workload.claims.resource_claims:
        return
    counted = {**workload.requests, **workload.limits}
    for container, resources in counted.items():
        number = (resources.requests or {}).get(GPU_RESOURCE)
        if number is not None and Quantity.parse(number).sign > 0:
            yield codes.COUNTED_BESIDE_CLAIM.at(
                f"{base}.containers",
                f"The container {container!r} asks for {number} {GPU_RESOURCE} beside the pod's claim, so "
                "the pod takes those GPUs and the claimed ones.",
                "Ask for GPUs by the claim or by the resource, not by both.",
            )
