"""The pods of the documents, each asked of the scheduler by itself, and what that means for each document."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from dra import codes
from dra.advice import World
from dra.allocation import Allocated, Failed, Unsatisfied, allocate
from dra.device import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra.finding import Finding, Verdict
from dra.objects import (
    AllocatedDevice,
    DraObject,
    Node,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimTemplate,
    Workload,
)
from dra.pod import pod_spec_path

_WORST_FIRST = [Verdict.ERROR, Verdict.PENDING, Verdict.ALLOCATED]


_CEL_REMEDIES = {
    "no such key": "Write a key that the devices have, or guard it: .?key.orValue(…), or has(…) && ….",
    "quantities must match": "Write a quantity as Kubernetes does: 40Gi or 40G, not 40GB.",
    "Major.Minor.Patch": 'Write all three numbers: semver("7.5.0"), or semver("7.5", true).',
    "no such overload": "Compare values of one type: a version by compareTo(semver(…)), for one.",
    "converted to bool": "Compare the value with something: the expression must be true or false.",
}


@dataclass
class Judged:
    """What the scheduler makes of an object. `devices`: a possible allocation, as `pool/device (request)`."""

    verdict: Verdict
    findings: list[Finding] = field(default_factory=list[Finding])
    devices: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class _Use:
    """A claim of a pod, and the document that it is from: the claim itself or its template."""

    claim: ResourceClaim
    source: ResourceClaim | ResourceClaimTemplate


def judge(
    objects: Mapping[int, DraObject], world: World, refused: AbstractSet[tuple[str, str, str]]
) -> dict[int, Judged]:
    """Judge every workload and every claim of the documents, which are given by their documents' identity.

    `refused`: kind, namespace and name of the documents that the API server does not take.
    """
    return _Judge(objects, world, refused).judge()


class _Judge:
    def __init__(
        self, objects: Mapping[int, DraObject], world: World, refused: AbstractSet[tuple[str, str, str]]
    ) -> None:
        self._objects = objects
        self._refused = refused
        self._world = world
        self._documents = {id(each): document for document, each in objects.items()}
        self._judged: dict[int, Judged] = {}
        self._claims = dict(world.claims)
        """Those that a pod has got devices for have them here."""
        self._used: set[int] = set()
        """The claims and templates that some workload names, by identity."""

    def judge(self) -> dict[int, Judged]:
        for document, each in self._objects.items():
            if isinstance(each, Workload):
                self._workload(document, each)
        for each in self._objects.values():
            # One that no workload uses gets a consumer of its own.
            if isinstance(each, ResourceClaim) and id(each) not in self._used:
                self._pod([_Use(each, each)], lambda _: True)
            elif isinstance(each, ResourceClaimTemplate) and id(each) not in self._used:
                self._pod([_Use(_made(each, each.metadata.name), each)], lambda _: True)
        return self._judged

    def _workload(self, document: int, workload: Workload) -> None:
        uses = self._uses(workload)
        self._used |= {id(use.source) for use in uses}
        if workload.node_name is not None and any(use.claim.allocated is None for use in uses):
            self._unscheduled(document, workload, uses)
        elif uses:
            twice = self._named_twice(workload)
            verdict, devices = self._pod(uses, lambda node: self._fits(workload, node), twice=bool(twice))
            self._judged[document] = Judged(verdict, twice if verdict is Verdict.ERROR else [], devices)
        if self._waits_for_refused(workload):
            self._judged[document] = Judged(Verdict.PENDING)

    def _unscheduled(self, document: int, workload: Workload, uses: Iterable[_Use]) -> None:
        """Take down what comes of a pod that names its node: nobody allocates its claims."""
        for use in uses:
            self._of(use, Verdict.PENDING)
        message = (
            f"A pod with nodeName ({workload.node_name}) is not scheduled, so its claims get no devices."
        )
        remedy = "Leave nodeName out and select the node by its label: nodeSelector kubernetes.io/hostname."
        finding = codes.NODE_NAMED.at(f"{pod_spec_path(workload.kind)}.nodeName", message, remedy)
        self._judged[document] = Judged(Verdict.PENDING, [finding])

    def _named_twice(self, workload: Workload) -> list[Finding]:
        """Return the finding for a claim that a pod has under two names, as it cannot be reserved twice."""
        names = set[str]()
        for index, each in enumerate(workload.claims.resource_claims):
            name = each.resource_claim_name
            if name in names and (workload.metadata.namespace, name) in self._claims:
                path = f"{pod_spec_path(workload.kind)}.resourceClaims[{index}].resourceClaimName"
                message = (
                    f"The scheduler fails the pod: it has the claim {name} under two names, and a claim can "
                    "be reserved only once for a pod."
                )
                remedy = "Name the claim once; any number of the pod's containers can use it by that name."
                return [codes.SCHEDULER_ERROR.at(path, message, remedy)]
            names |= {name} if name is not None else set()
        return []

    def _waits_for_refused(self, workload: Workload) -> bool:
        namespace = workload.metadata.namespace
        return any(
            ("ResourceClaim", namespace, each.resource_claim_name) in self._refused
            or ("ResourceClaimTemplate", namespace, each.resource_claim_template_name) in self._refused
            for each in workload.claims.resource_claims
        )

    def _uses(self, workload: Workload) -> list[_Use]:
        """Return the pod's claims that are known, each once."""
        namespace = workload.metadata.namespace
        uses: dict[str, _Use] = {}
        for each in workload.claims.resource_claims:
            if each.resource_claim_name is not None:
                key = namespace, each.resource_claim_name
                if key in self._claims:
                    uses[each.resource_claim_name] = _Use(self._claims[key], self._world.claims[key])
            elif each.resource_claim_template_name is not None:
                template = self._world.templates.get((namespace, each.resource_claim_template_name))
                if template is not None:
                    name = f"{workload.metadata.name or workload.metadata.generate_name}-{each.name}"
                    uses[name] = _Use(_made(template, name), template)
        return list(uses.values())

    def _fits(self, workload: Workload, node: Node) -> bool:
        if workload.node_name is not None and workload.node_name != node.metadata.name:
            return False
        # A node that is known by its slices only still has the label with its name.
        labels = {"kubernetes.io/hostname": node.metadata.name, **node.metadata.labels}
        are_all = self._world.inventory.labels_known and node.metadata.name in self._world.nodes
        return all(
            labels[key] == value if key in labels else not are_all
            for key, value in workload.node_selector.items()
        )

    def _pod(
        self, uses: Sequence[_Use], node_fits: Callable[[Node], bool], *, twice: bool = False
    ) -> tuple[Verdict, list[str]]:
        """Ask for one pod's claims together, and take down what comes of it for each of them.

        `twice`: it names a claim twice, which fails it when it would be bound to its node.
        """
        inventory = self._world.inventory
        # A claim that another pod of the documents got holds its devices.
        got = [
            use.claim
            for use in uses
            if use.claim.allocated is not None
            and isinstance(use.source, ResourceClaim)
            and not use.source.allocated
        ]
        if got:
            inventory = replace(inventory, claims=[*inventory.claims, *got])
        outcome = allocate([use.claim for use in uses], inventory, self._world.target, node_fits)
        match outcome:
            case Allocated() if twice:
                for use in uses:
                    self._of(use, Verdict.ERROR)
                return Verdict.ERROR, []
            case Allocated():
                return Verdict.ALLOCATED, self._allocated(uses, outcome)
            case Unsatisfied():
                finding = codes.UNSATISFIED.at("", _sentence(outcome.why), _remedy(uses, outcome))
                self._failed(uses, outcome.claim, outcome.path, Verdict.PENDING, finding)
                return Verdict.PENDING, []
            case Failed():
                also = " (a node that is tried earlier may take the pod all the same)"
                finding = scheduler_failure(outcome.message, also if outcome.possible_otherwise else "")
                self._failed(uses, outcome.claim, outcome.path, Verdict.ERROR, finding)
                return Verdict.ERROR, []

    def _allocated(self, uses: Sequence[_Use], outcome: Allocated) -> list[str]:
        every: list[str] = []
        for use in uses:
            results = outcome.devices.get(use.claim.metadata.name, ())
            devices = [f"{each.pool}/{each.device} ({each.request})" for each in results]
            every += devices
            judged = self._of(use, Verdict.ALLOCATED)
            judged.devices = judged.devices or devices
            if isinstance(use.source, ResourceClaim):
                self._claims[use.claim.metadata.namespace, use.claim.metadata.name] = use.claim.model_copy(
                    update={
                        "allocated": results,
                        "allocated_nodes": use.claim.allocated_nodes or self._nodes(results, outcome.node),
                    }
                )
        return every

    def _nodes(self, results: Iterable[AllocatedDevice], node: str) -> NodeSelector | None:
        """Return the nodes that can use some devices: the one that they are on, or any."""
        local = any(
            each.spec.node_name == node
            for result in results
            for each in self._world.pools.get((result.driver, result.pool), ())
        )
        name = NodeSelectorRequirement(key="metadata.name", operator="In", values=[node])
        return NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[name])]) if local else None

    def _failed(
        self, uses: Sequence[_Use], claim: str, path: str, verdict: Verdict, finding: Finding
    ) -> None:
        for use in uses:
            # The pod is placed as a whole or not at all.
            judged = self._of(use, verdict)
            if use.claim.metadata.name == claim:
                below = f"spec.{path}" if isinstance(use.source, ResourceClaimTemplate) and path else path
                placed = finding.model_copy(update={"path": below})
                if placed not in judged.findings:
                    judged.findings.append(placed)

    def _of(self, use: _Use, verdict: Verdict) -> Judged:
        """Return the judgement on a claim's document, which has the worst verdict of all its pods."""
        judged = self._judged.setdefault(self._documents[id(use.source)], Judged(verdict))
        judged.verdict = min(judged.verdict, verdict, key=_WORST_FIRST.index)
        return judged


def _made(template: ResourceClaimTemplate, name: str) -> ResourceClaim:
    metadata = ObjectMeta(
        name=name,
        namespace=template.metadata.namespace,
        labels=template.claim_metadata.labels,
        annotations=template.claim_metadata.annotations,
    )
    return ResourceClaim(metadata=metadata, spec=template.spec)


def scheduler_failure(message: str, also: str = "") -> Finding:
    """Return the finding for a pod that the scheduler fails with a message; `also` follows it."""
    if "CEL" in message:
        code = codes.CEL_RUNTIME
        remedy = next((remedy for words, remedy in _CEL_REMEDIES.items() if words in message), "Correct it.")
    elif "exceeds the claim limit" in message:
        code, remedy = codes.CLAIM_LIMIT, "Ask for at most 32 devices, or by several claims."
    elif "device class" in message:
        code, remedy = codes.CLASS_MISSING, "Name a DeviceClass that the cluster has, or add it."
    else:
        code, remedy = codes.SCHEDULER_ERROR, "See what the scheduler says, and the slices that it names."
    return code.at("", f"The scheduler fails the pod: {message}{also}", remedy)


def _sentence(why: str) -> str:
    return f"No node can satisfy the claim: {why}" + ("" if why.endswith(".") else ".")


def _remedy(uses: Sequence[_Use], outcome: Unsatisfied) -> str:
    if outcome.for_nodes:
        return "Look at the nodes: at their number and names, and at what holds the pod to some of them."
    together = " All claims of a pod must be satisfied on one node." if len(uses) > 1 else ""
    return f"Ask for less, or for what the devices have.{together}"
