"""DeviceClasses, ResourceClaims, ResourceClaimTemplates and their consumers, from typed specs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes.core.v1 import Pod
from pulumi_kubernetes.resource import v1

from components.options import child_of, name_of
from dra.claim import DeviceClassSpec, ResourceClaimSpec

if TYPE_CHECKING:
    from pulumi_kubernetes.core.v1 import PodResourceClaimArgsDict


@dataclass(frozen=True, kw_only=True)
class DeviceClassArgs:
    """`class_name` is what claims refer to."""

    class_name: str
    spec: DeviceClassSpec


@dataclass(frozen=True, kw_only=True)
class ResourceClaimArgs:
    """A claim, or a template for claims, of this name in a namespace."""

    claim_name: str
    namespace: pulumi.Input[str]
    spec: ResourceClaimSpec


@dataclass(frozen=True, kw_only=True)
class ClaimConsumerArgs:
    """A pod that uses a claim or, given a template, gets a claim of its own."""

    pod_name: str
    namespace: pulumi.Input[str]
    claim: "ResourceClaim | ResourceClaimTemplate"


def _child(
    parent: pulumi.Resource, opts: pulumi.ResourceOptions | None, replace_on: Sequence[str] = ()
) -> pulumi.ResourceOptions:
    # The names are fixed, so the old object has to go before the new one can come.
    fixed = pulumi.ResourceOptions(replace_on_changes=list(replace_on), delete_before_replace=True)
    return child_of(parent, opts, fixed)


class DeviceClass(pulumi.ComponentResource):
    """A kind of device that claims may ask for."""

    name: pulumi.Output[str]
    """The class's name."""

    def __init__(self, name: str, args: DeviceClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:claims:DeviceClass", name, {}, opts)
        made = v1.DeviceClass(
            name,
            metadata={"name": args.class_name},
            spec=args.spec.document(),  # pyright: ignore[reportArgumentType] - the SDK takes the API's spelling
            opts=_child(self, opts),
        )
        self.name = made.metadata.name
        self.register_outputs({"name": self.name})


class ResourceClaim(pulumi.ComponentResource):
    """A claim. Its spec is immutable in the API, so a changed one is replaced, with what uses it."""

    name: pulumi.Output[str]
    """The claim's name."""
    claim_name: str
    """The same as it is known beforehand, for a consumer."""
    resource: v1.ResourceClaim
    """The claim itself, that a consumer depends on."""

    def __init__(
        self, name: str, args: ResourceClaimArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpulab:claims:ResourceClaim", name, {}, opts)
        self.claim_name = args.claim_name
        self.resource = v1.ResourceClaim(
            name,
            metadata={"name": args.claim_name, "namespace": args.namespace},
            spec=args.spec.document(),  # pyright: ignore[reportArgumentType] - the SDK takes the API's spelling
            opts=_child(self, opts, ["spec"]),
        )
        self.name = self.resource.metadata.name
        self.register_outputs({"name": self.name})


class ResourceClaimTemplate(pulumi.ComponentResource):
    """A template: each pod that names it gets a claim of its own."""

    name: pulumi.Output[str]
    """The template's name."""
    claim_name: str
    """The same as it is known beforehand, for a consumer."""
    resource: v1.ResourceClaimTemplate
    """The template itself, that a consumer depends on."""

    def __init__(
        self, name: str, args: ResourceClaimArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpulab:claims:ResourceClaimTemplate", name, {}, opts)
        self.claim_name = args.claim_name
        self.resource = v1.ResourceClaimTemplate(
            name,
            metadata={"name": args.claim_name, "namespace": args.namespace},
            spec={"spec": args.spec.document()},  # pyright: ignore[reportArgumentType] - as above
            opts=_child(self, opts, ["spec"]),
        )
        self.name = self.resource.metadata.name
        self.register_outputs({"name": self.name})


class ClaimConsumer(pulumi.ComponentResource):
    """A pod that uses a claim: without one no claim is ever allocated, under any driver."""

    name: pulumi.Output[str]
    """The pod's name."""

    def __init__(
        self, name: str, args: ClaimConsumerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpulab:claims:ClaimConsumer", name, {}, opts)
        claim = name_of(args.claim.resource, args.claim.claim_name)
        reference: PodResourceClaimArgsDict = (
            {"name": "device", "resource_claim_template_name": claim}
            if isinstance(args.claim, ResourceClaimTemplate)
            else {"name": "device", "resource_claim_name": claim}
        )
        pod = Pod(
            name,
            metadata={
                "name": args.pod_name,
                "namespace": args.namespace,
                # A pod that is to stay pending is a result too: the lab observes it.
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            spec={
                "containers": [
                    {
                        "name": "worker",
                        "image": "busybox:1.36",
                        "command": ["sh", "-c", "sleep 300"],
                        "resources": {"claims": [{"name": "device"}]},
                    }
                ],
                "resource_claims": [reference],
                # Nothing runs that could end gracefully.
                "termination_grace_period_seconds": 0,
            },
            opts=_child(self, opts),
        )
        self.name = pod.metadata.name
        self.register_outputs({"name": self.name})
