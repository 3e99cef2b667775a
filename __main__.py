"""The lab: a cluster, GPUs in it, and Lab 4 on top. `pulumi up` ends by comparing expected and observed."""

import pulumi

from components.cluster import Cluster, ClusterArgs
from components.lessons.greedy import Greedy, GreedyArgs
from components.lessons.lab4_claims import Lab4Claims, Lab4ClaimsArgs
from components.nodes import NodePool, NodePoolArgs
from components.operator import GpuOperator, GpuOperatorArgs
from lab.config import lab_config
from lab.outcomes import export_outcomes
from lab.steps import dra_api, gpus_of_nodes

config = lab_config()
cluster = Cluster(
    "lab",
    ClusterArgs(
        kind=config.cluster,
        kubeconfig=config.kubeconfig,
        context=config.context,
        nodes=[node for pool in config.pools for node in pool.nodes],
    ),
)
inside = pulumi.ResourceOptions(provider=cluster.provider, deleted_with=cluster.process)

operator = GpuOperator(
    "fake-gpu-operator",
    GpuOperatorArgs(
        pools=config.pools,
        dra_driver=config.dra_driver,
        kind=config.operator,
        simulated_nodes=config.simulated_nodes,
        chart=config.operator_chart,
    ),
    opts=inside,
)
pools = [
    NodePool(
        pool.name,
        NodePoolArgs(
            pool=pool, operator=[operator], dra_driver=config.dra_driver, create_nodes=config.simulated_nodes
        ),
        opts=inside,
    )
    for pool in config.pools
]
greedy = Greedy("greedy", GreedyArgs(pool=config.counted), opts=inside)
claims = Lab4Claims("lab4", Lab4ClaimsArgs(claims=config.claims, device_class=config.dra_driver), opts=inside)

export_outcomes(
    cluster,
    config.context,
    [
        *gpus_of_nodes(config.pools, dra_driver=config.dra_driver),
        *greedy.expectations,
        dra_api(),
        *claims.expectations,
    ],
    after=[operator.status, *[pool.nodes for pool in pools], greedy.placed, claims.placed],
)
