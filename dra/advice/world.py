"""What advice on one object looks at beside it: the target, the devices, and the other documents."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dra.claim import DeviceSubRequest, ExactDeviceRequest, ResourceClaimSpec
from dra.device import Device
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import Node, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from dra.pool import GPU_DRIVER
from dra.product import PRODUCTS

Key = tuple[str, str]
"""The domain and the identifier of an attribute or a capacity."""
Named = tuple[str, str]
"""A namespace and a name."""


@dataclass(frozen=True, eq=False)
class World:
    """`inventory`: what is known of the cluster. `claims` and `templates`: those of the documents."""

    target: Target
    inventory: Inventory = field(default_factory=Inventory)
    claims: Mapping[Named, ResourceClaim] = field(default_factory=dict[Named, ResourceClaim])
    templates: Mapping[Named, ResourceClaimTemplate] = field(
        default_factory=dict[Named, ResourceClaimTemplate]
    )

    @cached_property
    def devices(self) -> Counter[str]:
        """How many devices each driver has."""
        return Counter(driver for driver, _ in self.every_device())

    @cached_property
    def published(self) -> Mapping[Key, Counter[str]]:
        """By attribute or capacity: how many devices of each driver have it."""
        seen: dict[Key, Counter[str]] = {}
        for driver, device in self.every_device():
            for name in (*device.attributes, *device.capacity):
                seen.setdefault(qualified(name, driver), Counter())[driver] += 1
        return seen

    @cached_property
    def sizes(self) -> Mapping[tuple[str, Key], Counter[str]]:
        """By capacity or version attribute, as (`capacity`, key): how many devices have each value.

        Where no slice is known, the memory of the products that are known takes its place.
        """
        seen: dict[tuple[str, Key], Counter[str]] = {}
        for driver, device in self.every_device():
            for name, capacity in device.capacity.items():
                seen.setdefault(("capacity", qualified(name, driver)), Counter())[capacity.value] += 1
            for name, attribute in device.attributes.items():
                if attribute.version is not None:
                    seen.setdefault(("attributes", qualified(name, driver)), Counter())[
                        attribute.version
                    ] += 1
        if not seen:
            seen["capacity", (GPU_DRIVER, "memory")] = Counter(
                product.memory for product in PRODUCTS.values()
            )
        return seen

    @cached_property
    def capacity_names(self) -> frozenset[str]:
        """The names of capacities, as the slices spell them."""
        return frozenset(name for _, device in self.every_device() for name in device.capacity)

    @cached_property
    def products(self) -> frozenset[str]:
        """The product names of the slices, and those that are known anyway."""
        published = {
            attribute.string
            for _, device in self.every_device()
            for name, attribute in device.attributes.items()
            if attribute.string is not None and name.rpartition("/")[2] == "productName"
        }
        return frozenset(published | PRODUCTS.keys())

    @cached_property
    def pools(self) -> Mapping[tuple[str, str], Sequence[ResourceSlice]]:
        """The slices of each pool, by driver and pool name."""
        found: dict[tuple[str, str], list[ResourceSlice]] = {}
        for each in self.inventory.slices:
            found.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
        return found

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by name."""
        return {node.metadata.name: node for node in self.inventory.nodes}

    @cached_property
    def drivers(self) -> Mapping[str, frozenset[str]]:
        """The drivers of the slices on each node."""
        found: dict[str, set[str]] = {}
        for each in self.inventory.slices:
            if each.spec.node_name:
                found.setdefault(each.spec.node_name, set()).add(each.spec.driver)
        return {node: frozenset(drivers) for node, drivers in found.items()}

    def every_device(self) -> Iterator[tuple[str, Device]]:
        """Yield each device with its driver."""
        for each in self.inventory.slices:
            for device in each.spec.devices or ():
                yield each.spec.driver, device


def qualified(name: str, driver: str) -> Key:
    """Return the key of a slice's attribute or capacity: a bare name is in the driver's domain."""
    domain, slash, identifier = name.rpartition("/")
    return (domain, identifier) if slash else (driver, name)


def each_request(
    spec: ResourceClaimSpec, base: str
) -> Iterator[tuple[str, str, ExactDeviceRequest | DeviceSubRequest]]:
    """Yield what a claim may ask for, with its path and name; each alternative by itself."""
    for index, request in enumerate(spec.devices.requests or ()):
        path = f"{base}.devices.requests[{index}]"
        if request.exactly is not None:
            yield f"{path}.exactly", request.name, request.exactly
        for place, alternative in enumerate(request.first_available or ()):
            yield f"{path}.firstAvailable[{place}]", f"{request.name}/{alternative.name}", alternative
