"""The GPU operator: it gives a node that is labelled with a pool the GPUs of that pool."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.helm.v3 import Release

from components.options import child_of
from dra.pool import GPU_DRIVER, POOL_LABEL, GpuPool, Mechanism

NAMESPACE = "gpu-operator"
RELEASE = "fake-gpu-operator"
SIMULATOR_CHART = Path(__file__).resolve().parent.parent / "charts" / "gpu-simulator"
UPSTREAM_CHART = "oci://ghcr.io/run-ai/fake-gpu-operator/fake-gpu-operator"
UPSTREAM_VERSION = "0.2.0"

_NODES_PER_RESYNC_SECOND = 40
"""200 nodes written to every 5 s cost the control plane 0.4 of a core (measured): keep to that share."""


class OperatorKind(StrEnum):
    """Who stands behind the contract."""

    EMBEDDED = "embedded"
    """The lab's own chart of KWOK Stages: no pod, no process."""
    UPSTREAM = "upstream"
    """run-ai's fake-gpu-operator, for clusters with containers."""


@dataclass(frozen=True, kw_only=True)
class GpuOperatorArgs:
    """`chart` replaces the upstream chart's address (a mirror, a folder).

    `simulated_nodes`: the nodes are KWOK's, where upstream's pods do nothing, so the Stages stand behind it.
    """

    pools: Sequence[GpuPool]
    dra_driver: bool = True
    kind: OperatorKind = OperatorKind.EMBEDDED
    simulated_nodes: bool = True
    chart: str = UPSTREAM_CHART


class GpuOperator(pulumi.ComponentResource):
    """The Helm release `fake-gpu-operator`, in its namespace."""

    status: pulumi.Output[str]
    """The release's status, `deployed` when all is well."""

    def __init__(self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:operator:GpuOperator", name, {}, opts)
        here = child_of(self, opts)
        namespace = Namespace(f"{name}-namespace", metadata={"name": NAMESPACE}, opts=here)
        upstream = args.kind is OperatorKind.UPSTREAM
        release = Release(
            name,
            name=RELEASE,
            namespace=namespace.metadata.name,
            chart=args.chart if upstream else str(SIMULATOR_CHART),
            version=UPSTREAM_VERSION if upstream and args.chart == UPSTREAM_CHART else None,
            values=upstream_values(args.pools, dra_driver=args.dra_driver)
            if upstream
            else simulator_values(args.pools, dra_driver=args.dra_driver),
            # Upstream's pods tolerate no KWOK node; nothing of the lab depends on them there.
            skip_await=args.simulated_nodes,
            opts=here,
        )
        if upstream and args.simulated_nodes:
            Release(
                f"{name}-simulator",
                name="gpu-simulator",
                namespace=namespace.metadata.name,
                chart=str(SIMULATOR_CHART),
                values=simulator_values(args.pools, dra_driver=args.dra_driver),
                opts=here,
            )
        self.status = release.status.apply(lambda status: status.status)
        self.register_outputs({"status": self.status})


def upstream_values(pools: Sequence[GpuPool], *, dra_driver: bool) -> dict[str, Any]:
    """Return fake-gpu-operator's values (chart 0.2.0) for the pools.

    One mechanism a cluster there: with both of its KWOK plugins every GPU would be sold twice.
    """
    claimed = dra_driver and any(pool.mechanism is Mechanism.CLAIMED for pool in pools)
    return {
        "topology": {
            "nodePoolLabelKey": POOL_LABEL,
            # Helm merges maps: the chart's own `default` pool stays unless it is taken out.
            "nodePools": {"default": None} | {pool.name: _upstream_pool(pool) for pool in pools},
        },
        "kwokGpuDevicePlugin": {"enabled": not claimed},
        "kwokDraPlugin": {"enabled": False},
    }


def simulator_values(pools: Sequence[GpuPool], *, dra_driver: bool) -> dict[str, Any]:
    """Return the values of charts/gpu-simulator for the pools."""
    nodes = sum(len(pool.nodes) for pool in pools)
    return {
        "topology": {
            "nodePoolLabelKey": POOL_LABEL,
            "nodePools": {
                pool.name: _upstream_pool(pool)
                | {
                    "mechanism": pool.mechanism.value,
                    "devices": [device.document() for device in pool.devices()]
                    if pool.mechanism is Mechanism.CLAIMED
                    else [],
                }
                for pool in pools
            },
        },
        "draDriver": {"enabled": dra_driver, "driver": GPU_DRIVER},
        "resyncSeconds": min(300, max(5, nodes // _NODES_PER_RESYNC_SECOND)),
    }


def _upstream_pool(pool: GpuPool) -> dict[str, Any]:
    return {"gpuProduct": pool.product, "gpuCount": pool.count, "gpuMemory": pool.gpu_memory_mib}
