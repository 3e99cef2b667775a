"""The nodes of a GPU pool, and the label that gives them its GPUs."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import Node, NodePatch

from components.options import child_of
from dra.pool import GPU_RESOURCE, POOL_LABEL, GpuPool, Mechanism

REVISION_ANNOTATION = "gpulab.dev/pool-revision"
"""A Stage reaches a node when the node changes: a pool that changed changes this, and so the node."""


@dataclass(frozen=True, kw_only=True)
class NodePoolArgs:
    """`operator` is what must be there before the label means anything.

    `create_nodes`: make KWOK nodes; off on a cluster that has real ones of these names.
    """

    pool: GpuPool
    operator: Sequence[pulumi.Resource]
    dra_driver: bool = True
    create_nodes: bool = True


class NodePool(pulumi.ComponentResource):
    """One pool: its nodes, each labelled by a resource of its own: labelling is a step of the lesson."""

    nodes: pulumi.Output[Sequence[str]]
    """The names of the nodes, known when each has its GPUs."""

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:nodes:NodePool", name, {}, opts)
        labels: list[NodePatch] = []
        # Named after the node alone, which no other pool has: a node that goes to another pool, or whose pool
        # gets another name, is labelled anew. Under a new name it would be made while it is still there.
        for node_name in args.pool.nodes:
            after = list(args.operator)
            if args.create_nodes:
                after.append(
                    Node(
                        node_name,
                        metadata={
                            "name": node_name,
                            # Labelled before it is ready, a node can miss its GPUs: KWOK drops a step that
                            # meets another one's write.
                            "annotations": {
                                "kwok.x-k8s.io/node": "fake",
                                "pulumi.com/waitFor": "condition=Ready",
                            },
                            "labels": {"kubernetes.io/hostname": node_name, "type": "kwok"},
                        },
                        # The label below has a `waitFor` of its own and so takes this one over.
                        opts=child_of(
                            self,
                            opts,
                            pulumi.ResourceOptions(
                                ignore_changes=["metadata.annotations"],
                                # Once they had their pool's name in theirs.
                                aliases=[pulumi.Alias(name=f"{name}-{node_name}")],
                            ),
                        ),
                    )
                )
            labels.append(
                NodePatch(
                    f"{node_name}-label",
                    metadata={
                        "name": node_name,
                        "labels": {POOL_LABEL: args.pool.name},
                        "annotations": {
                            REVISION_ANNOTATION: revision(args.pool),
                            "pulumi.com/patchForce": "true",
                            "pulumi.com/waitFor": gpus_are_there(args.pool, dra_driver=args.dra_driver),
                        },
                    },
                    opts=child_of(
                        self,
                        opts,
                        pulumi.ResourceOptions(
                            depends_on=after,
                            aliases=[pulumi.Alias(name=f"{name}-{node_name}-label")],
                            custom_timeouts=pulumi.CustomTimeouts(create="1m", update="1m"),
                        ),
                    ),
                )
            )
        self.nodes = pulumi.Output.all(*[label.metadata.name for label in labels])
        self.register_outputs({"nodes": self.nodes})


def revision(pool: GpuPool) -> str:
    """Return what changes when anything of the pool does."""
    return hashlib.sha256(pool.model_dump_json().encode()).hexdigest()[:12]


def gpus_are_there(pool: GpuPool, *, dra_driver: bool) -> str:
    """Return the condition, in Pulumi's `waitFor` form, under which a node has the pool's GPUs."""
    if pool.mechanism is Mechanism.COUNTED:
        return f"jsonpath={{.status.allocatable['{GPU_RESOURCE}']}}={pool.count}"
    if dra_driver:
        return "jsonpath={.metadata.annotations['gpulab.dev/gpu-mechanism']}=claimed"
    return f"jsonpath={{.metadata.labels['{GPU_RESOURCE}.count']}}={pool.count}"
