"""What a lesson is made of: a namespace, nodes and devices of its own, its objects, what they come to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.batch.v1 import Job
from pulumi_kubernetes.core.v1 import Namespace, Node, Pod
from pulumi_kubernetes.policy.v1 import PodDisruptionBudget
from pulumi_kubernetes.resource import v1

from components.expectation import Expectation
from components.options import child_of
from components.pods import LESSON_LABEL, Claim, JobArgs, PodArgs, job_spec, pod_labels, pod_spec
from components.stages import counted_gpus
from dra.claim import DeviceClassSpec, ResourceClaimSpec
from dra.device import Device, DeviceTaintRuleSpec, ResourcePool, ResourceSliceSpec
from dra.pool import GPU_DRIVER, GPU_RESOURCE, GpuPool, Mechanism

if TYPE_CHECKING:
    from pulumi_kubernetes.meta.v1 import ObjectMetaArgsDict

_Made = TypeVar("_Made", bound=pulumi.CustomResource)


class Lesson(pulumi.ComponentResource):
    """The base of the lessons. All that it makes has the name that is given; slices have the lesson's too."""

    expectations: Sequence[Expectation] = ()
    """What the lab should see."""
    namespace: pulumi.Output[str]
    """The lesson's namespace; it has the lesson's name."""

    def __init__(
        self,
        token: str,
        name: str,
        opts: pulumi.ResourceOptions | None = None,
        *,
        namespace_labels: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(token, name, {}, opts)
        self._opts = opts
        self._placed: list[pulumi.Output[str]] = []
        self.lesson = name
        self.namespace = self._keep(
            Namespace(
                f"{name}-namespace",
                metadata={"name": name, "labels": namespace_labels} if namespace_labels else {"name": name},
                opts=child_of(self, opts),
            )
        ).metadata.name

    @property
    def placed(self) -> pulumi.Output[Sequence[str]]:
        """All that was made, by id; known when it was."""
        return pulumi.Output.all(*self._placed)

    def node(self, name: str, *, counted: int = 0) -> str:
        """Make a node for this lesson's pods alone, and return its name.

        `counted` GPUs stand in its status, as a device plugin would have them there.
        """
        annotations = {"kwok.x-k8s.io/node": "fake"}
        stages: list[pulumi.Resource] = []
        if counted:
            annotations["pulumi.com/waitFor"] = (
                f"jsonpath={{.status.allocatable['{GPU_RESOURCE}']}}={counted}"
            )
            stages = [self.stage(name, counted_gpus(name, counted))]
        self._keep(
            Node(
                f"{self.lesson}-{name}",
                metadata={
                    "name": name,
                    "annotations": annotations,
                    "labels": {"kubernetes.io/hostname": name, LESSON_LABEL: self.lesson},
                },
                spec={"taints": [{"key": LESSON_LABEL, "value": self.lesson, "effect": "NoSchedule"}]},
                opts=self._child(stages, wait="1m" if counted else ""),
            )
        )
        return name

    def stage(self, name: str, spec: Mapping[str, Any]) -> CustomResource:
        """Make a KWOK Stage: what happens to objects that match. It is for the whole cluster."""
        return self._keep(
            CustomResource(
                f"{self.lesson}-{name}-stage",
                api_version="kwok.x-k8s.io/v1alpha1",
                kind="Stage",
                metadata={"name": name},
                spec=spec,
                opts=self._child(),
            )
        )

    def gpus(self, node: str, product: str, count: int, *, numa_nodes: int = 1) -> None:
        """Publish GPUs of a node as NVIDIA's DRA driver does."""
        pool = GpuPool(
            name="gpus",
            product=product,
            count=count,
            numa_nodes=numa_nodes,
            mechanism=Mechanism.CLAIMED,
            nodes=[node],
        )
        self.devices(node, pool.devices())

    def devices(self, node: str, devices: Sequence[Device], driver: str = GPU_DRIVER) -> None:
        """Publish devices of a node in one slice, the only one of the driver's pool for this node."""
        self.slice(
            node if driver == GPU_DRIVER else f"{node}-{driver}",
            ResourceSliceSpec(
                driver=driver,
                node_name=node,
                pool=ResourcePool(name=node, resource_slice_count=1),
                devices=devices,
            ),
        )

    def slice(
        self, name: str, spec: ResourceSliceSpec, *, after: Sequence[pulumi.Resource] = ()
    ) -> v1.ResourceSlice:
        """Publish a slice as it is written."""
        document = spec.document()
        if spec.devices:
            # The API server leaves empty maps out, and Pulumi would replace the slice at each `up` for it.
            document["devices"] = [
                {key: value for key, value in device.items() if value != {}} for device in document["devices"]
            ]
        return self._keep(
            v1.ResourceSlice(
                f"{self.lesson}-{name}-slice",
                metadata={"name": name},
                spec=document,  # pyright: ignore[reportArgumentType] - the SDK takes the API's spelling
                opts=self._child(after, replace_on=["spec"]),
            )
        )

    def device_class(self, name: str, spec: DeviceClassSpec) -> v1.DeviceClass:
        """Make a DeviceClass; it is for the whole cluster, so its name must be this lesson's alone."""
        return self._keep(
            v1.DeviceClass(
                f"{self.lesson}-{name}-class",
                metadata={"name": name},
                spec=spec.document(),  # pyright: ignore[reportArgumentType] - as above
                opts=self._child(),
            )
        )

    def taint_rule(
        self, name: str, spec: DeviceTaintRuleSpec, *, after: Sequence[pulumi.Resource] = ()
    ) -> v1.DeviceTaintRule:
        """Make a DeviceTaintRule; it is for the whole cluster, so it should name this lesson's pool."""
        return self._keep(
            v1.DeviceTaintRule(
                f"{self.lesson}-{name}-rule",
                metadata={"name": name},
                spec=spec.document(),  # pyright: ignore[reportArgumentType] - as above
                opts=self._child(after),
            )
        )

    def claim(self, name: str, spec: ResourceClaimSpec, *, after: Sequence[pulumi.Resource] = ()) -> Claim:
        """Make a claim."""
        made = v1.ResourceClaim(
            f"{self.lesson}-{name}",
            metadata={"name": name, "namespace": self.namespace},
            spec=spec.document(),  # pyright: ignore[reportArgumentType] - as above
            opts=self._child(after, replace_on=["spec"]),
        )
        return Claim(name, self._keep(made))

    def template(self, name: str, spec: ResourceClaimSpec) -> Claim:
        """Make a template: each pod that names it gets a claim of its own."""
        made = v1.ResourceClaimTemplate(
            f"{self.lesson}-{name}",
            metadata={"name": name, "namespace": self.namespace},
            spec={"spec": spec.document()},  # pyright: ignore[reportArgumentType] - as above
            opts=self._child(replace_on=["spec"]),
        )
        return Claim(name, self._keep(made))

    def running(
        self, name: str, count: int = 1, *, after: Sequence[pulumi.Resource], seconds: int = 60
    ) -> pulumi.Resource:
        """Wait until so many pods with the label `app=<name>` run, for what must come after that.

        It is a PodDisruptionBudget that allows any disruption, since that counts pods: a wait at the pods
        themselves would be one at every refresh too, when the control plane may have deleted them.
        """
        return self._keep(
            PodDisruptionBudget(
                f"{self.lesson}-{name}-running",
                metadata={
                    "name": name,
                    "namespace": self.namespace,
                    "annotations": {"pulumi.com/waitFor": f"jsonpath={{.status.currentHealthy}}={count}"},
                },
                spec={"min_available": 0, "selector": {"match_labels": {"app": name}}},
                # Where those are made again, it waits again.
                opts=self._child(after, replace_with=after, wait=f"{seconds}s"),
            )
        )

    def pod(self, name: str, args: PodArgs, *, after: Sequence[pulumi.Resource] = ()) -> Pod:
        """Make a pod. One that the control plane will delete belongs to a `deployment` instead."""
        return self._keep(
            Pod(
                f"{self.lesson}-{name}-pod",
                metadata={
                    "name": name,
                    "namespace": self.namespace,
                    "labels": pod_labels(name, args),
                    # A pod that is to stay pending is a result too: the lab observes it.
                    "annotations": {"pulumi.com/skipAwait": "true"},
                },
                spec=pod_spec(self.lesson, args),
                opts=self._child(after),
            )
        )

    def deployment(
        self, name: str, replicas: int, args: PodArgs, *, after: Sequence[pulumi.Resource] = ()
    ) -> Deployment:
        """Make a Deployment, whose pods have the label `app=<name>`."""
        return self._keep(
            Deployment(
                f"{self.lesson}-{name}-deployment",
                metadata={
                    "name": name,
                    "namespace": self.namespace,
                    # No wait, as for pods. `kubectl scale` takes the number of replicas over, and an `up`
                    # after a refresh takes it back.
                    "annotations": {"pulumi.com/skipAwait": "true", "pulumi.com/patchForce": "true"},
                },
                spec={
                    "replicas": replicas,
                    "selector": {"match_labels": {"app": name}},
                    "template": {
                        "metadata": {"labels": pod_labels(name, args)},
                        "spec": pod_spec(self.lesson, args),
                    },
                },
                opts=self._child(after, replace_with=args.named),
            )
        )

    def job(
        self,
        name: str,
        args: JobArgs,
        *,
        after: Sequence[pulumi.Resource] = (),
        behind: Sequence[pulumi.Resource] = (),
    ) -> Job:
        """Make a Job, whose pods have the label `app=<name>`.

        It comes after those that it is `behind`, and makes room where one of them has to be made again.
        """
        # Kueue ends the suspension of a Job that it lets in, so that is not ours to set again.
        let_in = pulumi.ResourceOptions(ignore_changes=["spec.suspend"] if args.queue else [])
        metadata: ObjectMetaArgsDict = {
            "name": name,
            "namespace": self.namespace,
            "annotations": {"pulumi.com/waitFor": args.until}
            if args.until
            else {"pulumi.com/skipAwait": "true"},
        }
        if args.queue:
            metadata["labels"] = {"kueue.x-k8s.io/queue-name": args.queue}
        return self._keep(
            Job(
                f"{self.lesson}-{name}-job",
                metadata=metadata,
                spec=job_spec(self.lesson, name, args),
                opts=pulumi.ResourceOptions.merge(
                    self._child(
                        [*after, *behind],
                        replace_with=[*args.pod.named, *behind],
                        wait=f"{args.wait_seconds}s" if args.until else "",
                    ),
                    let_in,
                ),
            )
        )

    def _keep(self, made: _Made) -> _Made:
        """Count an object, made with `opts=self._child()`, among what is there before the lab looks."""
        self._placed.append(made.id)
        return made

    def _child(
        self,
        after: Sequence[pulumi.Resource] = (),
        *,
        replace_on: Sequence[str] = (),
        replace_with: Sequence[pulumi.Resource] = (),
        wait: str = "",
    ) -> pulumi.ResourceOptions:
        return child_of(
            self,
            self._opts,
            pulumi.ResourceOptions(
                depends_on=list(after),
                replace_on_changes=list(replace_on),
                replace_with=list(replace_with),
                # The names are fixed, so the old object has to go before the new one can come.
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create=wait, update=wait) if wait else None,
            ),
        )
