"""The slow referee: our allocator and the fast referee against a real API server and scheduler.

Nothing is made smaller when it fails: the fast tests do that, and what only a cluster does is found here.
"""

import os
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from claims import claims_of_a_pod
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from inventories import Cluster, Document, clusters
from judging import GRANTED, SEED, VERDICTS, ask, inventory, our_allocation, their_devices
from referee import Referee

from lab.api import RefusedError
from lab.trial import Trials, Tried, trials_beside
from lab.trial_objects import consumer
from toolchain.environment import lab_environment

PODS = 10
"""Of each cluster: the scheduler takes longer to hear of a cluster than to judge a pod."""
CASES = int(os.environ.get("GPULAB_CLUSTER_CASES", "300"))
REPO = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Generator[Trials]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / ".lab").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", lab_environment(REPO)["PATH"])
        with trials_beside(folder) as running:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
            running.api.change(namespace, {"metadata": {"labels": GRANTED}})
            yield running


def _bound_at_once(cluster: Cluster) -> Cluster:
    """Take away the conditions that a driver has to set before a pod is bound, as there is no driver."""
    for each in cluster.slices:
        for device in each["spec"].get("devices", ()):
            device.pop("bindingConditions", None)
            device.pop("bindingFailureConditions", None)
    return cluster


@seed(SEED)
@settings(
    max_examples=max(1, CASES // PODS),
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cluster=clusters().map(_bound_at_once), pods=st.lists(claims_of_a_pod(), min_size=PODS, max_size=PODS))
def test_a_real_scheduler_gives_a_pod_the_same(
    referee: Referee, trials: Trials, cluster: Cluster, pods: Sequence[Sequence[Document]]
) -> None:
    refused = trials.place(
        [*cluster.nodes, *cluster.slices, *cluster.classes, *cluster.taint_rules, *cluster.allocated]
    )
    assert bool(refused) == ("refused" in ask(referee, cluster, [])), refused
    if refused:
        return
    ours_of = inventory(cluster)
    for claims in pods:
        theirs = ask(referee, cluster, claims)
        real = _tried(trials, claims)
        assert isinstance(real, RefusedError) == ("refused" in theirs), (claims, real, theirs)
        if isinstance(real, RefusedError):
            continue
        ours = our_allocation(claims, ours_of)
        judged = (claims, ours, theirs, real)
        assert real.verdict == theirs["verdict"] == VERDICTS[type(ours)], judged
        if real.allocations:
            held = their_devices({"claims": real.allocations})
            assert held in [their_devices(each) for each in theirs["nodes"].values()], judged


def _tried(trials: Trials, claims: Sequence[Document]) -> Tried | RefusedError:
    try:
        return trials.try_pod(_pod(claims), claims)
    except RefusedError as refused:
        return refused


def _pod(claims: Sequence[Document]) -> Mapping[str, Any]:
    """Return a pod that calls each claim by its own name."""
    pod = consumer("pod", "default", {"resourceClaimName": "claim"})
    names = [claim["metadata"]["name"] for claim in claims]
    pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": name} for name in names]
    pod["spec"]["resourceClaims"] = [{"name": name, "resourceClaimName": name} for name in names]
    return pod
