"""From a document to the object that the API server would store, or to why it would not.

Which versions it serves: `pkg/controlplane/instance.go` of Kubernetes 1.34 to 1.37 serves stable ones only,
unless an administrator asks for more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from dra import codes
from dra.gates import Target
from dra.model import Model
from dra.objects import DraObject
from dra.validation import conversion, older_shapes, wire
from dra.validation.claim import admin_access, claim_spec, class_spec
from dra.validation.decoder import Decoder, TooLargeError
from dra.validation.decoding import decode
from dra.validation.metadata import metadata, template_metadata
from dra.validation.names import label_faults, length_unit, subdomain_faults
from dra.validation.pod import pod_spec
from dra.validation.problem import Dropped, Problem, quoted
from dra.validation.relevance import is_about_claims
from dra.validation.resource_slice import slice_spec
from dra.validation.taints import taint_rule

_GROUP = "resource.k8s.io/"
_VERSION = "resource.k8s.io/v1"

Wired = TypeVar("Wired", bound=wire.Document)
NamespaceLabels = Mapping[str, str] | None


class Admission(Model):
    """What becomes of an object: the object as it is stored, what speaks against it, and what is dropped."""

    object: DraObject | None = None
    problems: Sequence[Problem] = ()
    dropped: Sequence[Dropped] = ()


@dataclass(frozen=True)
class Kind(Generic[Wired]):
    """A kind of object: how it is decoded, its rules, and what it is to the rest of this package."""

    model: type[Wired]
    rules: Callable[[Wired, Target, NamespaceLabels], Iterator[Problem]]
    convert: Callable[[Wired], DraObject]
    since: Target = Target.V1_34

    def admit(self, document: Mapping[str, Any], target: Target, labels: NamespaceLabels) -> Admission:
        """Return what becomes of a document of this kind."""
        decoder = Decoder(target)
        try:
            decoded = decode(decoder, self.model, document)
        except TooLargeError:
            return Admission(problems=[_TOO_LARGE])
        if decoded is None:
            return Admission(problems=[*decoder.wrong, *decoder.unknown], dropped=decoder.dropped)
        problems = decoder.unknown or _without_repetition(self.rules(decoded, target, labels))
        return Admission(object=self.convert(decoded), problems=problems, dropped=decoder.dropped)


def admit(
    document: Mapping[str, Any], target: Target, namespace_labels: NamespaceLabels = None
) -> Admission | None:
    """Return what becomes of a document, or None if it is not about DRA.

    `namespace_labels` are those of the object's namespace, None if they are not known.
    """
    version, name = document.get("apiVersion") or "", document.get("kind") or ""
    if not isinstance(version, str) or not isinstance(name, str):
        return None
    if (_VERSION, name) in _KINDS and not version:
        return _unset("apiVersion", f"Write apiVersion: {_VERSION}.")
    if version.startswith(_GROUP) and not name:
        return _unset("kind", f"Write the kind; those of {_VERSION} are {_kinds()}.")
    kind = _KINDS.get((version, name))
    if kind and target >= kind.since:
        return kind.admit(document, target, namespace_labels) if is_about_claims(document) else None
    group = version.partition("/")[0]
    # A group with no dot is Kubernetes' own, and has no such kind; one with a dot may be anybody's.
    is_slip = (_VERSION, name) in _KINDS and ("." not in group or f"{group}/" == _GROUP)
    if is_slip or (version.startswith(_GROUP) and not name.endswith("List")):
        return _not_served(document, version, name, target)
    return None


def _unset(field: str, remedy: str) -> Admission:
    """Return what kubectl says of an object without a field that it cannot do without."""
    problem = Problem(path=field, message=f"{field} not set", remedy=remedy, code=codes.REQUIRED.code)
    return Admission(problems=[problem])


def _kinds() -> str:
    return ", ".join(name for version, name in _KINDS if version == _VERSION)


def _not_served(document: Mapping[str, Any], version: str, name: str, target: Target) -> Admission:
    """Return the refusal of a version or kind, with the object in the form that is served, if any."""
    message = f"no matches for kind {quoted(name)} in version {quoted(version)}"
    kind = _KINDS.get((_VERSION, name))
    if kind is None:
        remedy = _GONE.get(name, f"The kinds of {_VERSION} are {_kinds()}.")
        return Admission(problems=[_unserved(message, remedy)])
    if target < kind.since:
        remedy = (
            f"Leave it out: {name} is in {_VERSION} from Kubernetes {kind.since} on, the target is {target}, "
            "and older versions of the API are off unless it is told otherwise."
        )
        return Admission(problems=[_unserved(message, remedy)])
    rewritten = older_shapes.rewrite_object(document)
    remedy = f"Kubernetes {target} serves {_VERSION} only, unless it is told otherwise."
    if version != _VERSION:
        remedy = f"{remedy} {older_shapes.as_remedy(rewritten)}"
    admission = kind.admit(rewritten, target, None)
    return admission.model_copy(update={"problems": [_unserved(message, remedy)]})


def _unserved(message: str, remedy: str) -> Problem:
    return Problem(path="apiVersion", message=message, remedy=remedy, code=codes.NOT_SERVED.code)


def _without_repetition(problems: Iterator[Problem]) -> list[Problem]:
    """Return the problems, each text once for a path, as in the API server's answer; the first of many."""
    first = islice(problems, _MAX_PROBLEMS)
    return list({(problem.path, problem.message): problem for problem in first}.values())


_MAX_PROBLEMS = 1000
"""Nobody reads more of one object."""


_TOO_LARGE = Problem(
    path="",
    message="Request entity too large: limit is 3145728",
    remedy="Split the object: nothing of 3 MiB or more is stored.",
    code=codes.TOO_MANY.code,
)


def _claim_rules(claim: wire.ResourceClaim, target: Target, labels: NamespaceLabels) -> Iterator[Problem]:
    yield from admin_access(claim.spec, labels)
    yield from metadata(claim.metadata, namespaced=True)
    yield from claim_spec(claim.spec, "spec", target)


def _template_rules(
    template: wire.ResourceClaimTemplate, target: Target, labels: NamespaceLabels
) -> Iterator[Problem]:
    yield from admin_access(template.spec.spec, labels)
    yield from metadata(template.metadata, namespaced=True)
    yield from template_metadata(template.spec.metadata, "spec.metadata")
    yield from claim_spec(template.spec.spec, "spec.spec", target)


def _class_rules(
    device_class: wire.DeviceClass, target: Target, _labels: NamespaceLabels
) -> Iterator[Problem]:
    faults = partial(subdomain_faults, unit=length_unit(target))
    yield from metadata(device_class.metadata, namespaced=False, faults=faults)
    yield from class_spec(device_class.spec, "spec", target)


def _slice_rules(
    resource_slice: wire.ResourceSlice, target: Target, _labels: NamespaceLabels
) -> Iterator[Problem]:
    yield from metadata(resource_slice.metadata, namespaced=False)
    yield from slice_spec(resource_slice.spec, "spec", target)


def _taint_rule_rules(
    rule: wire.DeviceTaintRule, _target: Target, _labels: NamespaceLabels
) -> Iterator[Problem]:
    yield from metadata(rule.metadata, namespaced=False)
    yield from taint_rule(rule.spec, "spec")


def _pod_rules(pod: wire.Pod, _target: Target, _labels: NamespaceLabels) -> Iterator[Problem]:
    yield from metadata(pod.metadata, namespaced=True)
    yield from pod_spec(pod.spec, "spec", template=False)


def _replicated_rules(
    workload: wire.Replicated, _target: Target, _labels: NamespaceLabels
) -> Iterator[Problem]:
    yield from metadata(workload.metadata, namespaced=True)
    yield from pod_spec(workload.spec.template.spec, "spec.template.spec")


def _job_rules(job: wire.Job, _target: Target, _labels: NamespaceLabels) -> Iterator[Problem]:
    yield from metadata(job.metadata, namespaced=True)
    yield from pod_spec(job.spec.template.spec, "spec.template.spec")


def _cron_job_rules(job: wire.CronJob, _target: Target, _labels: NamespaceLabels) -> Iterator[Problem]:
    yield from metadata(job.metadata, namespaced=True)
    yield from pod_spec(job.spec.job_template.spec.template.spec, "spec.jobTemplate.spec.template.spec")


def _node_rules(node: wire.Node, _target: Target, _labels: NamespaceLabels) -> Iterator[Problem]:
    yield from metadata(node.metadata, namespaced=False)


def _namespace_rules(
    namespace: wire.Namespace, _target: Target, _labels: NamespaceLabels
) -> Iterator[Problem]:
    yield from metadata(namespace.metadata, namespaced=False, faults=label_faults)


_REPLICATED = Kind(wire.Replicated, _replicated_rules, conversion.replicated)

_KINDS: Mapping[tuple[str, str], Kind[Any]] = {
    (_VERSION, "ResourceClaim"): Kind(wire.ResourceClaim, _claim_rules, conversion.claim),
    (_VERSION, "ResourceClaimTemplate"): Kind(
        wire.ResourceClaimTemplate, _template_rules, conversion.template
    ),
    (_VERSION, "DeviceClass"): Kind(wire.DeviceClass, _class_rules, conversion.device_class),
    (_VERSION, "ResourceSlice"): Kind(wire.ResourceSlice, _slice_rules, conversion.resource_slice),
    (_VERSION, "DeviceTaintRule"): Kind(
        wire.DeviceTaintRule, _taint_rule_rules, conversion.taint_rule, Target.V1_37
    ),
    ("v1", "Pod"): Kind(wire.Pod, _pod_rules, conversion.pod),
    ("v1", "ReplicationController"): _REPLICATED,
    ("apps/v1", "Deployment"): _REPLICATED,
    ("apps/v1", "StatefulSet"): _REPLICATED,
    ("apps/v1", "ReplicaSet"): _REPLICATED,
    ("apps/v1", "DaemonSet"): _REPLICATED,
    ("batch/v1", "Job"): Kind(wire.Job, _job_rules, conversion.job),
    ("batch/v1", "CronJob"): Kind(wire.CronJob, _cron_job_rules, conversion.cron_job),
    ("v1", "Node"): Kind(wire.Node, _node_rules, conversion.node),
    ("v1", "Namespace"): Kind(wire.Namespace, _namespace_rules, conversion.namespace),
}

_GONE = {
    "ResourceClass": "Write a DeviceClass, with a CEL selector for the driver: classic DRA ended with 1.31.",
    "PodSchedulingContext": "Leave it out: the scheduler allocates devices by itself since 1.32.",
    "ResourceClaimParameters": "Write the parameters into the claim, under spec.devices.config[].opaque.",
    "ResourceClassParameters": "Write the parameters into the DeviceClass, under spec.config[].opaque.",
    "ResourcePoolStatusRequest": "Leave it out: it is alpha, in a version that is off by default.",
}
