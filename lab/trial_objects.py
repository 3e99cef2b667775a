"""The objects that trials make by themselves: consumers of claims, and what shows that all is settled."""

from collections.abc import Iterable, Mapping
from typing import Any

from lab.api import Json, part_of

_API = "resource.k8s.io/v1"
_DRIVER = "settled.gpulab.dev"
_NAME = "gpulab-settled"

_BINDING = ("bindingConditions", "bindingFailureConditions", "bindsToNode")

_SIZE = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "250"}
"""What a node has that does not say; the same as the lab's own nodes."""


def ready(node: Mapping[str, Any]) -> Json:
    """Return a node's status. Ready from the start, it is none of KWOK's business, which has its own size."""
    size = {**_SIZE, **part_of(part_of(node, "status"), "allocatable")}
    condition = {"type": "Ready", "status": "True", "reason": "Trial", "message": "made for a trial"}
    return {"capacity": size, "allocatable": size, "conditions": [condition]}


def without_binding_conditions(slice_: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a slice whose devices are bound at once: nobody here sets the conditions that they wait for.

    The scheduler allocates such devices like others, and then waits for their driver (KEP-5007).
    """
    spec = part_of(slice_, "spec")
    kept = [
        {key: value for key, value in device.items() if key not in _BINDING}
        for device in spec.get("devices") or ()
    ]
    return {**slice_, "spec": {**spec, "devices": kept}}


def held(claim: Mapping[str, Any]) -> Json:
    """Return the status of a claim that holds devices already, for nobody."""
    # The scheduler adds a time where there is none, which the API server takes for another allocation.
    since = {"allocationTimestamp": "2026-01-01T00:00:00Z"}
    return {"allocation": {**since, **part_of(part_of(claim, "status"), "allocation")}}


def settling(turn: int) -> list[Json]:
    """Return the objects that are changed last, as they are in this turn."""
    marked = {"driver": _DRIVER, "device": f"first-{turn}"}
    guard = f"device.driver == '{_DRIVER}' && device.attributes['{_DRIVER}'].turn == {turn}"
    attributes = {"turn": {"int": turn}}
    devices = [
        {"name": f"{name}-{turn}", "attributes": attributes | {"seen": {"bool": name == "seen"}}}
        for name in ("first", "seen")
    ]
    pool = {"name": _NAME, "generation": turn, "resourceSliceCount": 1}
    kinds: list[tuple[str, str, Json]] = [
        ("v1", "Node", {"taints": [{"key": _NAME, "effect": "NoSchedule"}]}),
        (
            _API,
            "DeviceTaintRule",
            {"deviceSelector": marked, "taint": {"key": _DRIVER, "effect": "NoSchedule"}},
        ),
        (_API, "DeviceClass", {"selectors": [{"cel": {"expression": guard}}]}),
        (
            _API,
            "ResourceSlice",
            {"driver": _DRIVER, "nodeName": _NAME, "pool": pool, "devices": devices},
        ),
    ]
    return [
        {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": _NAME, "labels": {"gpulab.dev/turn": str(turn)}},
            "spec": spec,
        }
        for version, kind, spec in kinds
    ]


def settling_claim(turn: int, attempt: int, tolerated: Iterable[str] = ()) -> Json:
    """Return the claim whose devices tell what the scheduler has seen: the `seen` one, or still the first.

    `tolerated`: the keys of taints that rules of others may set on all devices, these among them.
    """
    choices = [
        {
            "name": name,
            "deviceClassName": _NAME,
            "tolerations": [{"key": key, "operator": "Exists"} for key in tolerated],
            "selectors": [{"cel": {"expression": f"device.attributes['{_DRIVER}'].seen == {seen}"}}],
        }
        for name, seen in (("first", "false"), ("seen", "true"))
    ]
    return {
        "apiVersion": _API,
        "kind": "ResourceClaim",
        "metadata": {"name": f"{_NAME}-{turn}-{attempt}", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "firstAvailable": choices}]}},
    }


def settling_pod(turn: int, attempt: int) -> Json:
    """Return the pod that uses the claim."""
    name = f"{_NAME}-{turn}-{attempt}"
    return consumer(
        name,
        "default",
        {"resourceClaimName": name},
        {"nodeSelector": {"gpulab.dev/turn": str(turn)}, "tolerations": [{"operator": "Exists"}]},
    )


def consumer(name: str, namespace: str, source: Mapping[str, str], more: Json | None = None) -> Json:
    """Return a pod that uses one claim, called `c` in it, and that any namespace admits."""
    container = {
        "name": "c",
        "image": "none",
        "resources": {"claims": [{"name": "c"}]},
        # What the strictest Pod Security Standard asks for.
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [container], "resourceClaims": [{"name": "c", **source}], **(more or {})},
    }
