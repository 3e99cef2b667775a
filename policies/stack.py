"""The stack's objects as the program states them, with what a preview does not know looked up.

The engine shows a stack policy each resource's outputs, which are empty at preview while the provider cannot
be configured yet: the first preview of a stack that makes its own cluster. The inputs were shown to the
resource policies of the same process before, so those are kept.
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, TypeVar, cast

from pulumi_policy import PolicyResource, ResourceValidationArgs, StackValidationArgs

from policies.objects import KubernetesObject, objects_of, plain, put

RELEASE = "kubernetes:helm.sh/v3:Release"

_BRINGS_OBJECTS = re.compile(
    r"kubernetes:(yaml|kustomize|helm\.sh)\b.*:(ConfigGroup|ConfigFile|Directory|Chart)"
)
"""Components whose children are the objects of a file or chart."""
_REFERRED = {"resourceClaimName": "ResourceClaim", "resourceClaimTemplateName": "ResourceClaimTemplate"}

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Stack:
    """What a stack policy judges. `patches` are NodePatches, `releases` Helm Releases, as the program says.

    `hidden`: resources that stand for objects which the engine does not show.
    """

    objects: Sequence[KubernetesObject] = ()
    patches: Sequence[Mapping[str, Any]] = ()
    releases: Sequence[Mapping[str, Any]] = ()
    hidden: Sequence[KubernetesObject] = ()
    _worked_out: dict[object, Any] = field(default_factory=dict[object, Any])

    def once(self, key: object, work: Callable[[], T]) -> T:
        """Return what several policies need, worked out by the first."""
        if key not in self._worked_out:
            self._worked_out[key] = work()
        return cast("T", self._worked_out[key])

    def without(self, left_out: Container[KubernetesObject]) -> "Stack":
        """Return the stack less some objects."""
        if not left_out:
            return self
        return replace(
            self,
            objects=[item for item in self.objects if item not in left_out],
            _worked_out={},
        )


class Session:
    """What the engine has shown of a stack so far; a pack's process lives for one preview or update."""

    def __init__(self) -> None:
        self._inputs: dict[str, Mapping[str, Any]] = {}
        self._stack: tuple[Sequence[str], Stack] | None = None

    def record(self, args: ResourceValidationArgs) -> None:
        """Keep a resource's inputs."""
        self._inputs[args.urn] = args.props
        self._stack = None

    def stack(self, args: StackValidationArgs) -> Stack:
        """Return the stack, the same one for each policy that asks in turn."""
        urns = [resource.urn for resource in args.resources]
        if self._stack is None or self._stack[0] != urns:
            self._stack = (urns, self._made_of(args.resources))
        return self._stack[1]

    def _made_of(self, resources: Sequence[PolicyResource]) -> Stack:
        objects: list[KubernetesObject] = []
        patches: list[Mapping[str, Any]] = []
        releases: list[Mapping[str, Any]] = []
        for resource in resources:
            props = self._props(resource)
            if resource.resource_type == RELEASE:
                releases.append(plain(props)[0])
            elif resource.resource_type == "kubernetes:core/v1:NodePatch":
                patches.append(plain(props)[0])
            else:
                objects.extend(self._objects(resource, props))
        return Stack(
            objects=objects,
            patches=patches,
            releases=releases,
            hidden=[
                _named(resource)
                for resource in resources
                if _is_empty_group(resource, resources) or _is_opaque(resource, self._props(resource))
            ],
        )

    def _props(self, resource: PolicyResource) -> Mapping[str, Any]:
        return self._inputs.get(resource.urn, resource.props)

    def _objects(self, resource: PolicyResource, props: Mapping[str, Any]) -> Iterator[KubernetesObject]:
        for item in objects_of(
            resource.resource_type,
            props,
            resource.urn,
            delete_before_replace=resource.opts.delete_before_replace,
        ):
            if not props:  # never recorded, and an output that is still to come
                yield replace(item, unknown=["spec", "metadata"])
            elif (item.unknown or item.references) and not item.at:
                yield self._resolved(item, resource)
            else:
                yield item

    def _resolved(self, item: KubernetesObject, resource: PolicyResource) -> KubernetesObject:
        """Look unknown names up in what the properties depend on: the program says which object is meant."""
        found: dict[str, str] = {}
        if "metadata.namespace" in item.unknown:
            names = self._names(resource, "metadata", "Namespace")
            if len(names) == 1:
                found["metadata.namespace"] = names[0]
        for field_name, kind in _REFERRED.items():
            paths = [path for path in item.references if path.endswith(f".{field_name}")]
            names = self._names(resource, "spec", kind)
            if len(names) == len(paths):
                found |= dict(zip(paths, names, strict=True))
        for path, name in found.items():
            put(item.document, path, name)
        unknown = [path for path in (*item.unknown, *item.references) if path not in found]
        return replace(item, unknown=unknown, references=())

    def _names(self, resource: PolicyResource, name: str, kind: str) -> list[str]:
        """Return the names of the objects of a kind that one of the resource's properties depends on."""
        return [
            item.name
            for dependency in resource.property_dependencies.get(name, [])
            for item in objects_of(dependency.resource_type, self._props(dependency), dependency.urn)
            if item.kind == kind
        ]


def is_simulator(release: Mapping[str, Any]) -> bool:
    """Tell whether a Release is of the lab's own chart, whose objects follow from its values."""
    return PurePath(str(release.get("chart", ""))).name == "gpu-simulator"


def _is_opaque(resource: PolicyResource, props: Mapping[str, Any]) -> bool:
    return resource.resource_type == RELEASE and not is_simulator(plain(props)[0])


def _is_empty_group(resource: PolicyResource, resources: Sequence[PolicyResource]) -> bool:
    return _BRINGS_OBJECTS.match(resource.resource_type) is not None and not any(
        other.parent is resource for other in resources
    )


def _named(resource: PolicyResource) -> KubernetesObject:
    kind = resource.resource_type.rpartition(":")[2]
    return KubernetesObject(urn=resource.urn, document={"kind": kind, "metadata": {"name": resource.name}})
