"""KWOK Stages that lessons bring: what becomes of objects that match, where no kubelet or driver runs.

They outrank the Stages of all nodes and pods, whose weights are in charts/kwok-stages/stages.yaml.
"""

from collections.abc import Mapping
from typing import Any

from dra.pool import GPU_RESOURCE

WEIGHT = 10


def counted_gpus(node: str, count: int) -> Mapping[str, Any]:
    """Return the spec of the Stage that writes GPUs into a node's status, as a device plugin's kubelet would.

    Not before the node has a status of its own, or it would be left without cpu and memory.
    """
    gpus = f"{{{GPU_RESOURCE}: {count}}}"
    return {
        "resourceRef": {"apiGroup": "v1", "kind": "Node"},
        "weight": WEIGHT,
        "selector": {
            "matchLabels": {"kubernetes.io/hostname": node},
            "matchExpressions": [
                {"jq": {"key": ".status.phase", "operator": "In", "values": ["Running"]}},
                {
                    "jq": {
                        "key": f'.status.allocatable["{GPU_RESOURCE}"]',
                        "operator": "NotIn",
                        "values": [str(count)],
                    }
                },
            ],
        },
        "steps": [
            {
                "patch": {
                    "subresource": "status",
                    "root": "status",
                    "template": f"{{capacity: {gpus}, allocatable: {gpus}}}",
                }
            }
        ],
    }
