"""Ask a real scheduler about one pod at a time: on an inventory with nothing else on it.

The scheduler hears of each kind of object by a stream of its own. So an answer means something only once it
has heard of all of the inventory (`Trials.place`), and of the end of the pod and the claims before it
(`Trials.try_pod`).
"""

import contextlib
import itertools
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from control_plane.tools import ControlPlaneError
from dra.finding import Verdict
from lab.api import SILENCE_SECONDS, Api, Json, Mirror, RefusedError, item, name_of, part_of
from lab.scratch import scratch_control_plane
from lab.trial_objects import held, ready, settling, settling_claim, settling_pod, without_binding_conditions

_CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"


@dataclass(frozen=True)
class Tried:
    """The scheduler's answer about a pod; `allocations` are by the pod's own names for its claims."""

    verdict: Verdict
    message: str = ""
    allocations: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def devices(self, claim: str) -> list[str]:
        """Return the devices that one of the pod's claims got, as `pool/device (request)`."""
        results: list[Json] = self.allocations.get(claim, {}).get("devices", {}).get("results", [])
        return [f"{each['pool']}/{each['device']} ({each['request']})" for each in results]


@contextlib.contextmanager
def trials_beside(repo: Path) -> Generator["Trials"]:
    """Hand on the trials of a control plane that comes up for them, beside all others, and goes with them.

    Raises:
        ControlPlaneError: It did not come up.

    """
    with (
        scratch_control_plane(repo) as kubeconfig,
        contextlib.closing(Api(kubeconfig)) as api,
        contextlib.closing(Trials(api)) as trials,
    ):
        yield trials


class Trials:
    """Trials on one control plane, which must have no other user."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._pods = Mirror(api, "/api/v1/pods")
        self._claims = Mirror(api, _CLAIMS)
        self._placed: dict[str, Mapping[str, Any]] = {}
        self._turns = itertools.count(1)
        self._used = set[str]()
        """The claims that there have been."""
        self.add_namespace("default")
        self._settled = False
        for document in settling(0)[1:]:
            api.create(document)

    def add_namespace(self, name: str) -> None:
        """Create a namespace if it is not there, with all that a pod needs in it."""
        self.api.create_unless_there({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        # Made by a controller otherwise, a moment too late for the first pod.
        account: Json = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        self.api.create_unless_there(account, name)

    def place(self, inventory: Sequence[Mapping[str, Any]]) -> dict[int, RefusedError]:
        """Make the cluster have this inventory and no other, and return once the scheduler knows.

        Of several objects of one name the first that the API server takes is placed. Returned is what it
        refuses, by the place in the inventory.
        """
        wanted = {item(document): document for document in reversed(inventory)}
        gone = {path: document for path, document in self._placed.items() if wanted.get(path) != document}
        for path, document in gone.items():
            self.api.delete(document)
            del self._placed[path]
        before, refusals = set(self._placed), dict[int, RefusedError]()
        for index, document in enumerate(inventory):
            if item(document) not in self._placed:
                try:
                    self._create(document)
                except RefusedError as refused:
                    refusals[index] = refused
        if gone or before != set(self._placed) or not self._settled:
            self._settle()
        return refusals

    def _create(self, document: Mapping[str, Any]) -> None:
        is_node = document["kind"] == "Node"
        if document["kind"] == "ResourceSlice" and "bindingConditions" in str(document):
            self.api.create(document, dry=True)
            document = without_binding_conditions(document)
        made = self.api.create({**document, "status": ready(document)} if is_node else document)
        self._placed[item(made)] = document
        if is_node:
            # Each node begins with a taint, and nobody tells when the controller has taken it away.
            self.api.change(document, {"spec": {"taints": part_of(document, "spec").get("taints")}})
        elif "status" in document:
            self.api.change(document, {"status": held(document)}, "/status")

    def _settle(self) -> None:
        """Wait until the scheduler has heard of all changes so far.

        Of each kind there is one object more, changed last. A pod that can run only where all the changes
        are known runs, and so the scheduler knows all that came before them. (A taint rule can only be seen
        by what it keeps away: the pod's claim then gets its second choice.)
        """
        turn = next(self._turns)
        node, *others = settling(turn)
        self._create(node)
        tainting = {
            part_of(part_of(rule, "spec"), "taint")["key"]
            for rule in self._placed.values()
            if rule["kind"] == "DeviceTaintRule"
        }
        for document in others:
            self.api.change(document, {"metadata": document["metadata"], "spec": document["spec"]})
        deadline = time.monotonic() + SILENCE_SECONDS
        for attempt in itertools.count():
            claim = settling_claim(turn, attempt, sorted(tainting))
            tried = self._try(settling_pod(turn, attempt), [claim])
            if any("seen" in device for device in tried.devices("c")) or self._fails_all(tried):
                break
            if time.monotonic() > deadline:
                said = f"; it says: {tried.message}" if tried.message else ""
                raise ControlPlaneError(
                    f"the scheduler has not taken in the inventory in {SILENCE_SECONDS} seconds{said}"
                )
        # Nobody else can use this node, but the scheduler would count it in what it says of others.
        self.api.delete(node)
        del self._placed[item(node)]
        self._settled = True

    def _fails_all(self, tried: Tried) -> bool:
        """Tell whether a slice of this inventory fails every pod that has a claim, whatever else is known."""
        return tried.verdict is Verdict.ERROR and any(
            f" slice {name_of(placed)}:" in tried.message
            for placed in self._placed.values()
            if placed["kind"] == "ResourceSlice"
        )

    def try_pod(self, pod: Mapping[str, Any], claims: Sequence[Mapping[str, Any]] = ()) -> Tried:
        """Ask the scheduler about a pod and remove it again, with its claims.

        `claims` are made for it; one with a status holds its devices already. Others that it names, and the
        templates, have to be there.

        Raises:
            RefusedError: The API server does not take the pod or a claim.

        """
        paths = {item(claim) for claim in claims}
        is_known = any("status" in claim for claim in claims) or bool(paths & self._used)
        self._used |= paths
        # A claim whose name is new to the scheduler comes after the end of all claims before it. So nothing
        # has to settle for the usual pod.
        return self._try(pod, claims, settle=is_known or not (claims or _uses_template(pod)))

    def _try(
        self, pod: Mapping[str, Any], claims: Sequence[Mapping[str, Any]], *, settle: bool = False
    ) -> Tried:
        made: list[Json] = []
        try:
            for claim in claims:
                made.append(self.api.create(claim))
                if "status" in claim:
                    self.api.change(claim, {"status": held(claim)}, "/status")
            if settle:
                self._settle()
            made.append(self.api.create(pod))
            answer = self._answer(made[-1]["metadata"]["uid"])
        except RefusedError:
            self._remove(made)
            raise
        self._remove(made)
        return answer

    def _answer(self, uid: str) -> Tried:
        pod = self._pods.until(lambda pods: pods[uid] if _condition(pods.get(uid)) else None)
        condition = _condition(pod)
        message = condition.get("message", "")
        if condition["status"] == "True":
            # The scheduler wrote the allocations before it bound the pod.
            return Tried(Verdict.ALLOCATED, "", self._claims.until(lambda claims: _allocations(pod, claims)))
        missing_class = "device class" in message and "does not exist" in message
        failed = condition["reason"] == "SchedulerError" or missing_class
        return Tried(Verdict.ERROR if failed else Verdict.PENDING, message)

    def _remove(self, made: Sequence[Json]) -> None:
        """Remove a pod and its claims, and wait until no device is held for them."""
        for each in reversed(made):
            self.api.delete(each)
        gone = {each["metadata"]["uid"] for each in made}
        self._pods.until(lambda pods: None if gone & pods.keys() else True)
        self._claims.until(lambda claims: None if _are_held(claims, gone) else True)

    def close(self) -> None:
        """End the streams."""
        self._pods.close()
        self._claims.close()


def _condition(pod: Json | None) -> Json:
    """Return what the scheduler has said of a pod; empty when it has said nothing."""
    conditions: list[Json] = (pod or {}).get("status", {}).get("conditions", [])
    return next((known for known in conditions if known["type"] == "PodScheduled"), Json())


def _allocations(pod: Json, claims: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return a pod's allocations, or None as long as not all of them are known."""
    known = {_place_of(claim): claim.get("status", {}).get("allocation") for claim in claims.values()}
    namespace = pod["metadata"]["namespace"]
    found = {own_name: known.get((namespace, name)) for own_name, name in _claim_names(pod).items()}
    allocations = {own_name: allocation for own_name, allocation in found.items() if allocation}
    return allocations if len(allocations) == len(found) else None


def _place_of(known: Json) -> tuple[str, str]:
    return known["metadata"]["namespace"], known["metadata"]["name"]


def _claim_names(pod: Json) -> dict[str, str]:
    status = pod["status"]
    made = {
        known["name"]: known.get("resourceClaimName") for known in status.get("resourceClaimStatuses", ())
    }
    names = {
        known["name"]: known.get("resourceClaimName") or made.get(known["name"])
        for known in pod["spec"].get("resourceClaims", ())
    }
    if extended := status.get("extendedResourceClaimStatus"):
        names[""] = extended["resourceClaimName"]
    return {own_name: name for own_name, name in names.items() if name}


def _are_held(claims: Mapping[str, Json], gone: set[str]) -> bool:
    """Tell whether some claims are still there, or hold devices for pods that are gone."""
    return bool(gone & claims.keys()) or any(
        user["uid"] in gone
        for claim in claims.values()
        for user in claim.get("status", {}).get("reservedFor", ())
    )


def _uses_template(pod: Mapping[str, Any]) -> bool:
    return any("resourceClaimTemplateName" in claim for claim in pod["spec"].get("resourceClaims", ()))
