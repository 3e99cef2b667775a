"""Part A of Lab 4: more pods than GPUs."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import Namespace

from components.expectation import Expectation, PodsFit
from components.options import child_of
from components.workload import NAME, GreedyWorkload, GreedyWorkloadArgs
from dra.pool import GPU_RESOURCE, GpuPool, Mechanism

REPLICAS = 6


@dataclass(frozen=True, kw_only=True)
class GreedyArgs:
    """The pods go to the nodes of `pool`, a counted one."""

    pool: GpuPool


class Greedy(pulumi.ComponentResource):
    """Six pods of one GPU each: the scheduler places what fits and says of the rest why not."""

    expectations: Sequence[Expectation]
    """What the lab should see."""
    placed: pulumi.Output[str]
    """Known when the Deployment was made."""

    def __init__(self, name: str, args: GreedyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:Greedy", name, {}, opts)
        here = child_of(self, opts)
        namespace = Namespace(f"{name}-namespace", metadata={"name": name}, opts=here)
        workload = GreedyWorkload(
            f"{name}-workload",
            GreedyWorkloadArgs(pool=args.pool.name, namespace=namespace.metadata.name, replicas=REPLICAS),
            opts=here,
        )
        self.expectations = [expected(name, args.pool)]
        self.placed = workload.name
        self.register_outputs({"placed": self.placed})


def expected(namespace: str, pool: GpuPool) -> PodsFit:
    """Return what comes of the pods: as many run as the pool has counted GPUs."""
    counted = pool.count * len(pool.nodes) if pool.mechanism is Mechanism.COUNTED else 0
    running = min(REPLICAS, counted)
    return PodsFit(
        step="4 greedy pods",
        namespace=namespace,
        label=f"app={NAME}",
        running=running,
        pending=REPLICAS - running,
        reason=f"Insufficient {GPU_RESOURCE}" if running < REPLICAS else "",
    )
