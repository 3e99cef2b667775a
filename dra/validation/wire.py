"""The objects as a document has them: every field that the API knows, so that the others can be told.

Fields that the checker has no use for stand in a class's `unread`, by name. The classes are named as in Go,
as the API server's answers name them. Source: `k8s.io/api`, Kubernetes 1.37.2.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from dra.claim import DeviceClassSpec, DeviceToleration, QuantityText, ResourceClaimSpec
from dra.device import DeviceTaintRuleSpec, NodeSelector, ResourceSliceSpec, TimeText
from dra.model import Model

Int32 = Annotated[int, "int32"]


class Wire(Model):
    """A struct of the API of which we read a part."""

    unread: ClassVar[frozenset[str]] = frozenset()
    """Fields that exist and are not looked into. `*`: there are more of them than we care to know."""


class OwnerReference(Wire):
    """Who an object belongs to."""

    unread = frozenset({"blockOwnerDeletion"})

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Wire):
    """`metadata` of any object."""

    unread = frozenset({"managedFields"})

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    self_link: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: TimeText | None = None
    deletion_timestamp: TimeText | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    owner_references: Sequence[OwnerReference] | None = None
    finalizers: Sequence[str] = ()


class DeviceRequestAllocationResult(Model):
    """One device of an allocation."""

    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool | None = None
    tolerations: Sequence[DeviceToleration] | None = None
    binding_conditions: Sequence[str] | None = None
    binding_failure_conditions: Sequence[str] | None = None
    share_id: Annotated[str | None, Field(alias="shareID")] = None
    consumed_capacity: Mapping[str, QuantityText] | None = None
    skip_node_operations: Sequence[str] | None = None


class DeviceAllocationResult(Wire):
    """The devices of an allocation."""

    unread = frozenset({"config"})

    results: Sequence[DeviceRequestAllocationResult] | None = None


class AllocationResult(Wire):
    """What the scheduler has given to a claim."""

    unread = frozenset({"allocationTimestamp"})

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None


class ResourceClaimStatus(Wire):
    """What has become of a claim."""

    unread = frozenset({"reservedFor", "devices"})

    allocation: AllocationResult | None = None


class Document(Wire):
    """What every object has."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


class ResourceClaim(Document):
    """A claim."""

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Wire):
    """What claims are made from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Document):
    """A template of claims."""

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class DeviceClass(Document):
    """A kind of device."""

    spec: DeviceClassSpec = DeviceClassSpec()


class ResourceSlice(Document):
    """Devices of one driver."""

    spec: ResourceSliceSpec


class DeviceTaintRuleStatus(Wire):
    """What has become of a taint rule."""

    unread = frozenset({"conditions"})


class DeviceTaintRule(Document):
    """A taint set from outside the driver."""

    spec: DeviceTaintRuleSpec
    status: DeviceTaintRuleStatus = DeviceTaintRuleStatus()


class PodResourceClaim(Model):
    """A claim of a pod. The API server shows this struct in its answers."""

    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class ContainerClaim(Model):
    """A container's use of a claim (Go calls this one ResourceClaim too)."""

    name: str
    request: str = ""


class ResourceRequirements(Model):
    """What a container asks for."""

    limits: Mapping[str, QuantityText] | None = None
    requests: Mapping[str, QuantityText] | None = None
    claims: Sequence[ContainerClaim] | None = None


class Container(Wire):
    """A container of a pod."""

    unread = frozenset(
        [
            "image", "command", "args", "workingDir", "ports", "envFrom", "env", "resizePolicy",
            "restartPolicy", "restartPolicyRules", "volumeMounts", "volumeDevices", "livenessProbe",
            "readinessProbe", "startupProbe", "lifecycle", "terminationMessagePath",
            "terminationMessagePolicy", "imagePullPolicy", "securityContext", "stdin", "stdinOnce", "tty",
        ]
    )  # fmt: skip

    name: str = ""
    resources: ResourceRequirements = ResourceRequirements()


class PodSpec(Wire):
    """A pod."""

    unread = frozenset(
        [
            "volumes", "ephemeralContainers", "restartPolicy", "terminationGracePeriodSeconds",
            "activeDeadlineSeconds", "dnsPolicy", "serviceAccountName", "serviceAccount",
            "automountServiceAccountToken", "hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace",
            "securityContext", "imagePullSecrets", "hostname", "subdomain", "affinity", "schedulerName",
            "tolerations", "hostAliases", "priorityClassName", "priority", "dnsConfig", "readinessGates",
            "runtimeClassName", "enableServiceLinks", "preemptionPolicy", "overhead",
            "topologySpreadConstraints", "setHostnameAsFQDN", "os", "hostUsers", "schedulingGates",
            "hostnameOverride", "schedulingGroup", "evictionResponders",
        ]
    )  # fmt: skip

    init_containers: Sequence[Container] | None = None
    containers: Sequence[Container] | None = None
    node_selector: Mapping[str, str] = {}
    node_name: str = ""
    resource_claims: Sequence[PodResourceClaim] | None = None
    resources: ResourceRequirements | None = None


class Pod(Document):
    """A pod."""

    unread = frozenset({"status"})

    spec: PodSpec = PodSpec()


class PodTemplateSpec(Wire):
    """What pods are made from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class ReplicatedSpec(Wire):
    """The spec of what keeps a number of pods running; `*`, as its other fields say nothing of claims."""

    unread = frozenset({"*"})

    replicas: Int32 | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class Replicated(Document):
    """A Deployment, StatefulSet, ReplicaSet, DaemonSet or ReplicationController."""

    unread = frozenset({"status"})

    spec: ReplicatedSpec = ReplicatedSpec()


class JobSpec(Wire):
    """The spec of a job."""

    unread = frozenset({"*"})

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class Job(Document):
    """A job."""

    unread = frozenset({"status"})

    spec: JobSpec = JobSpec()


class JobTemplateSpec(Wire):
    """What jobs are made from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Wire):
    """The spec of a job that comes back."""

    unread = frozenset({"*"})

    job_template: JobTemplateSpec = JobTemplateSpec()


class CronJob(Document):
    """A job that comes back."""

    unread = frozenset({"status"})

    spec: CronJobSpec = CronJobSpec()


class NodeSpec(Wire):
    """A node's spec."""

    unread = frozenset({"*"})

    unschedulable: bool = False


class NodeStatus(Wire):
    """A node's status."""

    unread = frozenset({"*"})

    allocatable: Mapping[str, QuantityText] = {}


class Node(Document):
    """A node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(Document):
    """A namespace, for its labels."""

    unread = frozenset({"spec", "status"})
