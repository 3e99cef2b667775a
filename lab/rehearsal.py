"""Documents put to a real API server and scheduler: what becomes of each.

The question is the checker's (`dra.checker`): every pod is judged alone on the inventory, be it one of the
documents, made from a workload's template, or assumed for a claim that no pod uses.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

from dra.finding import Verdict
from dra.pod import POD_AT
from lab.api import CLUSTER_WIDE, Json, RefusedError, item, name_of, namespace_of, part_of
from lab.trial import Trials, Tried
from lab.trial_objects import consumer

Documents = Sequence[Mapping[str, Any]]

_REFERENCES = {
    "ResourceClaim": "resourceClaimName",
    "ResourceClaimTemplate": "resourceClaimTemplateName",
}
"""How a pod names each."""

CLAIMS = tuple(_REFERENCES)

_TEMPLATES: Mapping[str, Sequence[str]] = {**POD_AT, "PodTemplate": ("template",)}
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

_PAST_THE_SCHEDULER = "the pod's nodeName goes past the scheduler, and nobody else allocates its claims"

_WORST_FIRST = (Verdict.ERROR, Verdict.PENDING, Verdict.ALLOCATED)


@dataclass(frozen=True)
class Outcome:
    """What became of a document; `field` is what the API server complains about."""

    verdict: Verdict
    message: str = ""
    field: str = ""
    devices: Sequence[str] = ()


@dataclass(frozen=True)
class _User:
    """A pod to try, its document (if it has one), and the documents of its claims by its names for them.

    `waits` says why it could not run, whatever the scheduler says of its other claims.
    """

    pod: Mapping[str, Any]
    claims: Mapping[str, int]
    document: int | None = None
    waits: str = ""


def rehearse(trials: Trials, documents: Documents, inventory: Documents | None = None) -> list[Outcome]:
    """Return the outcome of each document, in their order.

    `inventory`: what the cluster has beside the documents, each name once. If that is not known, and no
    document has devices, only the API server is asked.

    Raises:
        RefusedError: The API server does not take the inventory.

    """
    return _Rehearsal(trials, documents, inventory).outcomes()


class _Rehearsal:
    def __init__(self, trials: Trials, documents: Documents, inventory: Documents | None) -> None:
        self._trials, self._inventory = trials, inventory
        self._documents = [_new(document) for document in documents]
        self._outcomes: dict[int, Outcome] = {}
        self._held: dict[int, Json] = {}
        """What a claim's first pod got for it, which the others have to share."""

    def outcomes(self) -> list[Outcome]:
        self._apply()
        if self._inventory is not None or self._accepted(["ResourceSlice"]):
            self._try_all()
        return [self._outcomes.get(index, Outcome(Verdict.ACCEPTED)) for index in range(len(self._documents))]

    def _try_all(self) -> None:
        users = [self._user(index) for index, _ in self._accepted([*_TEMPLATES])]
        used = {claim for user in users for claim in user.claims.values()}
        unused = [each for each in self._accepted(CLAIMS) if each[0] not in used]
        for user in users:
            if user.claims:
                self._try(user)
            if user.waits and user.document is not None:
                self._note(user.document, Tried(Verdict.PENDING, user.waits), ())
        for index, document in unused:
            source = {_REFERENCES[document["kind"]]: name_of(document)}
            self._try(_User(consumer(f"gpulab-{index}", namespace_of(document), source), {"c": index}))

    def _accepted(self, kinds: Sequence[str]) -> list[tuple[int, Mapping[str, Any]]]:
        return [
            (index, document)
            for index, document in enumerate(self._documents)
            if document["kind"] in kinds and index not in self._outcomes
        ]

    def _apply(self) -> None:
        """See what the API server takes. Claims are made for real when it is their pods' turn."""
        for index, document in self._accepted(["Namespace"]):
            self._create(index, document)
        both = (*self._documents, *(self._inventory or ()))
        for namespace in {namespace_of(each) for each in both if each["kind"] not in CLUSTER_WIDE}:
            try:
                self._trials.add_namespace(namespace)
            except RefusedError as refused:
                for index, document in self._accepted([*CLAIMS, *_TEMPLATES]):
                    if namespace_of(document) == namespace:
                        self._refuse(index, refused)
        placed = self._place()
        for index, document in enumerate(self._documents):
            if index not in self._outcomes and index not in placed and document["kind"] != "Namespace":
                self._create(index, _without_others(document), dry=True)

    def _place(self) -> list[int]:
        """Make the cluster have the inventory and the documents that belong to it; return their indices."""
        for index, document in self._accepted([*CLUSTER_WIDE, *CLAIMS]):
            if _mortal(document) != document:
                self._create(index, document, dry=True)
        placed = [
            index
            for index, document in self._accepted([*CLUSTER_WIDE, *CLAIMS])
            if document["kind"] != "Namespace" and not _is_made_in_turn(document)
        ]
        own_claims = {item(document) for _, document in self._accepted(CLAIMS)}
        inventory = [each for each in self._inventory or () if item(each) not in own_claims]
        wanted = [*(_mortal(self._documents[index]) for index in placed), *inventory]
        refusals = self._trials.place(wanted)
        for place, refused in refusals.items():
            if place >= len(placed):
                raise refused
            self._refuse(placed[place], refused)
        taken = [each for place, each in enumerate(wanted) if place not in refusals]
        if implied := _implied_nodes(taken):
            self._trials.place([*taken, *implied])
        return placed

    def _create(self, index: int, document: Mapping[str, Any], *, dry: bool = False) -> None:
        api = self._trials.api
        try:
            api.create(document, dry=dry)
        except RefusedError as refused:
            if document["kind"] == "Namespace" and refused.code == HTTPStatus.CONFLICT:
                api.change(document, {"metadata": document["metadata"]})
            else:
                self._refuse(index, refused)

    def _refuse(self, index: int, refused: RefusedError) -> None:
        self._outcomes[index] = Outcome(Verdict.REJECTED, refused.message, refused.field)

    def _user(self, index: int) -> _User:
        """Return the pod of a workload, without the claims that are not there."""
        document = self._documents[index]
        pod, places, claims = _lone_pod(document), self._places(), dict[str, int]()
        waits = ""
        for claim in pod["spec"].get("resourceClaims") or ():
            for kind, reference in _REFERENCES.items():
                place = places.get((kind, namespace_of(document), claim.get(reference)))
                if place is not None and place in self._outcomes:
                    waits = f"the pod waits for the {kind} {claim[reference]}, which is refused"
                elif place is not None:
                    claims[claim["name"]] = place
        _keep_claims(pod["spec"], claims)
        return _User(pod, claims, index, waits)

    def _places(self) -> dict[tuple[str, str, str], int]:
        """Return where each claim and template stands in the documents."""
        return {
            (each["kind"], namespace_of(each), name_of(each)): index
            for index, each in enumerate(self._documents)
            if each["kind"] in CLAIMS
        }

    def _try(self, user: _User) -> None:
        if user.pod["spec"].get("nodeName") and not all(map(self._holds, user.claims.values())):
            answer = Tried(Verdict.PENDING, _PAST_THE_SCHEDULER)
        else:
            try:
                answer = self._trials.try_pod(_for_the_scheduler(user.pod), self._in_turn(user))
            except RefusedError as refused:
                for index in user.claims.values() if user.document is None else [user.document]:
                    self._refuse(index, refused)
                return
        if user.document is not None:
            self._note(user.document, answer, [each for name in user.claims for each in answer.devices(name)])
        for own_name, index in user.claims.items():
            self._note(index, answer, answer.devices(own_name))
            if own_name in answer.allocations and self._documents[index]["kind"] == "ResourceClaim":
                self._held[index] = answer.allocations[own_name]

    def _holds(self, index: int) -> bool:
        document = self._documents[index]
        return index in self._held or (document["kind"] == "ResourceClaim" and not _is_made_in_turn(document))

    def _note(self, index: int, answer: Tried, devices: Sequence[str]) -> None:
        """Take down what a trial means for a document, which has the worst verdict of all its pods."""
        outcome = Outcome(answer.verdict, answer.message, devices=devices)
        before = self._outcomes.setdefault(index, outcome)
        if _WORST_FIRST.index(outcome.verdict) < _WORST_FIRST.index(before.verdict):
            self._outcomes[index] = outcome

    def _in_turn(self, user: _User) -> list[Mapping[str, Any]]:
        """Return the claims to make for a pod, each once."""
        claims = {index: dict(_mortal(self._documents[index])) for index in user.claims.values()}
        in_turn = {index: claim for index, claim in claims.items() if _is_made_in_turn(claim)}
        for index, claim in in_turn.items():
            claim.pop("status", None)
            if index in self._held:
                claim["status"] = {"allocation": self._held[index]}
        return [*in_turn.values()]


def _new(document: Mapping[str, Any]) -> Mapping[str, Any]:
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


def _mortal(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document whose object stays until it is deleted, and is gone then."""
    if not (metadata := part_of(document, "metadata")):
        return document
    return {**document, "metadata": {key: value for key, value in metadata.items() if key not in _BY_OTHERS}}


def _implied_nodes(documents: Documents) -> list[Json]:
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


def _is_made_in_turn(document: Mapping[str, Any]) -> bool:
    """Tell whether an object is made for its pod only: a claim that holds no devices already."""
    return document["kind"] == "ResourceClaim" and not part_of(document, "status").get("allocation")


def _keep_claims(spec: Json, kept: Mapping[str, int]) -> None:
    """Take all other claims out of a pod."""
    if "resourceClaims" in spec:
        spec["resourceClaims"] = [each for each in spec["resourceClaims"] or () if each["name"] in kept]
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        resources: Json = container.get("resources") or {}
        if resources.get("claims"):
            resources["claims"] = [each for each in resources["claims"] if each["name"] in kept]


def _without_others(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a pod's document without what asks for other objects; any other kind as it is."""
    spec = document.get("spec")
    if document["kind"] != "Pod" or not isinstance(spec, Mapping):
        return document
    kept = cast("Mapping[str, Any]", spec)
    return {**document, "spec": {key: value for key, value in kept.items() if key not in _OF_OTHERS}}


def _lone_pod(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod of an accepted document, or one from its template, that needs nothing but its claims."""
    template = document
    for key in _TEMPLATES[document["kind"]]:
        template = template[key]
    metadata: Json = template.get("metadata") or {}
    if template is not document:
        kept = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
        metadata = {**kept, "name": name_of(document), "namespace": namespace_of(document)}
    whole: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    pod = copy.deepcopy(dict(_mortal(_without_others(whole))))
    for volume in pod["spec"].get("volumes") or ():
        if {"persistentVolumeClaim", "ephemeral"} & volume.keys():
            name = volume["name"]
            volume.clear()
            volume |= {"name": name, "emptyDir": {}}
    return pod


def _for_the_scheduler(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a pod that names its node as one that can run on no other, so that the scheduler tells."""
    if not (node := pod["spec"].get("nodeName")):
        return pod
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    there = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": there}}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {**pod, "spec": {**spec, "affinity": affinity}}
