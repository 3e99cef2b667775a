"""Which parts of which objects the policies look at."""

from collections.abc import Sequence

from dra.pod import POD_AT, pod_spec_path
from policies.objects import KubernetesObject

DRA_GROUP = "resource.k8s.io"
CLAIM_KINDS = ("ResourceClaim", "ResourceClaimTemplate")


def dra_objects(item: KubernetesObject) -> Sequence[str] | None:
    """Return what is judged of an object of the DRA API."""
    return ["spec"] if item.group == DRA_GROUP else None


def claims(item: KubernetesObject) -> Sequence[str] | None:
    """Return what is judged of a claim or a template for claims."""
    return ["spec"] if item.group == DRA_GROUP and item.kind in CLAIM_KINDS else None


def workloads(item: KubernetesObject) -> Sequence[str] | None:
    """Return what is judged of what runs pods: their claims, and what their containers ask for."""
    pod = pod_spec_path(item.kind) if item.kind in POD_AT else None
    if pod is None or item.group == DRA_GROUP:
        return None
    asks = [f"{pod}.{containers}.resources" for containers in ("containers", "initContainers")]
    return ["spec.replicas", f"{pod}.resourceClaims", *asks]


def claims_and_workloads(item: KubernetesObject) -> Sequence[str] | None:
    """Return what is judged of both."""
    return claims(item) or workloads(item)


def dra_objects_and_workloads(item: KubernetesObject) -> Sequence[str] | None:
    """Return what is judged of all that the checker reads."""
    return dra_objects(item) or workloads(item)


def supply(item: KubernetesObject) -> Sequence[str] | None:
    """Return what is judged of what a cluster has: devices, classes, taint rules, nodes."""
    if item.kind == "Node" and not item.group:
        return ["metadata.labels", "status"]
    return None if claims(item) else dra_objects(item)


def everything(item: KubernetesObject) -> Sequence[str] | None:
    """Return what decides an allocation: what the cluster has, and what is asked of it."""
    return supply(item) or claims_and_workloads(item)
