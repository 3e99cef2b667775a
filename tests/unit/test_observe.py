"""How long the lab looks, without a cluster; what it sees is in the engine tests."""

import time
from typing import cast

import pytest
from lightkube import Client

from components.expectation import Expectation, NodeGpus
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
    good, bad = observe.observe(CLIENT, {None: [GPUS], "mig": [OTHER]})
    assert time.monotonic() - start < 5
    assert (good.ok, good.observed, good.lesson) == (True, "4 GPUs, counted", None)
    assert (bad.ok, bad.expected, bad.observed, bad.lesson) == (
        False,
        "1 GPU, counted",
        "4 GPUs, counted",
        "mig",
    )
    assert looks.count("2 GPUs of node-01") == 3
