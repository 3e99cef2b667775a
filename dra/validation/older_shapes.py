"""The shapes of older API versions, and the same in the shape of v1.

They are still what much of the documentation on the web shows. Sources: `k8s.io/api/resource/{v1alpha2,
v1alpha3,v1beta1,v1beta2}`, `k8s.io/api/core/v1` of Kubernetes 1.30.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import yaml

from dra.claim import DeviceRequest, ResourceClaimSpec
from dra.device import Device, DeviceAttribute, DeviceCapacity
from dra.model import Model
from dra.validation import wire
from dra.validation.json_size import fits

Raw = Mapping[str, Any]

_MAX_REWRITTEN = 10 * 1024
"""Bytes of JSON beyond which a remedy does not repeat what it is about."""

_FLAT_REQUEST = (
    "deviceClassName", "selectors", "allocationMode", "count",
    "adminAccess", "tolerations", "capacity", "derivedAttributes",
)  # fmt: skip
_BARE = ((bool, "bool"), (int, "int"), (str, "string"))
_TYPED = {"intvalue": "int", "boolvalue": "bool", "stringvalue": "string", "versionvalue": "version"}


def _fields(raw: object) -> Raw:
    """Return the fields of what should be a struct, none of what is not."""
    return cast("Raw", raw) if isinstance(raw, Mapping) else {}


def _request(raw: object) -> Raw | None:
    """v1beta1 and v1alpha3: what is asked for stands right in the request."""
    request = _fields(raw)
    if "exactly" in request or "firstAvailable" in request:
        return None
    flat = {key: request[key] for key in _FLAT_REQUEST if key in request}
    kept = {key: item for key, item in request.items() if key not in flat}
    return {**kept, "exactly": flat} if flat else None


def _device(raw: object) -> Raw | None:
    """v1beta1 and v1alpha3: a device's fields stand in `basic`."""
    device = _fields(raw)
    basic = device.get("basic")
    if not isinstance(basic, Mapping):
        return None
    kept = {key: item for key, item in device.items() if key != "basic"}
    return _with_values({**kept, **cast("Raw", basic)})


def _with_values(device: Raw) -> Raw:
    """Return a device with its attributes and capacities as v1 has them."""
    rewritten = dict(device)
    for field, rewrite in (("attributes", _attribute), ("capacity", _capacity)):
        values = device.get(field)
        if isinstance(values, Mapping):
            named = cast("Raw", values)
            rewritten[field] = {key: rewrite(item) or item for key, item in named.items()}
    return rewritten


def _attribute(raw: object) -> Raw | None:
    """v1alpha2 wrote `stringValue`; and a bare value is an easy slip."""
    if isinstance(raw, Mapping):
        attribute = cast("Raw", raw)
        rewritten = {_TYPED.get(str(key).lower(), key): item for key, item in attribute.items()}
        return rewritten if rewritten.keys() != attribute.keys() else None
    kind = next((name for kind, name in _BARE if isinstance(raw, kind)), None)
    return {kind: raw} if kind else None


def _capacity(raw: object) -> Raw | None:
    """v1alpha3 wrote a capacity's quantity without `value`."""
    return {"value": raw} if isinstance(raw, str | int | float) else None


def _claim_spec(raw: object) -> Raw | None:
    """v1alpha2, "classic DRA": the whole claim is for one class of a driver's own controller."""
    spec = _fields(raw)
    name = spec.get("resourceClassName", spec.get("deviceClassName"))
    if not isinstance(name, str) or "devices" in spec:
        return None
    asked = {"deviceClassName": name}
    if "tolerations" in spec:
        asked["tolerations"] = spec["tolerations"]
    return {"devices": {"requests": [{"name": "device", "exactly": asked}]}}


def _pod_claim(raw: object) -> Raw | None:
    """Up to 1.30 a pod's claim had its source in a struct of its own."""
    claim = _fields(raw)
    source = claim.get("source")
    if not isinstance(source, Mapping):
        return None
    return {**{key: item for key, item in claim.items() if key != "source"}, **cast("Raw", source)}


_REWRITES: Mapping[type[Model], Callable[[object], Raw | None]] = {
    DeviceRequest: _request,
    Device: _device,
    DeviceAttribute: _attribute,
    DeviceCapacity: _capacity,
    ResourceClaimSpec: _claim_spec,
    wire.PodResourceClaim: _pod_claim,
}


def rewrite(model: type[Model], raw: object) -> Raw | None:
    """Return what stands for a struct of v1 in the shape of v1, if it is an older shape that we know."""
    rewriter = _REWRITES.get(model)
    return rewriter(raw) if rewriter else None


def as_remedy(rewritten: Raw) -> str:
    """Return a sentence that shows the rewritten form."""
    if not fits(rewritten, _MAX_REWRITTEN):
        return "This shape is not, or no longer, the API's: write it as the reference of v1 has it."
    text = yaml.safe_dump(_plain(rewritten), sort_keys=False, width=100).rstrip()  # pyright: ignore[reportUnknownMemberType] - types-pyyaml leaves a part of the signature open
    return f"This shape is not, or no longer, the API's. Write it so:\n{text}"


def _plain(value: object) -> object:
    """Return a value in YAML's own types, whatever mapping it came as."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[object]", value)]
    return value


def rewrite_object(document: Raw) -> Raw:
    """Return a whole object of an older version of resource.k8s.io as v1 has it, as far as it can be."""
    rewritten = {**document, "apiVersion": "resource.k8s.io/v1"}
    spec = document.get("spec")
    if not isinstance(spec, Mapping):
        return rewritten
    rewriter = _OBJECTS.get(str(document.get("kind")))
    return {**rewritten, "spec": rewriter(cast("Raw", spec))} if rewriter else rewritten


def _whole_claim_spec(spec: Raw) -> Raw:
    spec = _claim_spec(spec) or spec
    devices = spec.get("devices")
    if not isinstance(devices, Mapping):
        return spec
    return {**spec, "devices": _each(cast("Raw", devices), "requests", lambda item: _request(item) or item)}


def _whole_template_spec(spec: Raw) -> Raw:
    inner = spec.get("spec")
    return {**spec, "spec": _whole_claim_spec(cast("Raw", inner))} if isinstance(inner, Mapping) else spec


def _whole_slice_spec(spec: Raw) -> Raw:
    def device(item: object) -> object:
        return _device(item) or (_with_values(cast("Raw", item)) if isinstance(item, Mapping) else item)

    return _each(spec, "devices", device)


def _whole_class_spec(spec: Raw) -> Raw:
    return {key: item for key, item in spec.items() if key != "suitableNodes"}


_OBJECTS: Mapping[str, Callable[[Raw], Raw]] = {
    "ResourceClaim": _whole_claim_spec,
    "ResourceClaimTemplate": _whole_template_spec,
    "ResourceSlice": _whole_slice_spec,
    "DeviceClass": _whole_class_spec,
}


def _each(parent: Raw, field: str, rewriter: Callable[[object], object]) -> Raw:
    items = parent.get(field)
    if not isinstance(items, list | tuple):
        return parent
    return {**parent, field: [rewriter(item) for item in cast("list[object]", items)]}
