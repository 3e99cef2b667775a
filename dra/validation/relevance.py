"""Whether a workload has to do with claims at all. Most do not, and then it is none of our business."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from dra.pod import POD_AT
from dra.validation.claim import is_extended_resource


def is_about_claims(document: Mapping[str, Any]) -> bool:
    """Tell whether a document uses claims or extended resources, or has a field that looks like it meant to.

    It is so for any object that is not a workload.
    """
    path = POD_AT.get(str(document.get("kind")))
    if path is None:
        return True
    spec: object = document
    for field in (*path, "spec"):
        spec = _mapping(spec).get(field)
    pod = _mapping(spec)
    return _names_claims(pod) or any(_asks_for_devices(container) for container in _containers(pod))


def _containers(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for field in ("containers", "initContainers"):
        items = pod.get(field)
        if isinstance(items, list | tuple):
            yield from (_mapping(item) for item in cast("list[object]", items))


def _asks_for_devices(container: Mapping[str, Any]) -> bool:
    resources = _mapping(container.get("resources"))
    amounts = [name for field in ("limits", "requests") for name in _mapping(resources.get(field))]
    return _names_claims(container) or _names_claims(resources) or any(map(is_extended_resource, amounts))


def _names_claims(fields: Mapping[str, Any]) -> bool:
    return any("claim" in name.lower() for name in fields)


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    return {str(key): item for key, item in cast("Mapping[object, Any]", value).items()}
