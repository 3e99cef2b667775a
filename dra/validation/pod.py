"""The rules for what pods, and the templates of pods, say about claims and about resources.

Of a pod's other rules the API server has its own word; they are not about DRA.
Source: `pkg/apis/core/validation`, Kubernetes 1.37.2.
"""

from collections.abc import Iterator, Mapping, Sequence

from dra import codes
from dra.quantity import Quantity
from dra.validation import names, wire
from dra.validation.claim import is_extended_resource
from dra.validation.problem import (
    Problem,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    not_found,
    required,
)

_CONTAINER_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_REFERENCE = "`resourceClaimName` or `resourceClaimTemplateName`"
_REFERENCE_REMEDY = (
    "Write one of the two: resourceClaimName for a claim that pods share, resourceClaimTemplateName for a "
    "claim made for each pod."
)


def pod_spec(spec: wire.PodSpec, path: str, *, template: bool = True) -> Iterator[Problem]:
    """Yield what is wrong with a pod's claims and with what its containers ask for.

    In a pod, and not in a template of pods, requests that are left out are those of the limits.
    """
    claims = spec.resource_claims or ()
    known: set[str] = set()
    for index, claim in enumerate(claims):
        yield from _pod_claim(claim, f"{path}.resourceClaims[{index}]", known)
    listed = frozenset(claim.name for claim in claims if claim.name)
    for field, containers in (
        ("containers", spec.containers or ()),
        ("initContainers", spec.init_containers or ()),
    ):
        for index, container in enumerate(containers):
            at = f"{path}.{field}[{index}].resources"
            yield from _amounts(container.resources, at, template=template)
            yield from _container_claims(container.resources.claims or (), f"{at}.claims", listed)
    if spec.resources and spec.resources.claims is not None:
        detail = "claims may not be set for Resources at pod-level"
        remedy = "Write the claims into the resources of the containers that use them."
        yield forbidden(f"{path}.resources.claims", detail, remedy)


def _pod_claim(claim: wire.PodResourceClaim, path: str, known: set[str]) -> Iterator[Problem]:
    if not claim.name:
        yield required(f"{path}.name", "Give the claim a name by which the containers refer to it.")
    elif claim.name in known:
        yield duplicate(f"{path}.name", claim.name, "Give the claim another name.")
    else:
        yield from names.label(f"{path}.name", claim.name)
        known.add(claim.name)
    claim_name, template_name = claim.resource_claim_name, claim.resource_claim_template_name
    if (claim_name is None) == (template_name is None):
        one_of = (
            "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            if claim_name is None
            else f"at most one of {_REFERENCE} may be specified"
        )
        shown = {
            "Name": claim.name, "ResourceClaimName": claim_name, "ResourceClaimTemplateName": template_name
        }  # fmt: skip
        yield invalid(path, shown, one_of, _REFERENCE_REMEDY, codes.ONE_OF)
    if claim_name is not None:
        yield from names.subdomain(f"{path}.resourceClaimName", claim_name)
    if template_name is not None:
        yield from names.subdomain(f"{path}.resourceClaimTemplateName", template_name)


def _container_claims(
    claims: Sequence[wire.ContainerClaim], path: str, listed: frozenset[str]
) -> Iterator[Problem]:
    used: set[str] = set()
    for index, claim in enumerate(claims):
        at = f"{path}[{index}]"
        if not claim.name:
            yield required(at, "Write the name of one of the pod's claims.")
            continue
        yield from _repeated_use(claim, at, used)
        if claim.name not in listed:
            detail = "must be one of the names in pod.spec.resourceClaims"
            detail += f": {', '.join(sorted(listed))}" if listed else " which is empty"
            remedy = (
                "List the claim in the pod's resourceClaims. The name here is the one given there, "
                "not that of the ResourceClaim or its template."
            )
            yield not_found(at, claim.name, detail, remedy)


def _repeated_use(claim: wire.ContainerClaim, path: str, used: set[str]) -> Iterator[Problem]:
    """Yield what of a claim a container has used before. `used` holds `claim` and `claim/request`."""
    if claim.name in used:
        yield duplicate(path, claim.name, "Take it out: the container has the whole claim already.")
        return
    use = claim.name
    if claim.request:
        at, remedy = f"{path}.request", "Write the name of a request of the claim, without a subrequest."
        yield from invalid_each(at, claim.request, names.label_faults(claim.request), remedy)
        use = f"{claim.name}/{claim.request}"
    overlaps = not claim.request and any(other.startswith(f"{claim.name}/") for other in used)
    if use in used or overlaps:
        yield duplicate(path, use, "Name each request once, or the whole claim without a request.")
    used.add(use)


def _amounts(resources: wire.ResourceRequirements, path: str, *, template: bool) -> Iterator[Problem]:
    limits = resources.limits or {}
    requests = {**({} if template else limits), **(resources.requests or {})}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            at = f"{path}.{field}[{name}]"
            yield from _resource_name(name, at)
            yield from _amount(name, Quantity.parse(text), at)
            if field == "requests":
                yield from _request_and_limit(name, Quantity.parse(text), limits, path)


def _amount(name: str, amount: Quantity, path: str) -> Iterator[Problem]:
    if amount.sign < 0:
        detail = "must be greater than or equal to 0"
        yield invalid(path, str(amount), detail, "Write an amount of 0 or more.")
    if is_extended_resource(name) and amount.key[1] < 0:
        yield invalid(path, str(amount), "must be an integer", f"Ask for whole numbers of {name}.")


def _request_and_limit(
    name: str, amount: Quantity, limits: Mapping[str, str], path: str
) -> Iterator[Problem]:
    overcommits = _is_native(name) and not name.startswith("hugepages-")
    at = f"{path}.requests"
    if name not in limits:
        if not overcommits:
            detail = "Limit must be set for non overcommitable resources"
            yield required(
                f"{path}.limits", f"Write the amount of {name} under limits; requests can go.", detail
            )
        return
    limit = Quantity.parse(limits[name])
    if amount != limit and not overcommits:
        detail = f"must be equal to {name} limit of {limit}"
        yield invalid(at, str(amount), detail, f"Write {name} under limits only, the request follows it.")
    elif amount > limit:
        detail = f"must be less than or equal to {name} limit of {limit}"
        yield invalid(at, str(amount), detail, f"Raise the limit of {name}, or lower its request.")


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _resource_name(name: str, path: str) -> Iterator[Problem]:
    remedy = "Write cpu, memory, ephemeral-storage, hugepages-<size>, or a name such as nvidia.com/gpu."
    faults = names.key_faults(name)
    yield from invalid_each(path, name, faults, remedy)
    if "/" not in name:
        if not (name in _CONTAINER_RESOURCES or name.startswith("hugepages-")):
            if not faults:
                detail = "must be a standard resource type or fully qualified"
                yield invalid(path, name, detail, remedy, codes.NAME)
            yield invalid(path, name, "must be a standard resource for containers", remedy, codes.NAME)
    elif not _is_native(name) and not is_extended_resource(name):
        yield invalid(path, name, "doesn't follow extended resource name standard", remedy, codes.NAME)
