"""The objects that the checker reads, each a kind with its metadata, spec and what matters of its status."""

from collections.abc import Mapping, Sequence

from dra.claim import CapacityRequirements, DeviceClassSpec, ResourceClaimSpec
from dra.device import DeviceTaintRuleSpec, NodeSelector, ResourceSliceSpec
from dra.model import Model
from dra.pod import PodClaims


class ObjectMeta(Model):
    """Whose object it is. `name` is empty where the API server makes one up from `generate_name`."""

    name: str = ""
    generate_name: str = ""
    namespace: str = "default"
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class AllocatedDevice(Model):
    """One device of an allocation (`status.allocation.devices.results[]`), by driver, pool and name."""

    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool = False
    share_id: str | None = None
    consumed_capacity: Mapping[str, str] = {}


class ResourceClaim(Model):
    """A claim. `allocated` is None until the scheduler has allocated it; then the devices it holds."""

    metadata: ObjectMeta
    spec: ResourceClaimSpec
    allocated: Sequence[AllocatedDevice] | None = None
    allocated_nodes: NodeSelector | None = None
    """The nodes that can use an allocated claim; None for all of them."""


class ResourceClaimTemplate(Model):
    """What claims are made from, one for each pod that names it. `claim_metadata`: their labels and so on."""

    metadata: ObjectMeta
    spec: ResourceClaimSpec
    claim_metadata: ObjectMeta = ObjectMeta()


class DeviceClass(Model):
    """A kind of device, for the whole cluster."""

    metadata: ObjectMeta
    spec: DeviceClassSpec = DeviceClassSpec()


class ResourceSlice(Model):
    """Devices of one driver."""

    metadata: ObjectMeta
    spec: ResourceSliceSpec


class DeviceTaintRule(Model):
    """A taint set from outside the driver."""

    metadata: ObjectMeta
    spec: DeviceTaintRuleSpec


class Node(Model):
    """A node as the scheduler sees it. `allocatable` holds quantities, extended resources among them."""

    metadata: ObjectMeta
    allocatable: Mapping[str, str] = {}
    unschedulable: bool = False


class Namespace(Model):
    """A namespace, for its labels."""

    metadata: ObjectMeta


class Workload(Model):
    """A Pod, or what makes pods (`kind`: Deployment, StatefulSet, Job …), `replicas` of them.

    `requests` and `limits` are each container's, by the container's name.
    """

    kind: str
    metadata: ObjectMeta
    claims: PodClaims = PodClaims()
    replicas: int = 1
    node_selector: Mapping[str, str] = {}
    node_name: str | None = None
    requests: Mapping[str, CapacityRequirements] = {}
    limits: Mapping[str, CapacityRequirements] = {}


DraObject = (
    ResourceClaim
    | ResourceClaimTemplate
    | DeviceClass
    | ResourceSlice
    | DeviceTaintRule
    | Node
    | Namespace
    | Workload
)
