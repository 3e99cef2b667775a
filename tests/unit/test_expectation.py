"""What is expected in words, and when what was seen is that."""

import pytest

from components.expectation import (
    ClaimOutcome,
    ClaimRejected,
    ClaimState,
    EventSeen,
    Expectation,
    NodeGpus,
    PodsFit,
)
from components.lessons.requests import gpus


def claim(state: ClaimState = ClaimState.ALLOCATED, **said: object) -> ClaimOutcome:
    values = {"step": "a", "namespace": "n", "name": "c", "state": state, **said}
    return ClaimOutcome.model_validate(values)


@pytest.mark.parametrize(
    ("expectation", "words"),
    [
        (claim(devices=1), "allocated: 1 device"),
        (claim(devices=2, same="x/y"), "allocated: 2 devices of one x/y"),
        (claim(devices=2, distinct="x/y"), "allocated: 2 devices of different x/y"),
        (claim(devices=1, requests=["gpu/a"]), "allocated: 1 device, for gpu/a"),
        (claim(devices=1, reserved_for=["p", "q"]), "allocated: 1 device, used by p and q"),
        (claim(devices=1, consumed={"memory": "10Gi"}), "allocated: 1 device, each with 10Gi of memory"),
        (claim(devices=1, configured=['{"a": 1}']), 'allocated: 1 device, configured by {"a": 1}'),
        (claim(ClaimState.NO_CONSUMER), "pending: no pod uses it"),
        (claim(ClaimState.ERROR, because="no key"), "error: the scheduler fails the pod (… no key …)"),
        (NodeGpus(step="s", node="n", count=2, mechanism="counted"), "2 GPUs, counted"),
        (NodeGpus(step="s", node="n", count=0, mechanism="none"), "no GPUs"),
        (
            NodeGpus(step="s", node="n", count=2, mechanism="both"),
            "2 counted and 2 claimed: every GPU is sold twice",
        ),
        (PodsFit(step="s", namespace="n", label="a=b", running=2, pending=0), "2 running, 0 pending"),
        (
            PodsFit(step="s", namespace="n", label="a=b", running=0, pending=1, finished=3, reason="why"),
            "0 running, 3 finished, 1 pending: why",
        ),
    ],
)
def test_it_is_said_in_words_which_meet_it(expectation: Expectation, words: str) -> None:
    assert expectation.expected == words
    assert expectation.met_by(words)


@pytest.mark.parametrize(
    ("expectation", "seen", "met"),
    [
        (claim(devices=1), "allocated: 1 device (node/gpu-0)", True),
        (claim(devices=1), "allocated: 2 devices (node/gpu-0, node/gpu-1)", False),
        (claim(devices=1), "pending: no device matches (why)", False),
        (
            claim(ClaimState.NO_MATCH, because="all claims"),
            "pending: no device matches (not all claims)",
            True,
        ),
        (claim(ClaimState.NO_MATCH, because="all claims"), "pending: no device matches (no node)", False),
        (claim(ClaimState.NO_MATCH), "error: the scheduler fails the pod (x)", False),
        (
            ClaimRejected(step="s", namespace="n", name="c", spec=gpus(), because="quota"),
            "rejected by the API server: exceeded quota",
            True,
        ),
        (ClaimRejected(step="s", namespace="n", name="c", spec=gpus(), because="quota"), "accepted", False),
        (EventSeen(step="s", namespace="n", about="p", reason="Evicted"), "Evicted: by the rule", True),
        (EventSeen(step="s", namespace="n", about="p", reason="Evicted", because="x"), "Evicted: y", False),
        (EventSeen(step="s", namespace="n", about="p", reason="Evicted"), "Scheduled: there", False),
    ],
)
def test_it_is_met_by_what_says_so_and_no_other(expectation: Expectation, seen: str, met: bool) -> None:  # noqa: FBT001 - a column of the table
    assert expectation.met_by(seen) is met


def test_who_waits_has_a_reason() -> None:
    with pytest.raises(ValueError, match="need a reason"):
        PodsFit(step="s", namespace="n", label="a=b", running=0, pending=1)
