"""From files to a rehearsal and back: its inventory as documents, its outcomes as the checker's results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dra import codes
from dra.document import Document
from dra.finding import Checked, Finding, Verdict
from dra.gates import Target
from dra.inventory import Inventory
from dra.model import Model
from dra.objects import DeviceClass, DeviceTaintRule, Node, ObjectMeta, ResourceClaim, ResourceSlice
from dra.schedule import scheduler_failure
from dra.validation import Admission, admit
from lab.api import CLUSTER_WIDE, Json, RefusedError, name_of, namespace_of, part_of
from lab.rehearsal import CLAIMS, Outcome, rehearse
from lab.trial import trials_beside

_TARGET = Target.V1_37
_CODES = {code.code: code for code in codes.catalogue()}


class InventoryError(Exception):
    """The API server does not take the inventory; the text says what of it, and why."""


def rehearse_documents(
    documents: Sequence[Document | Checked],
    inventory: Inventory | None,
    namespaces: Mapping[str, Mapping[str, str]],
    repo: Path,
) -> list[Checked]:
    """Return what a control plane says of each object that is about DRA, in the documents' order.

    What could not be read is passed through. `namespaces`: the labels of those that the cluster has.

    Raises:
        ControlPlaneError: No control plane came up, or it went away.
        InventoryError: It does not take the inventory.

    """
    subjects = {
        index: (document, admission)
        for index, document in enumerate(documents)
        if isinstance(document, Document) and (admission := admit(document.value, _TARGET)) is not None
    }
    # What kubectl refuses by itself, such as a key given twice or no kind, is not sent.
    outcomes = {
        index: Outcome(Verdict.REJECTED, next((each.message for each in admission.problems), ""))
        for index, (_, admission) in subjects.items()
    }
    sent = [index for index, (document, _) in subjects.items() if _can_be_sent(document)]
    if sent:
        values = _in_their_namespaces([subjects[index][0] for index in sent])
        outcomes |= zip(sent, _rehearse(values, inventory, namespaces, repo), strict=True)
    checked = [
        document if isinstance(document, Checked) else _checked(*subjects[index], outcomes[index])
        for index, document in enumerate(documents)
        if isinstance(document, Checked) or index in subjects
    ]
    # Nodes and namespaces are read for the others' sake.
    return [each for each in checked if each.findings or each.kind not in ("Node", "Namespace")]


def _can_be_sent(document: Document) -> bool:
    return not document.findings and bool(document.value.get("apiVersion") and document.value.get("kind"))


def _in_their_namespaces(documents: Sequence[Document]) -> list[Mapping[str, object]]:
    """Return the objects; those that name no namespace are in the one that their file makes (ADR 7)."""
    made: dict[str, set[str]] = {}
    for each in documents:
        if each.value["kind"] == "Namespace":
            made.setdefault(each.file, set()).add(name_of(each.value))
    values: list[Mapping[str, object]] = []
    for each in documents:
        metadata, beside = part_of(each.value, "metadata"), made.get(each.file, set())
        is_in_it = metadata and "namespace" not in metadata and each.value["kind"] not in CLUSTER_WIDE
        if is_in_it and len(beside) == 1:
            values.append({**each.value, "metadata": {**metadata, "namespace": next(iter(beside))}})
        else:
            values.append(each.value)
    return values


def _rehearse(
    values: Sequence[Mapping[str, object]],
    inventory: Inventory | None,
    namespaces: Mapping[str, Mapping[str, str]],
    repo: Path,
) -> list[Outcome]:
    known = None if inventory is None else list(inventory_documents(inventory))
    with trials_beside(repo) as trials:
        try:
            for name, labels in namespaces.items():
                metadata = {"name": name, "labels": dict(labels)}
                namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
                if not trials.api.create_unless_there(namespace):
                    trials.api.change(namespace, {"metadata": metadata})
            return rehearse(trials, values, known)
        except RefusedError as refused:
            raise InventoryError(f"The API server refuses the inventory: {refused.message}") from None


def inventory_documents(inventory: Inventory) -> Iterator[Json]:
    """Yield the objects of an inventory as documents."""
    for node in inventory.nodes:
        spec = {"unschedulable": node.unschedulable}
        yield {**_object("v1", node.metadata, node, spec), "status": {"allocatable": dict(node.allocatable)}}
    for each in (*inventory.classes, *inventory.slices, *inventory.taint_rules):
        yield _object("resource.k8s.io/v1", each.metadata, each, each.spec.document())
    for claim in inventory.claims:
        yield {
            **_object("resource.k8s.io/v1", claim.metadata, claim, claim.spec.document()),
            "status": {"allocation": _allocation(claim)},
        }


def _object(
    version: str,
    metadata: ObjectMeta,
    each: Node | DeviceClass | ResourceSlice | DeviceTaintRule | ResourceClaim,
    spec: Json,
) -> Json:
    kind = type(each).__name__
    placed: Json = {"name": metadata.name, "labels": dict(metadata.labels)}
    if kind not in CLUSTER_WIDE:
        placed["namespace"] = metadata.namespace
    return {"apiVersion": version, "kind": kind, "metadata": placed, "spec": spec}


def _allocation(claim: ResourceClaim) -> Json:
    results = [_spelled(each) for each in claim.allocated or ()]
    nodes = {"nodeSelector": claim.allocated_nodes.document()} if claim.allocated_nodes else {}
    return {"devices": {"results": results}, **nodes}


def _spelled(result: Model) -> Json:
    # The one name of the API that is no plain camelCase.
    return {{"shareId": "shareID"}.get(key, key): value for key, value in result.document().items()}


def _checked(document: Document, admission: Admission, outcome: Outcome) -> Checked:
    kind, metadata = str(document.value.get("kind", "")), part_of(document.value, "metadata")
    findings = [*document.findings, *_findings(kind, admission, outcome)]
    return Checked(
        file=document.file,
        line=document.line,
        api_version=str(document.value.get("apiVersion", "")),
        kind=kind,
        namespace="" if kind in CLUSTER_WIDE else namespace_of(document.value),
        name=str(metadata.get("name") or metadata.get("generateName") or ""),
        verdict=outcome.verdict,
        findings=[
            each.model_copy(update={"line": each.line or document.line_of(each.path)}) for each in findings
        ],
        devices=outcome.devices,
    )


def _findings(kind: str, admission: Admission, outcome: Outcome) -> Iterable[Finding]:
    """Yield what is wrong, once: of a pod that does not get its claims, by its claims."""
    if outcome.verdict is Verdict.REJECTED and outcome.message:
        # The checker has looked too: it knows the kind of mistake, and what to do.
        known = next(iter(admission.problems), None)
        code = _CODES[known.code] if known else codes.INVALID_VALUE
        remedy = known.remedy if known else "Change it as the API server says."
        yield code.at(known.path if known else outcome.field, outcome.message, remedy)
    elif outcome.verdict is Verdict.ERROR and kind in CLAIMS:
        yield scheduler_failure(outcome.message)
    elif outcome.verdict is Verdict.PENDING and kind in CLAIMS:
        remedy = "Ask for less, or for what the devices have. `lab check` says what is missing."
        yield codes.UNSATISFIED.at("", f"No node can satisfy the claim: {outcome.message}", remedy)
