"""The rules for the spec of ResourceClaims and ResourceClaimTemplates, and for DeviceClasses.

Source: `pkg/apis/resource/validation` and the tags of `k8s.io/api/resource/v1/types.go`, Kubernetes 1.37.2.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol

from dra import codes
from dra.claim import (
    DeviceClaim,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaimSpec,
)
from dra.gates import Gate, Target, is_on
from dra.validation import names
from dra.validation.problem import (
    Problem,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    not_supported,
    required,
    too_many_items,
)
from dra.validation.selectors import configuration, selectors
from dra.validation.taints import toleration

MAX_REQUESTS = 32
MAX_CONSTRAINTS = 32
MAX_CONFIGURATIONS = 32
MAX_ALTERNATIVES = 8

_MAX_NAMED = 10
"""Requests that a remedy names."""

ADMIN_LABEL = "resource.kubernetes.io/admin-access"
"""The label, with the value true, of namespaces in which claims may ask for admin access (KEP-5018)."""

_ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_CONSTRAINT = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
)
_NO_SUCH_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def claim_spec(spec: ResourceClaimSpec, path: str, target: Target) -> Iterator[Problem]:
    """Yield what is wrong with the spec of a claim."""
    devices, at = spec.devices, f"{path}.devices"
    yield from _requests(devices, f"{at}.requests", target)
    known = _request_names(devices)
    constraints = devices.constraints or ()
    yield from too_many_items(f"{at}.constraints", len(constraints), MAX_CONSTRAINTS, "constraints")
    if len(constraints) <= MAX_CONSTRAINTS:
        for index, constraint in enumerate(constraints):
            yield from _constraint(constraint, f"{at}.constraints[{index}]", known, target)
    config = devices.config or ()
    yield from too_many_items(f"{at}.config", len(config), MAX_CONFIGURATIONS, "configurations")
    if len(config) <= MAX_CONFIGURATIONS:
        for index, entry in enumerate(config):
            yield from _references(entry.requests, f"{at}.config[{index}].requests", known)
            yield from configuration(entry.opaque, f"{at}.config[{index}]", target)


def admin_access(spec: ResourceClaimSpec, namespace_labels: Mapping[str, str] | None) -> Iterator[Problem]:
    """Yield the refusal of admin access, if the namespace's labels are known and do not allow it.

    The path is the API server's own, which leaves out `exactly`, and for templates a `spec` too.
    """
    if namespace_labels is None or namespace_labels.get(ADMIN_LABEL) == "true":
        return
    for index, request in enumerate(spec.devices.requests or ()):
        if request.exactly and request.exactly.admin_access:
            label = f"`{ADMIN_LABEL}: true` label"
            detail = f"admin access to devices requires the {label} on the containing namespace"
            remedy = (
                f'Label the namespace with {ADMIN_LABEL}: "true", if it is one for administrators, '
                "or take adminAccess out."
            )
            path = f"spec.devices.requests[{index}].adminAccess"
            yield forbidden(path, detail, remedy, codes.ADMIN_NAMESPACE)
            return


def class_spec(spec: DeviceClassSpec, path: str, target: Target) -> Iterator[Problem]:
    """Yield what is wrong with the spec of a class."""
    yield from selectors(spec.selectors, f"{path}.selectors", target)
    config = spec.config or ()
    yield from too_many_items(f"{path}.config", len(config), MAX_CONFIGURATIONS, "configurations")
    if len(config) <= MAX_CONFIGURATIONS:
        for index, entry in enumerate(config):
            yield from configuration(entry.opaque, f"{path}.config[{index}]", target)
    if spec.extended_resource_name is not None:
        yield from _extended_resource(spec.extended_resource_name, f"{path}.extendedResourceName", target)


def is_extended_resource(name: str) -> bool:
    """Tell whether a name is one of an extended resource, such as nvidia.com/gpu."""
    return (
        "/" in name
        and "kubernetes.io/" not in name
        and not name.startswith("requests.")
        and not names.key_faults(f"requests.{name}")
    )


def _extended_resource(name: str, path: str, target: Target) -> Iterator[Problem]:
    remedy = "Write a domain of yours, a slash and a name, such as nvidia.com/gpu."
    if target < Target.V1_37:
        if not is_extended_resource(name):
            yield invalid(path, name, "must be a valid extended resource name", remedy, codes.NAME)
        return
    if "/" not in name:
        detail = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"
        yield invalid(path, name, detail, remedy, codes.NAME)
    elif "kubernetes.io/" in name:
        yield invalid(path, name, 'must not have "kubernetes.io/" domain', remedy, codes.NAME)
    if name.startswith("requests."):
        yield invalid(path, name, 'must not have "requests." prefix', remedy, codes.NAME)
    yield from invalid_each(path, name, names.key_faults(f"requests.{name}"), remedy)


def _requests(devices: DeviceClaim, path: str, target: Target) -> Iterator[Problem]:
    requests = devices.requests or ()
    yield from too_many_items(path, len(requests), MAX_REQUESTS, "requests")
    if len(requests) > MAX_REQUESTS:
        return
    for index, request in enumerate(requests):
        yield from _request(request, f"{path}[{index}]", target)
    yield from unique_names(requests, path, target)


class Named(Protocol):
    """What has a name of its own among its like."""

    @property
    def name(self) -> str:
        """The name."""
        ...


def unique_names(items: Sequence[Named], path: str, target: Target) -> Iterator[Problem]:
    """Yield each item that has the name of one before it. From 1.37 on the whole item is shown."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        if item.name in seen:
            value = item.name if target < Target.V1_37 else item
            yield duplicate(f"{path}[{index}]", value, "Give it another name.")
        seen.add(item.name)


def _request(request: DeviceRequest, path: str, target: Target) -> Iterator[Problem]:
    yield from names.label(f"{path}.name", request.name)
    alternatives = request.first_available or ()
    if request.exactly and alternatives:
        remedy = "Keep one of the two: `exactly` for one kind of device, `firstAvailable` for alternatives."
        detail = f"{_ONE_KIND}, but multiple fields are set"
        yield invalid(path, None, detail, remedy, codes.ONE_OF)
    elif request.exactly:
        yield from _exact(request.exactly, f"{path}.exactly", target)
    elif alternatives:
        yield from _alternatives(alternatives, f"{path}.firstAvailable", target)
    else:
        remedy = "Write exactly: {deviceClassName: <class>}, or firstAvailable: with a list of alternatives."
        yield required(path, remedy, _ONE_KIND, codes.ONE_OF)


def _alternatives(given: Sequence[DeviceSubRequest], path: str, target: Target) -> Iterator[Problem]:
    yield from too_many_items(path, len(given), MAX_ALTERNATIVES, "alternatives")
    if len(given) > MAX_ALTERNATIVES:
        return
    for index, alternative in enumerate(given):
        yield from names.label(f"{path}[{index}].name", alternative.name)
        yield from _exact(alternative, f"{path}[{index}]", target)
    yield from unique_names(given, path, target)


def _exact(request: ExactDeviceRequest | DeviceSubRequest, path: str, target: Target) -> Iterator[Problem]:
    if request.device_class_name:
        alternative = isinstance(request, DeviceSubRequest)
        unit = names.length_unit(target) if alternative else "characters"
        yield from names.subdomain(f"{path}.deviceClassName", request.device_class_name, unit)
    else:
        yield required(f"{path}.deviceClassName", "Name the DeviceClass, such as gpu.nvidia.com.")
    yield from selectors(request.selectors, f"{path}.selectors", target)
    yield from _amount(request, path)
    yield from _tolerations(request.tolerations or (), f"{path}.tolerations")


def _amount(request: ExactDeviceRequest | DeviceSubRequest, path: str) -> Iterator[Problem]:
    count = request.count or 0
    if request.allocation_mode == "All":
        if count:
            detail = "must not be specified when allocationMode is 'All'"
            remedy = "Take the count out, or write allocationMode: ExactCount."
            yield invalid(f"{path}.count", count, detail, remedy)
    elif request.allocation_mode == "ExactCount":
        if count <= 0:
            remedy = "Write how many devices you need, 1 or more; without a count it is 1."
            yield invalid(f"{path}.count", count, "must be greater than zero", remedy)
    else:
        yield not_supported(f"{path}.allocationMode", request.allocation_mode or "", ("All", "ExactCount"))


def _tolerations(given: Sequence[DeviceToleration], path: str) -> Iterator[Problem]:
    for index, value in enumerate(given):
        yield from toleration(value, f"{path}[{index}]")


_RequestNames = Mapping[str, frozenset[str]]


def _request_names(devices: DeviceClaim) -> _RequestNames:
    return {
        request.name: frozenset(alternative.name for alternative in request.first_available or ())
        for request in devices.requests or ()
    }


def _constraint(
    constraint: DeviceConstraint, path: str, known: _RequestNames, target: Target
) -> Iterator[Problem]:
    yield from _references(constraint.requests, f"{path}.requests", known)
    match, distinct = constraint.match_attribute, constraint.distinct_attribute
    if match is not None:
        yield from names.fully_qualified(f"{path}.matchAttribute", match, target)
    # The declarative rules of 1.37 look at both.
    if distinct is not None and (match is None or target >= Target.V1_37):
        yield from names.fully_qualified(f"{path}.distinctAttribute", distinct, target)
    if match is None and distinct is None:
        remedy = "Write matchAttribute: with the attribute that the devices must share, domain and all."
        if is_on(Gate.DRA_CONSUMABLE_CAPACITY, target):
            yield required(path, remedy, _ONE_CONSTRAINT, codes.ONE_OF)
        else:
            yield required(f"{path}.matchAttribute", remedy)


def _references(given: Sequence[str] | None, path: str, known: _RequestNames) -> Iterator[Problem]:
    """Yield what is wrong with a list of requests' names, `request` or `request/subrequest`."""
    given = given or ()
    yield from too_many_items(path, len(given), MAX_REQUESTS, "names")
    if len(given) > MAX_REQUESTS:
        return
    for index, name in enumerate(given):
        yield from _reference(name, f"{path}[{index}]", known)
        if name in given[:index]:
            yield duplicate(f"{path}[{index}]", name, "Take the second one out.")


def _reference(name: str, path: str, known: _RequestNames) -> Iterator[Problem]:
    request, slash, alternative = name.partition("/")
    if "/" not in alternative:
        for segment in name.split("/"):
            yield from names.label(path, segment)
        if request in known and (not slash or alternative in known[request]):
            return
    yield invalid(path, name, _NO_SUCH_REQUEST, _reference_remedy(known), codes.REFERENCE)


def _reference_remedy(known: _RequestNames) -> str:
    if not known:
        return "Add the request to the claim."
    names_known = (
        spelling
        for parent, children in known.items()
        for spelling in (parent, *(f"{parent}/{child}" for child in sorted(children)))
    )
    return f"Name one of the claim's requests: {', '.join(islice(names_known, _MAX_NAMED))}."
