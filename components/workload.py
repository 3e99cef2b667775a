"""The workload that wants more GPUs than there are."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment

from components.options import child_of
from dra.pool import GPU_RESOURCE, POOL_LABEL

NAME = "gpu-greedy"


@dataclass(frozen=True, kw_only=True)
class GreedyWorkloadArgs:
    """`replicas` pods of one GPU each, on the nodes of `pool`."""

    pool: str
    namespace: pulumi.Input[str]
    replicas: int = 6


class GreedyWorkload(pulumi.ComponentResource):
    """The lesson's Deployment. Its pods that find no GPU stay pending, and nothing waits for them."""

    name: pulumi.Output[str]
    """The Deployment's name."""

    def __init__(
        self, name: str, args: GreedyWorkloadArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpulab:workload:GreedyWorkload", name, {}, opts)
        labels = {"app": NAME}
        deployment = Deployment(
            name,
            metadata={
                "name": NAME,
                "namespace": args.namespace,
                # Pulumi waits for all replicas otherwise, ten minutes, and then fails.
                # Not `waitFor`: a refresh does not look at it and would report the Deployment as broken.
                # The lab waits for the pods itself, when it observes them.
                # `kubectl scale` takes the number of replicas over; an `up` after a refresh takes it back.
                "annotations": {"pulumi.com/skipAwait": "true", "pulumi.com/patchForce": "true"},
            },
            spec={
                "replicas": args.replicas,
                "selector": {"match_labels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "node_selector": {POOL_LABEL: args.pool},
                        "containers": [
                            {
                                "name": "worker",
                                "image": "busybox:1.36",
                                "command": ["sh", "-c", "echo 'GPU worker running' && sleep 300"],
                                "resources": {"limits": {GPU_RESOURCE: "1"}},
                            }
                        ],
                    },
                },
            },
            opts=child_of(self, opts),
        )
        self.name = deployment.metadata.name
        self.register_outputs({"name": self.name})
