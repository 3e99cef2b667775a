"""The parts of a pod that are about claims (core/v1)."""

from collections.abc import Mapping, Sequence

from dra.model import Model

POD_AT: Mapping[str, Sequence[str]] = {
    "Pod": (),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    **dict.fromkeys(
        ("DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"),
        ("spec", "template"),
    ),
}
"""Where the pod stands in a Pod and in what makes pods."""


def pod_spec_path(kind: str) -> str:
    """Return the path of the pods' spec in an object of a kind of `POD_AT`."""
    return ".".join((*POD_AT[kind], "spec"))


class PodResourceClaim(Model):
    """A claim of a pod: one that is there, or one made for the pod from a template."""

    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class ContainerClaim(Model):
    """A container's use of one of its pod's claims, of all its requests or of one."""

    name: str
    request: str | None = None


class PodClaims(Model):
    """What a pod says about claims: its own list, and each container's by the container's name."""

    resource_claims: Sequence[PodResourceClaim] = ()
    containers: Sequence[tuple[str, Sequence[ContainerClaim]]] = ()
