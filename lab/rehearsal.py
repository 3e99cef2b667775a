"""Documents put to a real API server and scheduler: what becomes of each.

The question is the checker's (`dra.checker`): every pod is judged alone on the inventory, be it one of the
documents, made from a workload's template, or assumed for a claim that no pod uses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from dra.finding import Verdict
from lab.api import CLUSTER_WIDE, RefusedError, item, name_of, namespace_of
from lab.rehearsal_objects import (
    TEMPLATES,
    for_the_scheduler,
    implied_nodes,
    is_made_in_turn,
    keep_claims,
    lone_pod,
    mortal,
    new,
    without_others,
)
from lab.trial import Trials, Tried
from lab.trial_objects import consumer

if TYPE_CHECKING:
    from lab.api import Json

Documents = Sequence[Mapping[str, Any]]

_REFERENCES = {
    "ResourceClaim": "resourceClaimName",
    "ResourceClaimTemplate": "resourceClaimTemplateName",
}
"""How a pod names each."""

CLAIMS = tuple(_REFERENCES)

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
        self._documents = [new(document) for document in documents]
        self._outcomes: dict[int, Outcome] = {}
        self._held: dict[int, Json] = {}
        """What a claim's first pod got for it, which the others have to share."""

    def outcomes(self) -> list[Outcome]:
        self._apply()
        if self._inventory is not None or self._accepted(["ResourceSlice"]):
            self._try_all()
        return [self._outcomes.get(index, Outcome(Verdict.ACCEPTED)) for index in range(len(self._documents))]

    def _try_all(self) -> None:
        users = [self._user(index) for index, _ in self._accepted([*TEMPLATES])]
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
                for index, document in self._accepted([*CLAIMS, *TEMPLATES]):
                    if namespace_of(document) == namespace:
                        self._refuse(index, refused)
        placed = self._place()
        for index, document in enumerate(self._documents):
            if index not in self._outcomes and index not in placed and document["kind"] != "Namespace":
                self._create(index, without_others(document), dry=True)

    def _place(self) -> list[int]:
        """Make the cluster have the inventory and the documents that belong to it; return their indices."""
        for index, document in self._accepted([*CLUSTER_WIDE, *CLAIMS]):
            if mortal(document) != document:
                self._create(index, document, dry=True)
        placed = [
            index
            for index, document in self._accepted([*CLUSTER_WIDE, *CLAIMS])
            if document["kind"] != "Namespace" and not is_made_in_turn(document)
        ]
        own_claims = {item(document) for _, document in self._accepted(CLAIMS)}
        inventory = [each for each in self._inventory or () if item(each) not in own_claims]
        wanted = [*(mortal(self._documents[index]) for index in placed), *inventory]
        refusals = self._trials.place(wanted)
        for place, refused in refusals.items():
            if place >= len(placed):
                raise refused
            self._refuse(placed[place], refused)
        taken = [each for place, each in enumerate(wanted) if place not in refusals]
        if implied := implied_nodes(taken):
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
        pod, places, claims = lone_pod(document), self._places(), dict[str, int]()
        waits = ""
        for claim in pod["spec"].get("resourceClaims") or ():
            for kind, reference in _REFERENCES.items():
                place = places.get((kind, namespace_of(document), claim.get(reference)))
                if place is not None and place in self._outcomes:
                    waits = f"the pod waits for the {kind} {claim[reference]}, which is refused"
                elif place is not None:
                    claims[claim["name"]] = place
        keep_claims(pod["spec"], claims)
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
                answer = self._trials.try_pod(for_the_scheduler(user.pod), self._in_turn(user))
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
        return index in self._held or (document["kind"] == "ResourceClaim" and not is_made_in_turn(document))

    def _note(self, index: int, answer: Tried, devices: Sequence[str]) -> None:
        """Take down what a trial means for a document, which has the worst verdict of all its pods."""
        outcome = Outcome(answer.verdict, answer.message, devices=devices)
        before = self._outcomes.setdefault(index, outcome)
        if _WORST_FIRST.index(outcome.verdict) < _WORST_FIRST.index(before.verdict):
            self._outcomes[index] = outcome

    def _in_turn(self, user: _User) -> list[Mapping[str, Any]]:
        """Return the claims to make for a pod, each once."""
        claims = {index: dict(mortal(self._documents[index])) for index in user.claims.values()}
        in_turn = {index: claim for index, claim in claims.items() if is_made_in_turn(claim)}
        for index, claim in in_turn.items():
            claim.pop("status", None)
            if index in self._held:
                claim["status"] = {"allocation": self._held[index]}
        return [*in_turn.values()]
