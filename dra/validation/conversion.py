"""Decoded documents as the objects that the rest of this package works with."""

from collections.abc import Iterator, Mapping

from dra import objects
from dra.claim import CapacityRequirements
from dra.pod import ContainerClaim, PodClaims, PodResourceClaim
from dra.validation import wire

_DEFAULT_NAMESPACE = "default"


def claim(document: wire.ResourceClaim) -> objects.ResourceClaim:
    """Return a claim, with the devices that it holds already."""
    allocation = document.status.allocation
    return objects.ResourceClaim(
        metadata=_metadata(document.metadata),
        spec=document.spec,
        allocated=None
        if allocation is None
        else [_device(item) for item in allocation.devices.results or ()],
        allocated_nodes=allocation.node_selector if allocation else None,
    )


def template(document: wire.ResourceClaimTemplate) -> objects.ResourceClaimTemplate:
    """Return a template of claims."""
    return objects.ResourceClaimTemplate(
        metadata=_metadata(document.metadata),
        spec=document.spec.spec,
        claim_metadata=_metadata(document.spec.metadata),
    )


def device_class(document: wire.DeviceClass) -> objects.DeviceClass:
    """Return a class."""
    return objects.DeviceClass(metadata=_metadata(document.metadata), spec=document.spec)


def resource_slice(document: wire.ResourceSlice) -> objects.ResourceSlice:
    """Return a slice."""
    return objects.ResourceSlice(metadata=_metadata(document.metadata), spec=document.spec)


def taint_rule(document: wire.DeviceTaintRule) -> objects.DeviceTaintRule:
    """Return a taint rule."""
    return objects.DeviceTaintRule(metadata=_metadata(document.metadata), spec=document.spec)


def pod(document: wire.Pod) -> objects.Workload:
    """Return a pod."""
    return _workload(document, document.spec, 1)


def replicated(document: wire.Replicated) -> objects.Workload:
    """Return what keeps pods running; a DaemonSet counts as one, as its number is the cluster's to know."""
    replicas = document.spec.replicas
    return _workload(document, document.spec.template.spec, 1 if replicas is None else replicas)


def job(document: wire.Job) -> objects.Workload:
    """Return a job, with the pods that it runs at a time."""
    return _workload(document, document.spec.template.spec, _at_a_time(document.spec))


def cron_job(document: wire.CronJob) -> objects.Workload:
    """Return a job that comes back, with the pods that one of its runs has at a time."""
    spec = document.spec.job_template.spec
    return _workload(document, spec.template.spec, _at_a_time(spec))


def node(document: wire.Node) -> objects.Node:
    """Return a node."""
    return objects.Node(
        metadata=_metadata(document.metadata),
        allocatable=document.status.allocatable,
        unschedulable=document.spec.unschedulable,
    )


def namespace(document: wire.Namespace) -> objects.Namespace:
    """Return a namespace."""
    return objects.Namespace(metadata=_metadata(document.metadata))


def _metadata(meta: wire.ObjectMeta) -> objects.ObjectMeta:
    return objects.ObjectMeta(
        name=meta.name,
        generate_name=meta.generate_name,
        namespace=meta.namespace or _DEFAULT_NAMESPACE,
        labels=meta.labels,
        annotations=meta.annotations,
    )


def _device(result: wire.DeviceRequestAllocationResult) -> objects.AllocatedDevice:
    return objects.AllocatedDevice(
        request=result.request,
        driver=result.driver,
        pool=result.pool,
        device=result.device,
        admin_access=bool(result.admin_access),
        share_id=result.share_id,
        consumed_capacity=result.consumed_capacity or {},
    )


def _workload(document: wire.Document, spec: wire.PodSpec, replicas: int) -> objects.Workload:
    return objects.Workload(
        kind=document.kind,
        metadata=_metadata(document.metadata),
        claims=PodClaims(
            resource_claims=[PodResourceClaim(**dict(reference)) for reference in spec.resource_claims or ()],
            containers=[
                (container.name, [_use(use) for use in container.resources.claims or ()])
                for container in _containers(spec)
            ],
        ),
        replicas=replicas,
        node_selector=spec.node_selector,
        node_name=spec.node_name or None,
        requests=_amounts(spec, "requests"),
        limits=_amounts(spec, "limits"),
    )


def _use(use: wire.ContainerClaim) -> ContainerClaim:
    return ContainerClaim(name=use.name, request=use.request or None)


def _containers(spec: wire.PodSpec) -> Iterator[wire.Container]:
    yield from spec.init_containers or ()
    yield from spec.containers or ()


def _amounts(spec: wire.PodSpec, field: str) -> Mapping[str, CapacityRequirements]:
    amounts = {container.name: getattr(container.resources, field) for container in _containers(spec)}
    return {name: CapacityRequirements(requests=given) for name, given in amounts.items() if given}


def _at_a_time(spec: wire.JobSpec) -> int:
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)
