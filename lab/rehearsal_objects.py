"""What a document becomes, so that it can be tried: an object of its own that needs nobody else."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, cast

from dra.pod import POD_AT
from lab.api import Json, name_of, namespace_of, part_of

TEMPLATES: Mapping[str, Sequence[str]] = {**POD_AT, "PodTemplate": ("template",)}
"""Where the kinds that make pods have the pod."""

_OF_OTHERS = (
    "serviceAccountName",
    "serviceAccount",
    "priorityClassName",
    "priority",
    "runtimeClassName",
    "overhead",
    "schedulerName",
    "schedulingGates",
)
"""What a pod asks of objects and programs that a rehearsal does not have. Its claims do not need them."""

_OF_ONE_THAT_IS = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
)
"""What the API server has added to an object that somebody wrote down with `kubectl get`."""

_BY_OTHERS = ("finalizers", "ownerReferences")
"""By these an object stays, or goes, when others say so, who are not there."""


def new(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document as it is for an object that is not there yet, with a name if it has to have one."""
    if not (metadata := part_of(document, "metadata")):
        return document
    if document["kind"] == "Node" and (spec := part_of(document, "spec")):
        # As of an inventory's nodes, and as in the checker, they do not count.
        document = {**document, "spec": {key: value for key, value in spec.items() if key != "taints"}}
    kept = {key: value for key, value in metadata.items() if key not in _OF_ONE_THAT_IS}
    if not metadata.get("name") and metadata.get("generateName"):
        kept["name"] = f"{metadata['generateName']}xxxxx"
    return {**document, "metadata": kept}


def mortal(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document whose object stays until it is deleted, and is gone then."""
    if not (metadata := part_of(document, "metadata")):
        return document
    return {**document, "metadata": {key: value for key, value in metadata.items() if key not in _BY_OTHERS}}


def implied_nodes(documents: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Return the nodes that only their slices name. They have the label that every node has."""
    known = {name_of(each) for each in documents if each["kind"] == "Node"}
    named = [part_of(each, "spec").get("nodeName") for each in documents if each["kind"] == "ResourceSlice"]
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        }
        for name in dict.fromkeys(named)
        if name and name not in known
    ]


def is_made_in_turn(document: Mapping[str, Any]) -> bool:
    """Tell whether an object is made for its pod only: a claim that holds no devices already."""
    return document["kind"] == "ResourceClaim" and not part_of(document, "status").get("allocation")


def keep_claims(spec: Json, kept: Mapping[str, int]) -> None:
    """Take all other claims out of a pod."""
    if "resourceClaims" in spec:
        spec["resourceClaims"] = [each for each in spec["resourceClaims"] or () if each["name"] in kept]
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        resources: Json = container.get("resources") or {}
        if resources.get("claims"):
            resources["claims"] = [each for each in resources["claims"] if each["name"] in kept]


def without_others(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a pod's document without what asks for other objects; any other kind as it is."""
    spec = document.get("spec")
    if document["kind"] != "Pod" or not isinstance(spec, Mapping):
        return document
    kept = cast("Mapping[str, Any]", spec)
    return {**document, "spec": {key: value for key, value in kept.items() if key not in _OF_OTHERS}}


def lone_pod(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod of an accepted document, or one from its template, that needs nothing but its claims."""
    template = document
    for key in TEMPLATES[document["kind"]]:
        template = template[key]
    metadata: Json = template.get("metadata") or {}
    if template is not document:
        kept = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
        metadata = {**kept, "name": name_of(document), "namespace": namespace_of(document)}
    whole: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    pod = copy.deepcopy(dict(mortal(without_others(whole))))
    for volume in pod["spec"].get("volumes") or ():
        if {"persistentVolumeClaim", "ephemeral"} & volume.keys():
            name = volume["name"]
            volume.clear()
            volume |= {"name": name, "emptyDir": {}}
    return pod


def for_the_scheduler(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a pod that names its node as one that can run on no other, so that the scheduler tells."""
    if not (node := pod["spec"].get("nodeName")):
        return pod
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    there = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": there}}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {**pod, "spec": {**spec, "affinity": affinity}}
