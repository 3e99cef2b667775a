"""The parts of a pod that are about claims (core/v1)."""

from collections.abc import Sequence

from dra.model import Model


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
