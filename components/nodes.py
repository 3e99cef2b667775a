"""The nodes of a GPU pool, and the label that gives them its GPUs."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import Node, NodePatch

from dra.pool import POOL_LABEL, GpuPool

REVISION_ANNOTATION = "gpulab.dev/pool-revision"
"""A Stage reaches a node when the node changes: a pool that changed changes this, and so the node."""


@dataclass(frozen=True, kw_only=True)
class NodePoolArgs:
    """`operator` is what must be there before the label means anything.

    `create_nodes`: make KWOK nodes; off on a cluster that has real ones of these names.
    """

    pool: GpuPool
    operator: Sequence[pulumi.Resource]
    create_nodes: bool = True


class NodePool(pulumi.ComponentResource):
    """One pool: its nodes, each labelled by a resource of its own: labelling is a step of the lesson."""

    nodes: pulumi.Output[Sequence[str]]
    """The names of the nodes, known when each is labelled."""

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:nodes:NodePool", name, {}, opts)
        anchor = opts.deleted_with if opts else None
        labels: list[NodePatch] = []
        for node_name in args.pool.nodes:
            after = list(args.operator)
            if args.create_nodes:
                after.append(
                    Node(
                        f"{name}-{node_name}",
                        metadata={
                            "name": node_name,
                            # Labelled before it is ready, a node can miss its GPUs: KWOK drops a step that
                            # meets another one's write. The label itself has no `waitFor`: a node has one
                            # annotation of that name, and two owners of it conflict.
                            "annotations": {
                                "kwok.x-k8s.io/node": "fake",
                                "pulumi.com/waitFor": "condition=Ready",
                            },
                            "labels": {"kubernetes.io/hostname": node_name, "type": "kwok"},
                        },
                        opts=pulumi.ResourceOptions(parent=self, deleted_with=anchor),
                    )
                )
            labels.append(
                NodePatch(
                    f"{name}-{node_name}-label",
                    metadata={
                        "name": node_name,
                        "labels": {POOL_LABEL: args.pool.name},
                        "annotations": {
                            REVISION_ANNOTATION: revision(args.pool),
                            "pulumi.com/patchForce": "true",
                        },
                    },
                    opts=pulumi.ResourceOptions(
                        parent=self,
                        depends_on=after,
                        deleted_with=anchor,
                    ),
                )
            )
        self.nodes = pulumi.Output.all(*[label.metadata.name for label in labels])
        self.register_outputs({"nodes": self.nodes})


def revision(pool: GpuPool) -> str:
    """Return what changes when anything of the pool does."""
    return hashlib.sha256(pool.model_dump_json().encode()).hexdigest()[:12]
