"""The lab: a cluster, GPUs in it, and Lab 4 on top. `pulumi up` ends by comparing expected and observed."""

import pulumi

from components.cluster import Cluster, ClusterArgs
from components.driver import DraDriver, DraDriverArgs
from components.nodes import NodePool, NodePoolArgs
from components.operator import GpuOperator, GpuOperatorArgs
from lab.config import lab_config
from lab.course import expectations, lessons_of
from lab.outcomes import export_outcomes

config = lab_config()
cluster = Cluster(
    "lab",
    ClusterArgs(
        kind=config.cluster,
        kubeconfig=config.kubeconfig,
        context=config.context,
        nodes=[node for pool in config.pools for node in pool.nodes],
        queue="queue" in config.course,
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
driver = DraDriver("dra-driver", DraDriverArgs(enabled=config.dra_driver), opts=inside)
lessons = lessons_of(config, inside)

export_outcomes(
    cluster,
    config.context,
    expectations(config, lessons),
    after=[
        operator.status,
        driver.classes,
        *[pool.nodes for pool in pools],
        *[lesson.placed for lesson in lessons.values()],
    ],
)
