"""One of each component, as the tests build them."""

import pulumi

from components.claims import (
    ClaimConsumer,
    ClaimConsumerArgs,
    DeviceClass,
    DeviceClassArgs,
    ResourceClaim,
    ResourceClaimArgs,
    ResourceClaimTemplate,
)
from components.driver import CLASSES, GPU_CLASS, DraDriver, DraDriverArgs
from components.lessons.greedy import Greedy, GreedyArgs
from components.lessons.lab4_claims import Claims, Lab4Claims, Lab4ClaimsArgs, one_gpu
from components.nodes import NodePool, NodePoolArgs
from components.operator import GpuOperator, GpuOperatorArgs
from components.workload import GreedyWorkload, GreedyWorkloadArgs
from dra.pool import GpuPool, Mechanism

COUNTED = GpuPool(name="default", product="NVIDIA A100-SXM4-40GB", count=4, nodes=["node-01"])
CLAIMED = GpuPool(
    name="training",
    product="NVIDIA H100 80GB HBM3",
    count=8,
    numa_nodes=2,
    mechanism=Mechanism.CLAIMED,
    nodes=["node-02", "node-03"],
)
POOLS = [COUNTED, CLAIMED]
CLAIM = ResourceClaimArgs(claim_name="one", namespace="space", spec=one_gpu("NVIDIA T4"))

Options = pulumi.ResourceOptions | None


def operator(opts: Options) -> GpuOperator:
    return GpuOperator("op", GpuOperatorArgs(pools=POOLS), opts)


def nodes(opts: Options) -> NodePool:
    return NodePool("training", NodePoolArgs(pool=CLAIMED, operator=[]), opts)


def workload(opts: Options) -> GreedyWorkload:
    return GreedyWorkload("greedy", GreedyWorkloadArgs(pool="default", namespace="space"), opts)


def device_class(opts: Options) -> DeviceClass:
    return DeviceClass("class", DeviceClassArgs(class_name="gpu.example.com", spec=CLASSES[GPU_CLASS]), opts)


def claim(opts: Options) -> ResourceClaim:
    return ResourceClaim("claim", CLAIM, opts)


def template(opts: Options) -> ResourceClaimTemplate:
    return ResourceClaimTemplate("template", CLAIM, opts)


def consumer(opts: Options) -> ClaimConsumer:
    return ClaimConsumer(
        "pod", ClaimConsumerArgs(pod_name="user", namespace="space", claim=claim(opts)), opts
    )


def template_consumer(opts: Options) -> ClaimConsumer:
    return ClaimConsumer(
        "pod", ClaimConsumerArgs(pod_name="user", namespace="space", claim=template(opts)), opts
    )


def greedy(opts: Options) -> Greedy:
    return Greedy("greedy", GreedyArgs(pool=COUNTED), opts)


def corrected(opts: Options) -> Lab4Claims:
    return Lab4Claims("lab4", Lab4ClaimsArgs(claims=Claims.CORRECTED, device_class=True), opts)


def as_written(opts: Options) -> Lab4Claims:
    return Lab4Claims("lab4", Lab4ClaimsArgs(claims=Claims.AS_WRITTEN, device_class=False), opts)


def driver(opts: Options) -> DraDriver:
    return DraDriver("driver", DraDriverArgs(), opts)
