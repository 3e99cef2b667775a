"""What the objects of a stack mean together: the checker's findings, each under one policy."""

import json
from pathlib import Path
from typing import Any

import pytest
from harness import ADVISORY, UNKNOWN, Resource, run
from resources import (
    IS_H100,
    NUMA,
    TEMPLATE,
    claim,
    claim_spec,
    deployment,
    device_class,
    pod,
    pod_spec,
    resource_slice,
    template,
)

from policies.hidden import HIDDEN
from policies.together import (
    ADVICE,
    CLASSES,
    CONSTRAINTS,
    NOT_COUNTED_BESIDE_CLAIM,
    ONE_MECHANISM,
    SATISFIABLE,
)

DEVICES = [device_class(), resource_slice()]
EVERY = (SATISFIABLE, CONSTRAINTS, CLASSES, ONE_MECHANISM, NOT_COUNTED_BESIDE_CLAIM, ADVICE)
ON_ONE_NUMA_NODE = [{"requests": ["gpu"], "matchAttribute": NUMA}]
GUARDED = f'has(device.attributes["gpu.nvidia.com"].productName) && {IS_H100}'


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.name)
def test_a_stack_that_works_passes(rule: Any) -> None:  # noqa: ANN401 - a rule of any settings
    works = [
        *DEVICES,
        claim("gpu", GUARDED, count=4, constraints=ON_ONE_NUMA_NODE),
        pod(),
        template("each", count=2),
        deployment(pod_spec(mine=f"{TEMPLATE}each")),
    ]
    assert run(rule, works) == []
    assert run(rule, works, outputs_known=True, shown_before=False) == []


def test_a_claim_for_more_than_there_is_is_told_once() -> None:
    resources = [*DEVICES, claim("gpu", count=9), pod()]
    (said,) = run(SATISFIABLE, resources)
    assert said.startswith("ResourceClaim team/gpu: spec.devices.requests[0]")
    assert "No node can satisfy the claim" in said
    assert run(CONSTRAINTS, resources) == run(CLASSES, resources) == []


def test_a_selector_that_no_device_matches_is_told() -> None:
    (said,) = run(SATISFIABLE, [*DEVICES, claim("gpu", IS_H100.replace("NVIDIA H100 80GB HBM3", "H100"))])
    assert "(DRA301, docs/findings/DRA301.md)" in said


def test_a_constraint_that_cannot_hold_is_told_by_its_own_policy() -> None:
    resources = [*DEVICES, claim("gpu", count=5, constraints=ON_ONE_NUMA_NODE)]
    assert run(SATISFIABLE, resources) == []
    (said,) = run(CONSTRAINTS, resources)
    assert said.startswith("ResourceClaim team/gpu: spec.devices.constraints[0]")


def test_a_class_that_nobody_has_is_told_by_its_own_policy() -> None:
    resources = [*DEVICES, claim("gpu", deviceClassName="gpu.example.com")]
    assert run(SATISFIABLE, resources) == []
    (said,) = run(CLASSES, resources)
    assert "gpu.example.com" in said
    assert "DRA202" in said


def test_a_class_has_to_say_which_driver_its_devices_are_of() -> None:
    unguarded = device_class('device.attributes["gpu.nvidia.com"].productName == "x"')
    (said,) = run(CLASSES, [unguarded, resource_slice()])
    assert said.startswith("DeviceClass gpu.nvidia.com: ")


def test_a_stack_with_nothing_to_judge_by_does_not_pass() -> None:
    (said,) = run(SATISFIABLE, [claim()])
    assert said.startswith("The stack has claims, and neither ResourceSlices nor nodes to judge them by.")
    assert run(SATISFIABLE, [device_class()]) == []


def inventory(folder: Path, *resources: Resource) -> dict[str, str]:
    file = folder / "inventory.yaml"
    file.write_text("---\n".join(json.dumps(resource.inputs) + "\n" for resource in resources))
    return {"inventory": str(file)}


def test_an_inventory_file_says_what_the_cluster_has(tmp_path: Path) -> None:
    config = inventory(tmp_path, *DEVICES)
    assert run(SATISFIABLE, [claim(count=8)], config) == []
    assert run(CLASSES, [claim(count=8)], config) == []
    assert "No node can satisfy" in run(SATISFIABLE, [claim(count=9)], config)[0]


def test_an_inventory_that_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    (said,) = run(SATISFIABLE, [claim()], {"inventory": str(tmp_path / "gone.yaml")})
    assert said.startswith("The settings of this policy are wrong, so nothing is judged. inventory is ")
    (said,) = run(SATISFIABLE, [claim()], inventory(tmp_path, resource_slice(count=129)))
    assert "spec.devices" in said


def test_an_intended_verdict_is_silent_and_must_come_true() -> None:
    config = {"intended": {"team/gpu": "a lesson on what stays pending"}}
    assert run(SATISFIABLE, [*DEVICES, claim(count=9)], config) == []
    (said,) = run(SATISFIABLE, [*DEVICES, claim(count=1)], config)
    assert "`intended` says that team/gpu is to violate this policy, and it does not." in said
    assert len(run(SATISFIABLE, DEVICES, config)) == 1


def test_an_unknown_count_or_device_is_told_and_nothing_is_guessed() -> None:
    (said,) = run(SATISFIABLE, [*DEVICES, claim(count=UNKNOWN)])
    assert "requests[0].exactly.count is not known before the update" in said
    (note,) = run(SATISFIABLE, [*DEVICES, claim(count=UNKNOWN)], {"unknownValues": "warn"})
    assert note.startswith(ADVISORY)
    unknown_devices = Resource(resource_slice().inputs | {"spec": UNKNOWN}, name="node-01")
    (said,) = run(SATISFIABLE, [device_class(), unknown_devices, claim()])
    assert said.startswith("ResourceSlice node-01: cannot be judged at preview: spec is not known")


def test_an_unknown_value_concerns_only_those_who_look_at_it() -> None:
    stack = [*DEVICES, claim(count=UNKNOWN), pod()]
    assert run(ONE_MECHANISM, stack) == run(NOT_COUNTED_BESIDE_CLAIM, stack) == []
    labels = {"metadata": {"name": "node-01", "labels": UNKNOWN}}
    assert len(run(ONE_MECHANISM, [*DEVICES, Resource(node("node-01", None).inputs | labels)])) == 1


def test_a_claim_that_a_pod_names_by_an_output_is_found_by_dependency() -> None:
    nine = claim(count=9)
    spec = pod_spec(gpu=UNKNOWN)
    unknown = Resource(pod(spec=spec).inputs, name="pod", depends={"spec": [nine]})
    (said,) = run(SATISFIABLE, [*DEVICES, nine, unknown])
    assert said.startswith("ResourceClaim team/gpu")
    lost = Resource(pod(spec=spec).inputs, name="pod")
    assert any("resourceClaimName is not known" in said for said in run(SATISFIABLE, [*DEVICES, nine, lost]))


def test_counted_gpus_beside_a_claim_are_told() -> None:
    both = pod(spec=pod_spec({"nvidia.com/gpu": "1"}, gpu="gpu"))
    (said,) = run(NOT_COUNTED_BESIDE_CLAIM, [*DEVICES, claim(), both])
    assert said.startswith("Pod team/pod: ")
    assert run(NOT_COUNTED_BESIDE_CLAIM, [pod(spec=pod_spec({"nvidia.com/gpu": "1"}))]) == []


def node(name: str, gpus: str | None) -> Resource:
    status = {"allocatable": {"nvidia.com/gpu": gpus}} if gpus else {}
    return Resource(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}, name=name
    )


def test_gpus_that_are_counted_and_claimed_on_one_node_are_told() -> None:
    assert run(ONE_MECHANISM, [*DEVICES, node("node-01", None), node("node-02", "8")]) == []
    found = run(ONE_MECHANISM, [*DEVICES, node("node-01", "8")])
    assert {said.partition(":")[0] for said in found} == {"ResourceSlice node-01", "Node node-01"}


def simulator(pools: dict[str, Any], **values: Any) -> Resource:  # noqa: ANN401 - a chart's values
    return Resource(
        {"chart": "/somewhere/charts/gpu-simulator", "values": {"topology": {"nodePools": pools}, **values}},
        type_="kubernetes:helm.sh/v3:Release",
        name="operator",
    )


def label(node_name: str, pool: str) -> Resource:
    labels = {"run.ai/simulated-gpu-node-pool": pool}
    return Resource(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node_name, "labels": labels}},
        type_="kubernetes:core/v1:NodePatch",
        name=node_name,
    )


POOL = {"gpuProduct": "NVIDIA H100 80GB HBM3", "gpuCount": 8, "gpuMemory": 81920}


def test_the_simulators_pools_are_what_the_stack_has() -> None:
    stack = [device_class(), simulator({"h100": POOL | {"mechanism": "claimed"}}), label("node-02", "h100")]
    assert run(SATISFIABLE, [*stack, claim("gpu", IS_H100, count=8)]) == []
    assert len(run(SATISFIABLE, [*stack, claim(count=9)])) == 1
    off = simulator({"h100": POOL | {"mechanism": "claimed"}}, draDriver={"enabled": False})
    assert len(run(SATISFIABLE, [device_class(), off, label("node-02", "h100"), claim()])) == 1


def test_a_pool_that_is_counted_is_not_claimed() -> None:
    stack = [device_class(), simulator({"a100": POOL}), label("node-01", "a100"), node("node-01", None)]
    assert len(run(SATISFIABLE, [*stack, claim()])) == 1
    assert run(ONE_MECHANISM, stack) == []
    assert run(ONE_MECHANISM, [*stack, resource_slice("node-01")])


def test_advice_is_for_what_no_other_policy_has() -> None:
    shared = [*DEVICES, claim("gpu"), deployment(pod_spec(gpu="gpu"), replicas=3)]
    (said,) = run(ADVICE, shared)
    assert "DRA407" in said


@pytest.mark.parametrize("spec", [None, {}, "text", {"devices": None}, claim_spec(count="two")])
def test_odd_specs_make_no_traceback(spec: Any) -> None:  # noqa: ANN401 - odd types
    odd = claim()
    for rule in EVERY:
        run(
            rule,
            [*DEVICES, Resource(odd.inputs | {"spec": spec}, name="gpu"), pod(spec={"containers": None})],
        )


def test_a_release_and_an_empty_group_hide_their_objects() -> None:
    group = Resource({}, type_="kubernetes:yaml:ConfigGroup", name="files")
    release = Resource({"chart": "x"}, type_="kubernetes:helm.sh/v3:Release", name="chart")
    first, second = run(HIDDEN, [group, release, simulator({}), claim()])
    assert first.startswith("ConfigGroup files: its objects are shown once its provider can be configured")
    assert second.startswith("Release chart: a Helm Release does not show its objects")
