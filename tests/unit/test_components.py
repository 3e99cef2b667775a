"""What holds for every component: its children, and what it hands down to them."""

import json

import pulumi
import pytest
from builds import (
    as_written,
    claim,
    consumer,
    corrected,
    device_class,
    driver,
    greedy,
    nodes,
    operator,
    template,
    template_consumer,
    workload,
)
from recording import Build, record, record_inside

NAMESPACE = "kubernetes:core/v1:Namespace"
POD = "kubernetes:core/v1:Pod"
CLAIM = "kubernetes:resource.k8s.io/v1:ResourceClaim"
CLASS = "kubernetes:resource.k8s.io/v1:DeviceClass"

# The component's own token, its children below each other (type, name), its outputs.
SHAPES: list[tuple[Build, str, str, set[tuple[str, str]], dict[str, object]]] = [
    (
        operator,
        "gpulab:operator:GpuOperator",
        "op",
        {(NAMESPACE, "op-namespace"), ("kubernetes:helm.sh/v3:Release", "op")},
        {"status": "deployed"},
    ),
    (
        nodes,
        "gpulab:nodes:NodePool",
        "training",
        {
            ("kubernetes:core/v1:Node", "node-02"),
            ("kubernetes:core/v1:NodePatch", "node-02-label"),
            ("kubernetes:core/v1:Node", "node-03"),
            ("kubernetes:core/v1:NodePatch", "node-03-label"),
        },
        {"nodes": ["node-02", "node-03"]},
    ),
    (
        workload,
        "gpulab:workload:GreedyWorkload",
        "greedy",
        {("kubernetes:apps/v1:Deployment", "greedy")},
        {"name": "gpu-greedy"},
    ),
    (device_class, "gpulab:claims:DeviceClass", "class", {(CLASS, "class")}, {"name": "gpu.example.com"}),
    (
        driver,
        "gpulab:driver:DraDriver",
        "driver",
        {
            ("gpulab:claims:DeviceClass", "driver-gpu.nvidia.com"),
            (CLASS, "driver-gpu.nvidia.com"),
            ("gpulab:claims:DeviceClass", "driver-mig.nvidia.com"),
            (CLASS, "driver-mig.nvidia.com"),
        },
        {"classes": ["gpu.nvidia.com", "mig.nvidia.com"]},
    ),
    (claim, "gpulab:claims:ResourceClaim", "claim", {(CLAIM, "claim")}, {"name": "one"}),
    (
        template,
        "gpulab:claims:ResourceClaimTemplate",
        "template",
        {("kubernetes:resource.k8s.io/v1:ResourceClaimTemplate", "template")},
        {"name": "one"},
    ),
    (consumer, "gpulab:claims:ClaimConsumer", "pod", {(POD, "pod")}, {"name": "user"}),
    (template_consumer, "gpulab:claims:ClaimConsumer", "pod", {(POD, "pod")}, {"name": "user"}),
    (
        greedy,
        "gpulab:lessons:Greedy",
        "greedy",
        {
            (NAMESPACE, "greedy-namespace"),
            ("gpulab:workload:GreedyWorkload", "greedy-workload"),
            ("kubernetes:apps/v1:Deployment", "greedy-workload"),
        },
        {"placed": "gpu-greedy"},
    ),
    (
        corrected,
        "gpulab:lessons:Lab4Claims",
        "lab4",
        {
            (NAMESPACE, "lab4-namespace"),
            ("gpulab:claims:ResourceClaim", "lab4-training-gpu"),
            (CLAIM, "lab4-training-gpu"),
            ("gpulab:claims:ClaimConsumer", "lab4-training-gpu-pod"),
            (POD, "lab4-training-gpu-pod"),
            ("gpulab:claims:ResourceClaim", "lab4-distributed-training"),
            (CLAIM, "lab4-distributed-training"),
            ("gpulab:claims:ClaimConsumer", "lab4-distributed-training-pod"),
            (POD, "lab4-distributed-training-pod"),
            ("gpulab:claims:ResourceClaim", "lab4-unused"),
            (CLAIM, "lab4-unused"),
        },
        {
            "placed": [
                "training-gpu",
                "training-gpu",
                "distributed-training",
                "distributed-training",
                "unused",
            ]
        },
    ),
    (
        as_written,
        "gpulab:lessons:Lab4Claims",
        "lab4",
        {
            (NAMESPACE, "lab4-namespace"),
            ("gpulab:claims:ResourceClaim", "lab4-training-gpu"),
            (CLAIM, "lab4-training-gpu"),
            ("gpulab:claims:ClaimConsumer", "lab4-training-gpu-pod"),
            (POD, "lab4-training-gpu-pod"),
            ("gpulab:claims:ResourceClaim", "lab4-unused"),
            (CLAIM, "lab4-unused"),
        },
        {"placed": ["training-gpu", "training-gpu", "unused"]},
    ),
]

each = pytest.mark.parametrize(
    ("build", "token", "name", "children", "outputs"), SHAPES, ids=[shape[0].__name__ for shape in SHAPES]
)


@each
def test_a_component_has_its_children_below_it_and_declares_its_outputs_once(
    build: Build, token: str, name: str, children: set[tuple[str, str]], outputs: dict[str, object]
) -> None:
    recording = record_inside(build)
    component = recording.one(token, name)
    assert component.urn.endswith(f"{token}::{name}")
    below = recording.below(component.urn)
    assert {(child.type, child.name) for child in below} == children
    assert len(below) == len(children)
    assert recording.outputs_of(component.urn) == outputs


@each
def test_every_child_has_the_component_s_provider_and_goes_with_its_cluster(
    build: Build, token: str, name: str, children: set[tuple[str, str]], outputs: dict[str, object]
) -> None:
    del children, outputs
    recording = record_inside(build)
    provider = recording.one("pulumi:providers:kubernetes", "k8s").urn
    anchor = recording.one("command:local:Command", "anchor").urn
    below = recording.below(recording.one(token, name).urn)
    assert {child.request.deletedWith for child in below} == {anchor}
    assert {child.request.provider for child in below if child.request.custom} == {f"{provider}::k8s-id"}


@each
def test_a_component_needs_no_options(
    build: Build, token: str, name: str, children: set[tuple[str, str]], outputs: dict[str, object]
) -> None:
    recording = record(lambda: build(None))
    below = recording.below(recording.one(token, name).urn)
    assert {(child.type, child.name) for child in below} == children
    assert {(child.request.deletedWith, child.request.provider) for child in below} == {("", "")}
    assert recording.outputs_of(recording.one(token, name).urn) == outputs


@pytest.mark.parametrize("raising", ["true", "false"])
@pytest.mark.parametrize("build", [shape[0] for shape in SHAPES])
def test_no_output_is_formatted_as_text(build: Build, raising: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_ERROR_OUTPUT_STRING", raising)
    recording = record_inside(build)
    assert recording.registered
    for resource in recording.registered:
        assert "Calling __str__" not in json.dumps(resource.inputs)


def test_an_output_in_an_f_string_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Exception, match="Calling __str__"):
        str(pulumi.Output.from_input("x"))
    monkeypatch.setenv("PULUMI_ERROR_OUTPUT_STRING", "false")
    assert "Calling __str__" in f"{pulumi.Output.from_input('x')}"
