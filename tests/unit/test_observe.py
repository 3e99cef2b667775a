"""How long the lab looks, without a cluster; what it sees is in the engine tests."""

import threading
import time
from typing import cast

import httpx2
import pytest
from lightkube import ApiError, Client
from lightkube.models.meta_v1 import Status

from components.expectation import (
    ApiServed,
    ClaimOutcome,
    ClaimState,
    EventSeen,
    Expectation,
    FieldSeen,
    NodeGpus,
    PodsFit,
)
from lab import observe

GPUS = NodeGpus(step="2 GPUs", node="node-01", count=4, mechanism="counted")
OTHER = NodeGpus(step="2 GPUs", node="node-02", count=1, mechanism="counted")
CLIENT = cast("Client", None)


def test_each_is_looked_at_until_it_is_as_expected_and_given_up_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []

    def look(_: Client, expectation: Expectation) -> str:
        looks.append(expectation.title)
        return "4 GPUs, counted" if looks.count(expectation.title) > 2 else "no GPUs"

    monkeypatch.setattr(observe, "look", look)
    monkeypatch.setattr(observe, "SETTLES_WITHIN_SECONDS", 0.5)
    monkeypatch.setattr(observe, "LOOKS_EVERY_SECONDS", 0.01)
    start = time.monotonic()
    good, bad = observe.observe([CLIENT, CLIENT], {None: [GPUS], "mig": [OTHER]})
    assert time.monotonic() - start < 5
    assert (good.ok, good.observed, good.lesson) == (True, "4 GPUs, counted", None)
    assert (bad.ok, bad.expected, bad.observed, bad.lesson) == (
        False,
        "1 GPU, counted",
        "4 GPUs, counted",
        "mig",
    )
    assert looks.count("2 GPUs of node-01") == 3


def test_a_client_is_used_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A TLS context that two threads open connections with gives broken ones now and then."""
    clients = [cast("Client", object()) for _ in range(4)]
    in_use = {id(client): threading.Lock() for client in clients}
    together = threading.Barrier(len(clients), timeout=10)

    def look(client: Client, _: Expectation) -> str:
        lock = in_use[id(client)]
        assert lock.acquire(blocking=False), "another thread has this client"
        try:
            together.wait()
        finally:
            lock.release()
        return GPUS.expected

    monkeypatch.setattr(observe, "look", look)
    outcomes = observe.observe(clients, {None: [GPUS] * (10 * len(clients))})
    assert len(outcomes) == 40
    assert all(outcome.ok for outcome in outcomes)


def test_all_that_never_come_share_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(_: Client, __: Expectation) -> str:
        return "no GPUs"

    monkeypatch.setattr(observe, "look", look)
    monkeypatch.setattr(observe, "SETTLES_WITHIN_SECONDS", 0.5)
    monkeypatch.setattr(observe, "LOOKS_EVERY_SECONDS", 0.01)
    start = time.monotonic()
    outcomes = observe.observe([CLIENT, CLIENT], {None: [GPUS] * 40})
    assert time.monotonic() - start < 5, "twenty deadlines after each other are 10 seconds"
    assert [outcome.observed for outcome in outcomes] == ["no GPUs"] * 40


@pytest.mark.parametrize(
    "expectation",
    [
        GPUS,
        PodsFit(step="s", namespace="n", label="a=b", running=0, pending=0),
        ApiServed(step="s", group="resource.k8s.io", version="v1", resources=["resourceclaims"]),
        ClaimOutcome(step="s", namespace="n", name="c", state=ClaimState.NO_CONSUMER),
        FieldSeen(
            step="s",
            namespace="n",
            api_version="v1",
            object_kind="Pod",
            name="p",
            path=["a"],
            value="nothing",
        ),
        EventSeen(step="s", namespace="n", about="p", reason="r"),
    ],
    ids=lambda expectation: type(expectation).__name__,
)
def test_what_the_api_server_does_not_give_is_an_outcome_too(expectation: Expectation) -> None:
    class Refusing:
        def get(self, *_: object, **__: object) -> None:
            raise ApiError(status=Status(code=403, message="this is out of bounds"))

        list = get

    seen = observe.look(cast("Client", Refusing()), expectation)
    assert seen == "not to be had: this is out of bounds"
    assert not expectation.met_by(seen)


def test_an_api_server_that_does_not_answer_is_an_outcome_too() -> None:
    class Away:
        def get(self, *_: object, **__: object) -> None:
            raise httpx2.ConnectError("Connection refused")

    seen = observe.look(cast("Client", Away()), GPUS)
    assert seen == "not to be had: the API server does not answer (Connection refused)"
    assert not GPUS.met_by(seen)
