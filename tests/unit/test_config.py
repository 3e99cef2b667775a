"""The stack's configuration: each mistake is a sentence with the key, the value and what is allowed."""

import json
from typing import Any

import pulumi
import pytest
from recording import record

from components.cluster import ClusterKind
from components.lessons.course import COURSE
from components.lessons.lab4_claims import Claims
from lab.config import ConfigError, LabConfig, lab_config, parse

POOL: dict[str, Any] = {"name": "default", "product": "NVIDIA T4", "count": 4, "nodes": ["node-01"]}
NONE: list[Any] = []
OTHER: dict[str, Any] = {**POOL, "name": "other", "nodes": ["node-02"]}


def test_what_is_not_said_has_a_default() -> None:
    config = parse({"pools": [POOL]})
    assert (config.cluster, config.claims, config.dra_driver) == (
        ClusterKind.EMBEDDED,
        Claims.CORRECTED,
        True,
    )
    assert config.simulated_nodes


def test_the_counted_pool_is_the_first_of_its_kind() -> None:
    config = parse({"pools": [{**POOL, "mechanism": "claimed"}, OTHER], "cluster": "kind"})
    assert config.counted.name == "other"
    assert not config.simulated_nodes


@pytest.mark.parametrize(
    ("values", "course"),
    [
        ({}, list(COURSE)),
        ({"lessons": ["all", "mig"]}, list(COURSE)),
        ({"lessons": ["taints", "mig", "greedy"]}, ["greedy", "mig", "taints"]),
        ({"lessons": NONE}, NONE),
        ({"draDriver": False}, ["greedy", "lab4"]),
        ({"cluster": "kind"}, ["greedy", "lab4"]),
    ],
)
def test_the_lessons_are_those_that_are_named_and_of_all_those_that_can_be(
    values: dict[str, Any], course: list[str]
) -> None:
    assert parse({"pools": [POOL], **values}).course == course


def test_a_lesson_can_be_added_for_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pulumi.runtime.set_all_config({"lab:pools": json.dumps([POOL]), "lab:lessons": '["greedy"]'})
    monkeypatch.setenv("GPULAB_LESSON", "mig")
    assert lab_config().course == ["greedy", "mig"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"lessons": ["mig", "nosuch"]},
            ["lab:lessons:", "no lesson 'nosuch'; the lessons are greedy, lab4,"],
        ),
        ({"lessons": ["mig"], "draDriver": False}, ["lab:", "the lessons mig bring", "lab:draDriver `true`"]),
        ({"lessons": ["greedy", "mig"], "cluster": "kind"}, ["lab:", "the lessons mig bring", "`embedded`"]),
        ({"colour": "red"}, ["lab:colour: there is no such key; the keys are claims, cluster,", "'red'"]),
        ({"cluster": "minikube"}, ["lab:cluster:", "'embedded', 'kind' or 'existing'", "'minikube'"]),
        ({"operator": "own"}, ["lab:operator:", "'embedded' or 'upstream'", "'own'"]),
        ({"claims": "wrong"}, ["lab:claims:", "'corrected' or 'as-written'", "'wrong'"]),
        ({"draDriver": "yes"}, ["lab:draDriver:", "a valid boolean", "'yes'"]),
        ({"timeScale": "0"}, ["lab:timeScale:", "greater than or equal to 1", "'0'"]),
        ({"timeScale": "301"}, ["lab:timeScale:", "less than or equal to 300", "'301'"]),
        ({"timeScale": "fast"}, ["lab:timeScale:", "a valid integer", "'fast'"]),
        ({"pools": NONE}, ["lab:pools:", "at least 1 item", "[]"]),
        ({"pools": [{**POOL, "colour": "red"}]}, ["lab:pools.0.colour: there is no such key", "'red'"]),
        ({"pools": [{**POOL, "product": "H100"}]}, ["lab:pools.0.product:", "NVIDIA L40S,", "'H100'"]),
        ({"pools": [{**POOL, "count": 0}]}, ["lab:pools.0.count:", "greater than or equal to 1", "is 0"]),
        ({"pools": [{**POOL, "count": 129}]}, ["lab:pools.0.count:", "less than or equal to 128", "is 129"]),
        ({"pools": [{**POOL, "count": "4"}]}, ["lab:pools.0.count:", "a valid integer", "'4'"]),
        (
            {"pools": [{**POOL, "numaNodes": 3}]},
            ["lab:pools.0:", "4 GPUs do not share out evenly over 3 NUMA nodes."],
        ),
        (
            {"pools": [{**POOL, "memory": "40G"}]},
            ["lab:pools.0.memory:", "a whole number of Mi or Gi, such as 40Gi", "'40G'"],
        ),
        ({"pools": [{**POOL, "mechanism": "both"}]}, ["lab:pools.0.mechanism:", "'claimed'", "'both'"]),
        ({"pools": [{**POOL, "nodes": NONE}]}, ["lab:pools.0.nodes:", "at least 1 item", "[]"]),
        ({"pools": [{**POOL, "nodes": ["N_1"]}]}, ["lab:pools.0.nodes:", "lower-case", "'N_1'"]),
        ({"pools": [{**POOL, "name": "-x"}]}, ["lab:pools.0.name:", "lower-case", "'-x'"]),
        (
            {"pools": [POOL, {**OTHER, "nodes": ["node-01"]}]},
            ["lab:pools:", "each node can be named once, but node-01 is named again"],
        ),
        (
            {"pools": [POOL, {**OTHER, "name": "default"}]},
            ["lab:pools:", "each pool can be named once, but default is named again"],
        ),
        (
            {"pools": [{**POOL, "mechanism": "claimed"}]},
            ["lab: Part A", "needs a pool of mechanism `counted`."],
        ),
        (
            {"context": "mine"},
            [
                "lab: only where lab:cluster is `existing` can lab:context be set, and it is `embedded`;",
                "pulumi config rm",
            ],
        ),
        (
            {"kubeconfig": "~/mine", "context": "mine", "cluster": "kind"},
            ["lab: only", "can lab:kubeconfig and lab:context be set, and it is `kind`"],
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(values: dict[str, Any], sentence: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse({"pools": [POOL]} | values)
    first, line = str(caught.value).splitlines()
    assert first == "the stack's configuration is wrong:"
    assert line.startswith(f"  {sentence[0]}")
    assert line.endswith(".")
    assert [part for part in sentence if part not in line] == []


def test_missing_pools_are_named() -> None:
    with pytest.raises(ConfigError, match=r"lab:pools: Field required\.$"):
        parse({})


def test_every_mistake_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        parse({"cluster": "minikube", "claims": "wrong"})
    assert len(str(caught.value).splitlines()) == 4


def read(values: dict[str, str]) -> LabConfig:
    pulumi.runtime.set_all_config(values)
    read: list[LabConfig] = []
    record(lambda: read.append(lab_config()))
    return read[0]


def test_the_stack_s_values_are_read_from_text() -> None:
    config = read(
        {
            "lab:pools": json.dumps([POOL]),
            "lab:draDriver": "false",
            "lab:timeScale": "60",
            "lab:operatorChart": "[not JSON",
            "other:key": "not ours",
        }
    )
    assert config.pools[0].count == 4
    assert config.dra_driver is False
    assert config.time_scale == 60
    assert config.operator_chart == "[not JSON"


def test_a_misspelt_key_of_the_stack_is_noticed() -> None:
    with pytest.raises(ConfigError, match="lab:pool: there is no such key"):
        read({"lab:pools": json.dumps([POOL]), "lab:pool": "x"})
