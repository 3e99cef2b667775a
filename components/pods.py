"""What a lesson's pods ask for, by themselves or in a Job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes.resource import v1

from components.options import name_of

if TYPE_CHECKING:
    from pulumi_kubernetes.batch.v1 import JobSpecArgsDict
    from pulumi_kubernetes.core.v1 import (
        ContainerArgsDict,
        PodResourceClaimArgsDict,
        PodSpecArgsDict,
        ResourceRequirementsArgsDict,
    )

LESSON_LABEL = "gpulab.dev/lesson"
"""Label and taint of a lesson's nodes: its pods go there, and no others do."""

SLEEPS_SECONDS = 300
"""What the pods run, as those of Lab 4 do. No container runs here, so it ends only where KWOK is told to."""

GROUP_LABEL = "gpulab.dev/pod-group"
"""Says once more which PodGroup a pod belongs to, for a provider that drops the pod's field
(charts/kwok-stages)."""


RUN_SECONDS = "gpulab.dev/run-seconds"
"""The annotation that says after how many seconds KWOK ends a Job's pod; at once without it
(charts/kwok-stages)."""


@dataclass(frozen=True)
class Claim:
    """A claim, or a template that each pod gets a claim of its own from."""

    name: str
    resource: v1.ResourceClaim | v1.ResourceClaimTemplate


@dataclass(frozen=True)
class Group:
    """A PodGroup."""

    name: str
    resource: pulumi.Resource


@dataclass(frozen=True, kw_only=True)
class PodArgs:
    """What a lesson's pod asks for.

    `claims`: by the pod's own name for each, a claim or a template to make one from. `containers`: which of
    them each container uses; by default there is one container, and it uses all. `limits` are each
    container's. `node` is the one to go to, where the lesson has several; `group` the PodGroup to
    belong to. `more` is anything else of the pod's spec.
    """

    claims: Mapping[str, Claim] = field(default_factory=dict[str, Claim])
    containers: Mapping[str, Sequence[str]] | None = None
    limits: Mapping[str, str] = field(default_factory=dict[str, str])
    node: str | None = None
    group: Group | None = None
    more: "PodSpecArgsDict | None" = None

    @property
    def named(self) -> list[pulumi.Resource]:
        """What the pods name. A Deployment or Job has to be replaced with it: its own spec stays the same."""
        claims = [claim.resource for claim in self.claims.values()]
        return [*claims, self.group.resource] if self.group else [*claims]


@dataclass(frozen=True, kw_only=True)
class JobArgs:
    """So many pods at once, each of which ends after `run_seconds`.

    `until` is what to wait for, as `kubectl wait --for` has it, and `wait_seconds` how long. A Job in a
    `queue` of Kueue's begins suspended.
    """

    pods: int
    pod: PodArgs
    run_seconds: int
    queue: str = ""
    until: str = ""
    wait_seconds: int = 60


def pod_labels(name: str, args: PodArgs) -> dict[str, str]:
    """Return the labels of a pod, or of a workload's pods."""
    return {"app": name} | ({GROUP_LABEL: args.group.name} if args.group else {})


def pod_spec(lesson: str, args: PodArgs) -> "PodSpecArgsDict":
    """Return the spec of a lesson's pod."""
    containers = {"worker": list(args.claims)} if args.containers is None else args.containers
    spec: PodSpecArgsDict = {
        "node_selector": {"kubernetes.io/hostname": args.node} if args.node else {LESSON_LABEL: lesson},
        "tolerations": [{"key": LESSON_LABEL, "operator": "Exists"}],
        "containers": [_container(name, uses, args.limits) for name, uses in containers.items()],
        # Nothing runs that could end gracefully.
        "termination_grace_period_seconds": 0,
    }
    if args.claims:
        spec["resource_claims"] = [_reference(name, claim) for name, claim in args.claims.items()]
    if args.group:
        spec["scheduling_group"] = {"pod_group_name": name_of(args.group.resource, args.group.name)}
    if args.more:
        spec.update(args.more)
    return spec


def job_spec(lesson: str, name: str, args: JobArgs) -> "JobSpecArgsDict":
    """Return the spec of a lesson's Job."""
    pod = pod_spec(lesson, args.pod)
    pod["restart_policy"] = "Never"
    spec: JobSpecArgsDict = {
        "parallelism": args.pods,
        "completions": args.pods,
        "template": {
            "metadata": {
                "labels": pod_labels(name, args.pod),
                "annotations": {RUN_SECONDS: str(args.run_seconds)},
            },
            "spec": pod,
        },
    }
    if args.queue:
        spec["suspend"] = True
    return spec


def _reference(name: str, claim: Claim) -> "PodResourceClaimArgsDict":
    known = name_of(claim.resource, claim.name)
    if isinstance(claim.resource, v1.ResourceClaimTemplate):
        return {"name": name, "resource_claim_template_name": known}
    return {"name": name, "resource_claim_name": known}


def _container(name: str, uses: Sequence[str], limits: Mapping[str, str]) -> "ContainerArgsDict":
    resources: ResourceRequirementsArgsDict = {}
    if uses:
        resources["claims"] = [{"name": used} for used in uses]
    if limits:
        resources["limits"] = limits
    return {
        "name": name,
        "image": "busybox:1.36",
        "command": ["sh", "-c", f"sleep {SLEEPS_SECONDS}"],
        "resources": resources,
    }
