"""What our allocator finds for a pod's claims, against the scheduler's own plugin."""

from collections.abc import Sequence

from claims import claims_of_a_pod
from hypothesis import given, seed
from hypothesis import strategies as st
from inventories import Cluster, Document, clusters
from judging import SEED, VERDICTS, ask, cases, inventory, our_allocation, our_devices, their_devices
from referee import Referee

from dra.allocation import Allocated

PODS = 4
"""Of each cluster, each judged alone: making up a cluster takes longer than judging a pod."""


@seed(SEED)
@cases(4, 10 * PODS)
@given(cluster=clusters(), pods=st.lists(claims_of_a_pod(), min_size=PODS, max_size=PODS))
def test_the_claims_of_a_pod_get_the_same_devices_or_none(
    referee: Referee, cluster: Cluster, pods: Sequence[Sequence[Document]]
) -> None:
    if "refused" in ask(referee, cluster, []):
        return  # the other tests are about that
    ours_of = inventory(cluster)
    for claims in pods:
        theirs = ask(referee, cluster, claims)
        if "refused" in theirs:
            continue
        ours = our_allocation(claims, ours_of)
        assert VERDICTS[type(ours)] == theirs["verdict"], (claims, ours, theirs)
        if isinstance(ours, Allocated):
            there = theirs["nodes"][ours.node]
            assert there["verdict"] == "allocated", (claims, ours, theirs)
            assert our_devices(ours) == their_devices(there), (claims, ours, theirs)
