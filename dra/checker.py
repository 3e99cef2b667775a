"""The checker: documents in, a verdict and findings for each object about DRA out.

What the verdicts mean, and what they leave out, is in docs/adr/0007-what-a-verdict-means.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from dra import codes
from dra.advice import World, advise
from dra.document import Document
from dra.finding import Checked, Finding, Verdict
from dra.gates import Target, on_since
from dra.inventory import Inventory
from dra.objects import (
    DeviceClass,
    DeviceTaintRule,
    DraObject,
    Namespace,
    Node,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from dra.schedule import Judged, judge
from dra.validation import Admission, Dropped, Problem, admit

CLUSTER_SCOPED = {"DeviceClass", "ResourceSlice", "DeviceTaintRule", "Node", "Namespace"}

_READ_FOR_OTHERS = {"Node", "Namespace"}
_Kind = TypeVar("_Kind", Node, ResourceSlice, DeviceClass, DeviceTaintRule)
_CODES = {code.code: code for code in codes.catalogue()}


def check(
    documents: Sequence[Document | Checked],
    inventory: Inventory | None,
    target: Target,
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
) -> list[Checked]:
    """Return what is to be said of each object that is about DRA, in the documents' order.

    `inventory`: what the cluster has beside the documents; None if that is not known. What could not be read
    is passed through. `namespaces`: the labels of those that the cluster has; any other has none.
    """
    known = _Namespaces(documents, namespaces or {}, target)
    admitted = [
        (document, admission)
        for document in documents
        if isinstance(document, Document)
        and (admission := admit(document.value, target, known.labels_of(document))) is not None
    ]
    sound = {
        id(document): admission.object
        for document, admission in admitted
        if admission.object is not None and not admission.problems and not document.findings
    }
    world = _world(list(sound.values()), inventory, target)
    refused = frozenset(
        (_kind(document), _namespace(document), _name(document))
        for document, _ in admitted
        if id(document) not in sound
    )
    is_known = inventory is not None or bool(world.inventory.slices)
    judged = judge(sound, world, refused) if is_known else {}
    admissions = {id(document): admission for document, admission in admitted}
    checked: list[Checked] = []
    for document in documents:
        if isinstance(document, Checked):
            checked.append(document)
        elif (admission := admissions.get(id(document))) is not None:
            subject = sound.get(id(document))
            advice = list(advise(subject, world)) if subject is not None else []
            # Nodes and namespaces are read for the others' sake; what else is wrong with them is not ours.
            if advice or _kind(document) not in _READ_FOR_OTHERS:
                checked.append(_checked(document, admission, judged.get(id(document)), advice, target))
    return checked


def read_inventory(
    documents: Sequence[Document | Checked], target: Target
) -> tuple[Inventory, Mapping[str, Mapping[str, str]], list[Checked]]:
    """Return the inventory that documents describe, its namespaces' labels, and what is wrong with it."""
    objects: list[DraObject] = []
    wrong: list[Checked] = []
    for document in documents:
        if isinstance(document, Checked):
            wrong.append(document)
        elif (admission := admit(document.value, target)) is not None:
            if admission.problems or document.findings:
                wrong.append(_checked(document, admission, None, (), target))
            elif admission.object is not None:
                objects.append(admission.object)
    namespaces = {each.metadata.name: each.metadata.labels for each in objects if isinstance(each, Namespace)}
    return Inventory.of(objects), namespaces, wrong


class _Namespaces:
    """The labels of namespaces: the cluster's, and those of the documents, which come after."""

    def __init__(
        self, documents: Sequence[Document | Checked], known: Mapping[str, Mapping[str, str]], target: Target
    ) -> None:
        self._labels = dict(known)
        self._in_file: dict[str, set[str]] = {}
        for document in documents:
            if isinstance(document, Document) and document.value.get("kind") == "Namespace":
                admission = admit(document.value, target)
                if admission is not None and isinstance(admission.object, Namespace):
                    name = admission.object.metadata.name
                    self._labels[name] = admission.object.metadata.labels
                    self._in_file.setdefault(document.file, set()).add(name)

    def labels_of(self, document: Document) -> Mapping[str, str]:
        """Return the labels of the namespace that an object is in."""
        beside = self._in_file.get(document.file, set())
        if "namespace" not in _metadata(document) and len(beside) == 1:
            # Such a file is applied with `--namespace`, and who makes one namespace with it means that one.
            return self._labels[next(iter(beside))]
        return self._labels.get(_namespace(document), {})


def _world(objects: Sequence[DraObject], inventory: Inventory | None, target: Target) -> World:
    own, other = Inventory.of(objects), inventory or Inventory()
    claims = {_key(each): each for each in objects if isinstance(each, ResourceClaim)}
    together = Inventory(
        nodes=_newer(own.nodes, other.nodes),
        slices=_newer(own.slices, other.slices),
        classes=_newer(own.classes, other.classes),
        taint_rules=_newer(own.taint_rules, other.taint_rules),
        # A claim that stands in the documents too is judged by what they say.
        claims=[*own.claims, *(each for each in other.claims if _key(each) not in claims)],
        labels_known=other.labels_known,
    )
    return World(
        target=target,
        inventory=together,
        claims=claims,
        templates={_key(each): each for each in objects if isinstance(each, ResourceClaimTemplate)},
    )


def _newer(own: Sequence[_Kind], other: Sequence[_Kind]) -> Sequence[_Kind]:
    names = {each.metadata.name for each in own}
    return [*own, *(each for each in other if each.metadata.name not in names)]


def _key(each: ResourceClaim | ResourceClaimTemplate) -> tuple[str, str]:
    return each.metadata.namespace, each.metadata.name


def _checked(
    document: Document,
    admission: Admission,
    judged: Judged | None,
    advice: Sequence[Finding],
    target: Target,
) -> Checked:
    findings = [
        *document.findings,
        *(_refusal(problem, _namespace(document)) for problem in admission.problems),
        *(judged.findings if judged else ()),
        *(_dropped(dropped, target) for dropped in admission.dropped),
    ]
    # A selector that fails today needs no word on what it may do one day.
    failing = tuple(each.path for each in findings if each.code == codes.CEL_RUNTIME.code)
    findings += [
        each for each in advice if each.code != codes.UNGUARDED_KEY.code or not each.path.startswith(failing)
    ]
    refused = admission.problems or document.findings
    return Checked(
        file=document.file,
        line=document.line,
        api_version=str(document.value.get("apiVersion", "")),
        kind=_kind(document),
        namespace=_namespace(document),
        name=_name(document),
        verdict=Verdict.REJECTED if refused else judged.verdict if judged else Verdict.ACCEPTED,
        findings=[
            each.model_copy(update={"line": each.line or document.line_of(each.path)}) for each in findings
        ],
        devices=judged.devices if judged else (),
    )


def _namespace(document: Document) -> str:
    if _kind(document) in CLUSTER_SCOPED:
        return ""
    namespace = _metadata(document).get("namespace")
    return namespace if isinstance(namespace, str) and namespace else "default"


def _kind(document: Document) -> str:
    return str(document.value.get("kind", ""))


def _name(document: Document) -> str:
    metadata = _metadata(document)
    return str(metadata.get("name") or metadata.get("generateName") or "")


def _metadata(document: Document) -> Mapping[str, Any]:
    metadata = document.value.get("metadata")
    return cast("Mapping[str, Any]", metadata) if isinstance(metadata, Mapping) else {}


def _refusal(problem: Problem, namespace: str) -> Finding:
    remedy = problem.remedy
    if problem.code == codes.ADMIN_NAMESPACE.code:
        remedy += f" If {namespace} has it already, check that Namespace along with this."
    return _CODES[problem.code].at(problem.path, problem.message, remedy)


def _dropped(dropped: Dropped, target: Target) -> Finding:
    since = on_since(dropped.gate)
    remedy = (
        f"Turn the gate on in the cluster, or use {since} or newer, where it is on by default."
        if since
        else "Turn the gate on in the cluster, which no release does by default."
    )
    return codes.DROPPED_FIELD.at(
        dropped.path,
        f"Kubernetes {target} drops this field without a word: its feature gate {dropped.gate} is off.",
        remedy,
    )
