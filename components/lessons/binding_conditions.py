"""Binding conditions: GPUs that have to be attached to the node before a pod may go there."""

from collections.abc import Mapping
from typing import Any

import pulumi

from components.expectation import ClaimOutcome, ClaimState, FieldSeen, PodsFit
from components.lesson import Lesson
from components.lessons.requests import gpus
from components.pods import PodArgs
from components.stages import WEIGHT
from dra.pool import GpuPool

ATTACHED = "fabric.gpulab.dev/attached"
FAILED = "fabric.gpulab.dev/failed"
TRIED = "gpulab.dev/tried"
"""The annotation by which the fabric's controller, a Stage here, knows a claim that it has failed once."""


class BindingConditions(Lesson):
    """A node with four GPUs of a fabric: one is attached, one fails at first, and one is never attached."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:BindingConditions", name, opts)
        node = self.node("binding-conditions-node")
        conditions = {
            "binds_to_node": True,
            "binding_conditions": [ATTACHED],
            "binding_failure_conditions": [FAILED],
        }
        whole = GpuPool(name="gpus", product="NVIDIA L40S", count=4, nodes=[node]).devices()
        self.devices(node, [gpu.model_copy(update=conditions) for gpu in whole])
        claims = {what: self.claim(what, gpus()) for what in ("attached", "retried", "waiting")}
        stages = [self.stage(f"{name}-{does}", spec) for does, spec in controller(name).items()]
        for what, claim in claims.items():
            self.pod(what, PodArgs(claims={"gpu": claim}), after=stages)
        self.expectations = [
            PodsFit(
                step="a GPU that is attached", namespace=name, label="app=attached", running=1, pending=0
            ),
            _condition(name, "its claim says so", "attached", ATTACHED),
            PodsFit(
                step="one that cannot be attached at first",
                namespace=name,
                label="app=retried",
                running=1,
                pending=0,
            ),
            FieldSeen(
                step="it has been tried before",
                api_version="resource.k8s.io/v1",
                object_kind="ResourceClaim",
                namespace=name,
                name="retried",
                path=["metadata", "annotations", TRIED],
                value="true",
            ),
            ClaimOutcome(
                step="one that nobody attaches",
                namespace=name,
                name="waiting",
                state=ClaimState.ALLOCATED,
                devices=1,
                reserved_for=["waiting"],
            ),
            *[
                FieldSeen(
                    step=step,
                    api_version="v1",
                    object_kind="Pod",
                    namespace=name,
                    name="waiting",
                    path=path,
                    value=value,
                )
                for step, path, value in (
                    ("where its pod is to go", ["status", "nominatedNodeName"], node),
                    ("where it is", ["spec", "nodeName"], "nothing"),
                )
            ],
        ]
        self.register_outputs({"placed": self.placed})


def controller(namespace: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the specs of the Stages that stand for the fabric's controller, by name.

    What they say of a device is gone when the scheduler takes it back, so then they are asked again; that an
    attempt failed is kept at the claim.
    """
    tried = f'.metadata.annotations["{TRIED}"] == "true"'
    unsaid = ".status.allocation != null and .status.devices == null"
    seen_failed = f'any(.status.devices[]?.conditions[]?; .type == "{FAILED}")'
    return {
        "attach": _stage(
            namespace, f'{unsaid} and (.metadata.name == "attached" or {tried})', _saying(ATTACHED)
        ),
        "fail": _stage(
            namespace, f'{unsaid} and .metadata.name == "retried" and ({tried} | not)', _saying(FAILED)
        ),
        "remember": _stage(
            namespace,
            f"{seen_failed} and ({tried} | not)",
            {"type": "merge", "root": "metadata", "template": f'annotations: {{{TRIED}: "true"}}'},
        ),
    }


def _stage(namespace: str, when: str, patch: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec of the Stage that patches the namespace's claims for which a jq expression holds."""
    here = f'.metadata.namespace == "{namespace}" and {when}'
    return {
        "resourceRef": {"apiGroup": "resource.k8s.io/v1", "kind": "ResourceClaim"},
        "weight": WEIGHT,
        "selector": {"matchExpressions": [{"jq": {"key": here, "operator": "In", "values": ["true"]}}]},
        "steps": [{"patch": patch}],
    }


def _saying(condition: str) -> Mapping[str, Any]:
    """Return the patch by which each device of a claim gets a condition."""
    template = f"""devices:
{{{{ range .status.allocation.devices.results }}}}
- driver: {{{{ .driver }}}}
  pool: {{{{ .pool }}}}
  device: {{{{ .device }}}}
  conditions:
  - type: {condition}
    status: "True"
    reason: Simulated
    message: ""
    lastTransitionTime: {{{{ Now | quote }}}}
{{{{ end }}}}
"""
    return {"type": "merge", "subresource": "status", "root": "status", "template": template}


def _condition(namespace: str, step: str, claim: str, condition: str) -> FieldSeen:
    return FieldSeen(
        step=step,
        api_version="resource.k8s.io/v1",
        object_kind="ResourceClaim",
        namespace=namespace,
        name=claim,
        path=["status", "devices", f"pool={namespace}-node", "conditions", f"type={condition}", "status"],
        value="True",
    )
