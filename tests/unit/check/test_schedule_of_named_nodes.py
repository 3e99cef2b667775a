"""A pod that names its node is not scheduled, so what needs the scheduler does not happen."""

import yaml

from dra.checker import check
from dra.document import Document
from dra.finding import Verdict
from dra.gates import Target
from dra.inventory import Inventory
from dra.pool import GpuPool, Mechanism

POOL = GpuPool(name="pool", product="NVIDIA T4", count=1, mechanism=Mechanism.CLAIMED, nodes=["node"])
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: worker}
spec:
  nodeName: node
  containers: [{name: worker, image: busybox, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimName: gpu}]
"""


def verdicts(*texts: str) -> list[Verdict]:
    documents = [
        Document(file=f"{index}.yaml", line=1, value=yaml.safe_load(text)) for index, text in enumerate(texts)
    ]
    return [one.verdict for one in check(documents, Inventory.of_pools([POOL]), Target.V1_37)]


def test_its_claims_stay_pending() -> None:
    assert verdicts(CLAIM, POD) == [Verdict.PENDING, Verdict.PENDING]


def test_one_that_is_scheduled_gets_them() -> None:
    assert verdicts(CLAIM, POD.replace("  nodeName: node\n", "")) == [Verdict.ALLOCATED, Verdict.ALLOCATED]


def test_it_may_use_what_another_pod_has_had_allocated() -> None:
    scheduled = POD.replace("  nodeName: node\n", "").replace("name: worker", "name: other", 1)
    assert set(verdicts(CLAIM, scheduled, POD)) == {Verdict.ALLOCATED}
