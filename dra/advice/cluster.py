"""Advice on what the cluster's side brings: classes, slices and nodes."""

from collections import Counter
from collections.abc import Iterator

from dra import codes
from dra.advice.selectors import names_driver_first, on_selectors
from dra.advice.world import World
from dra.finding import Finding
from dra.objects import DeviceClass, Node, ResourceSlice
from dra.quantity import Quantity


def on_class(device_class: DeviceClass, world: World) -> Iterator[Finding]:
    """Yield advice on a DeviceClass."""
    yield from on_selectors(device_class.spec.selectors, "spec", world)
    if not names_driver_first(device_class.spec.selectors):
        first = device_class.spec.selectors[0].cel if device_class.spec.selectors else None
        read = "reads the devices of every driver" if first else "takes the devices of every driver"
        yield codes.UNGUARDED_CLASS.at(
            "spec.selectors[0].cel.expression" if first else "spec",
            f"The class {device_class.metadata.name!r} {read}: one of another driver that lacks a key fails "
            "the pods, and one that does not is given to them.",
            "Begin the first selector with device.driver == 'DRIVER' && ….",
        )
    yield from _same_extended_resource(device_class, world)


def _same_extended_resource(device_class: DeviceClass, world: World) -> Iterator[Finding]:
    name = device_class.spec.extended_resource_name
    others = sorted(
        {
            each.metadata.name
            for each in world.inventory.classes
            if each.spec.extended_resource_name == name and each.metadata.name != device_class.metadata.name
        }
    )
    if name and others:
        yield codes.SAME_EXTENDED_RESOURCE.at(
            "spec.extendedResourceName",
            f"{name!r} is the extended resource of {', '.join(others)} too, and the class that was created "
            "last gets all its requests.",
            "Give each class a name of its own.",
        )


def on_slice(resource_slice: ResourceSlice, world: World) -> Iterator[Finding]:
    """Yield advice on a ResourceSlice."""
    driver, pool = resource_slice.spec.driver, resource_slice.spec.pool
    every = world.pools.get((driver, pool.name), [resource_slice])
    newest = max((each.spec.pool.generation for each in every), default=pool.generation)
    slices = [each for each in every if each.spec.pool.generation == newest]
    if pool.generation != newest:
        return
    if len(slices) != pool.resource_slice_count:
        yield codes.INCOMPLETE_POOL.at(
            "spec.pool.resourceSliceCount",
            f"The pool {pool.name!r} says that it has {pool.resource_slice_count} slices and has "
            f"{len(slices)}, so the scheduler gives out none of its devices.",
            f"Write {len(slices)}, or add what is missing.",
        )
    names = Counter(device.name for each in slices for device in each.spec.devices or ())
    for index, device in enumerate(resource_slice.spec.devices or ()):
        if names[device.name] > 1:
            yield codes.DUPLICATE_DEVICE.at(
                f"spec.devices[{index}].name",
                f"The pool {pool.name!r} has {names[device.name]} devices named {device.name!r}, so the "
                "scheduler gives out none of its devices.",
                "Give each device of a pool a name of its own, over all its slices.",
            )
            return
    yield from _both_mechanisms(resource_slice.spec.node_name, driver, "spec.nodeName", world)


def on_node(node: Node, world: World) -> Iterator[Finding]:
    """Yield advice on a Node."""
    for driver in sorted(world.drivers.get(node.metadata.name, ())):
        yield from _both_mechanisms(node.metadata.name, driver, "status.allocatable", world)


def _both_mechanisms(node_name: str | None, driver: str, path: str, world: World) -> Iterator[Finding]:
    node = world.nodes.get(node_name or "")
    for resource, number in node.allocatable.items() if node else ():
        vendor, slash, _ = resource.partition("/")
        if slash and f".{driver}".endswith(f".{vendor}") and Quantity.parse(number).sign > 0:
            yield codes.BOTH_MECHANISMS.at(
                path,
                f"The node {node_name!r} has {number} {resource} to count and slices of {driver} to claim: "
                "neither knows of the other, and each GPU is given out twice.",
                "Let a node have the device plugin or the DRA driver, not both.",
            )
