"""Gangs: pods that run together or not at all, and a claim that is the group's."""

from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes.scheduling.v1beta1 import PodGroup

from components.expectation import ClaimOutcome, ClaimRef, ClaimsCompared, ClaimState, FieldSeen, PodsFit
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.options import name_of
from components.pods import Claim, Group, PodArgs

if TYPE_CHECKING:
    from pulumi_kubernetes.scheduling.v1beta1 import PodGroupSpecArgsDict

PRODUCT = "NVIDIA L40S"
INITIALLY_SCHEDULED = ["status", "conditions", "type=PodGroupInitiallyScheduled", "reason"]


class Gang(Lesson):
    """Three pods on two GPUs, without a group and with one; a gang that fits; and a gang with one claim.

    Gangs are KEP-4671 (gate GenericWorkload), and claims of a PodGroup KEP-5729 (gate
    DRAWorkloadResourceClaims). Both are beta and off in 1.37; control_plane/configuration.py turns them on.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Gang", name, opts)
        single, ganged, sharing = (self.node(f"gang-{node}") for node in ("single", "ganged", "sharing"))
        for node, count in {single: 2, ganged: 2, sharing: 1}.items():
            self.gpus(node, PRODUCT, count)
        template = self.template("one-gpu", gpus())
        each = {"gpu": template}
        self.deployment("single", 3, PodArgs(claims=each, node=single))
        for group, pods in {"too-many": 3, "fitting": 2}.items():
            made = self._group(group, pods)
            self.deployment(group, pods, PodArgs(claims=each, node=ganged, group=made))
        made = self._group("sharing", 2, template)
        for pod in ("sharing-a", "sharing-b"):
            self.pod(pod, PodArgs(claims=each, node=sharing, group=made))
        self.expectations = [*_of_gangs(name), *_of_a_group_s_claim(name)]
        self.register_outputs({"placed": self.placed})

    def _group(self, name: str, pods: int, claim: Claim | None = None) -> Group:
        """Make a gang of so many pods, with a claim that is made for all of them."""
        spec: PodGroupSpecArgsDict = {"scheduling_policy": {"gang": {"min_count": pods}}}
        if claim:
            spec["resource_claims"] = [
                {"name": "gpu", "resource_claim_template_name": name_of(claim.resource, claim.name)}
            ]
        made = PodGroup(
            f"{self.lesson}-{name}-group",
            metadata={"name": name, "namespace": self.namespace},
            spec=spec,
            opts=self._child(replace_on=["spec"]),
        )
        return Group(name, self._keep(made))


def _of_gangs(namespace: str) -> list[PodsFit | FieldSeen]:
    return [
        PodsFit(
            step="three pods that need one another, and no group",
            namespace=namespace,
            label="app=single",
            running=2,
            pending=1,
            reason="cannot allocate all claims",
        ),
        PodsFit(
            step="three pods as a gang",
            namespace=namespace,
            label="app=too-many",
            running=0,
            pending=3,
            reason="minCount (3) cannot be satisfied",
        ),
        _scheduled("what is said of that gang", namespace, "too-many", "Unschedulable"),
        PodsFit(
            step="a gang of two, on the same GPUs",
            namespace=namespace,
            label="app=fitting",
            running=2,
            pending=0,
        ),
        _scheduled("what is said of this gang", namespace, "fitting", "Scheduled"),
    ]


def _of_a_group_s_claim(namespace: str) -> list[ClaimOutcome | ClaimsCompared | FieldSeen]:
    return [
        ClaimOutcome(
            step="a claim of a group",
            namespace=namespace,
            name="gpu",
            pod="sharing-a",
            state=ClaimState.ALLOCATED,
            devices=1,
            reserved_for=["sharing"],
        ),
        ClaimsCompared(
            step="the other pod of the group",
            namespace=namespace,
            claims=[ClaimRef(name="gpu", pod="sharing-a"), ClaimRef(name="gpu", pod="sharing-b")],
            devices="the same",
        ),
        _scheduled("both of them", namespace, "sharing", "Scheduled"),
    ]


def _scheduled(step: str, namespace: str, group: str, reason: str) -> FieldSeen:
    return FieldSeen(
        step=step,
        api_version="scheduling.k8s.io/v1beta1",
        object_kind="PodGroup",
        namespace=namespace,
        name=group,
        path=INITIALLY_SCHEDULED,
        value=reason,
    )
