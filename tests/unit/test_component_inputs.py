"""The inputs that components give their children, by the wire's names."""

# The tables below have columns of booleans.
# ruff: noqa: FBT001
from typing import Any

import pulumi
import pytest
from builds import (
    CLAIMED,
    COUNTED,
    POOLS,
    as_written,
    claim,
    consumer,
    corrected,
    device_class,
    greedy,
    template,
    template_consumer,
    workload,
)
from pulumi_kubernetes.core.v1 import Namespace
from recording import Build, Recording, record

from components.driver import CLASSES, GPU_CLASS, DraDriver, DraDriverArgs
from components.expectation import ClaimOutcome, ClaimRejected, ClaimState, PodsFit
from components.lessons import greedy as part_a
from components.lessons import lab4_claims as part_b
from components.lessons.lab4_claims import Claims, Lab4ClaimsArgs, one_gpu
from components.nodes import NodePool, NodePoolArgs, gpus_are_there, revision
from components.operator import (
    SIMULATOR_CHART,
    UPSTREAM_CHART,
    GpuOperator,
    GpuOperatorArgs,
    OperatorKind,
    simulator_values,
    upstream_values,
)
from dra.pool import GpuPool, Mechanism

RELEASE = "kubernetes:helm.sh/v3:Release"
NODE = "kubernetes:core/v1:Node"
PATCH = "kubernetes:core/v1:NodePatch"
POD = "kubernetes:core/v1:Pod"
DRA = "kubernetes:resource.k8s.io/v1"


def alone(build: Build) -> Recording:
    return record(lambda: build(None))


def operator(**args: Any) -> Recording:  # noqa: ANN401 - the arguments of GpuOperatorArgs
    return record(lambda: GpuOperator("op", GpuOperatorArgs(pools=POOLS, **args)))


def without_devices(values: dict[str, Any]) -> dict[str, Any]:
    for pool in values["topology"]["nodePools"].values():
        pool["devices"] = len(pool["devices"])
    return values


def test_the_simulator_s_values_are_the_pools() -> None:
    assert without_devices(simulator_values(POOLS, dra_driver=True)) == {
        "topology": {
            "nodePoolLabelKey": "run.ai/simulated-gpu-node-pool",
            "nodePools": {
                "default": {
                    "gpuProduct": "NVIDIA A100-SXM4-40GB",
                    "gpuCount": 4,
                    "gpuMemory": 40 * 1024,
                    "mechanism": "counted",
                    "devices": 0,
                },
                "training": {
                    "gpuProduct": "NVIDIA H100 80GB HBM3",
                    "gpuCount": 8,
                    "gpuMemory": 80 * 1024,
                    "mechanism": "claimed",
                    "devices": 8,
                },
            },
        },
        "draDriver": {"enabled": True, "driver": "gpu.nvidia.com"},
        "resyncSeconds": 5,
    }


def test_the_simulator_gets_the_devices_as_the_api_spells_them() -> None:
    values = simulator_values([CLAIMED], dra_driver=False)
    assert values["draDriver"]["enabled"] is False
    [pool] = values["topology"]["nodePools"].values()
    assert pool["devices"] == [device.document() for device in CLAIMED.devices()]
    assert pool["devices"][7]["attributes"]["resource.kubernetes.io/numaNode"] == {"int": 1}


@pytest.mark.parametrize(("nodes", "seconds"), [(1, 5), (239, 5), (240, 6), (4000, 100), (20000, 300)])
def test_more_nodes_are_looked_at_less_often(nodes: int, seconds: int) -> None:
    pool = GpuPool(name="big", product="NVIDIA T4", count=1, nodes=[f"n{index}" for index in range(nodes)])
    assert simulator_values([pool], dra_driver=True)["resyncSeconds"] == seconds


def test_upstream_s_own_default_pool_is_taken_out() -> None:
    assert upstream_values([CLAIMED], dra_driver=True) == {
        "topology": {
            "nodePoolLabelKey": "run.ai/simulated-gpu-node-pool",
            "nodePools": {
                "default": None,
                "training": {"gpuProduct": "NVIDIA H100 80GB HBM3", "gpuCount": 8, "gpuMemory": 81920},
            },
        },
        "kwokGpuDevicePlugin": {"enabled": False},
        "kwokDraPlugin": {"enabled": False},
    }


@pytest.mark.parametrize(
    ("pools", "driver", "plugin"),
    [([COUNTED], True, True), (POOLS, False, True), (POOLS, True, False)],
)
def test_upstream_gives_gpus_out_by_one_mechanism(
    pools: list[GpuPool],
    driver: bool,
    plugin: bool,
) -> None:
    values = upstream_values(pools, dra_driver=driver)
    assert values["kwokGpuDevicePlugin"]["enabled"] is plugin
    assert values["topology"]["nodePools"]["default"]["gpuCount"] == 4


def test_the_embedded_operator_is_the_lab_s_chart() -> None:
    recording = operator()
    release = recording.one(RELEASE, "op").inputs
    assert release["name"] == "fake-gpu-operator"
    assert release["namespace"] == "gpu-operator"
    assert release["chart"] == str(SIMULATOR_CHART)
    assert SIMULATOR_CHART.is_dir()
    assert "version" not in release
    assert release["values"] == simulator_values(POOLS, dra_driver=True)
    assert release["skipAwait"] is True


def test_upstream_s_operator_comes_at_its_version_with_the_stages_behind_it() -> None:
    recording = operator(kind=OperatorKind.UPSTREAM)
    release = recording.one(RELEASE, "op").inputs
    assert (release["chart"], release["version"]) == (UPSTREAM_CHART, "0.2.0")
    assert release["values"]["kwokGpuDevicePlugin"] == {"enabled": False}
    behind = recording.one(RELEASE, "op-simulator").inputs
    assert (behind["name"], behind["chart"]) == ("gpu-simulator", str(SIMULATOR_CHART))
    assert behind["values"] == simulator_values(POOLS, dra_driver=True)


def test_upstream_s_operator_stands_alone_on_real_nodes_and_is_waited_for() -> None:
    recording = operator(kind=OperatorKind.UPSTREAM, simulated_nodes=False, chart="./mirror")
    release = recording.one(RELEASE).inputs
    assert release["chart"] == "./mirror"
    assert "version" not in release
    assert release["skipAwait"] is False


def test_a_node_is_labelled_by_a_resource_of_its_own_after_node_and_operator() -> None:
    def program() -> None:
        first = Namespace("first")
        NodePool("default", NodePoolArgs(pool=COUNTED, operator=[first]))

    recording = record(program)
    node, patch = recording.one(NODE), recording.one(PATCH)
    assert node.inputs["metadata"] == {
        "name": "node-01",
        # Taken over by the label's own: what is recorded of it afterwards is ignored.
        "annotations": {"kwok.x-k8s.io/node": "fake", "pulumi.com/waitFor": "condition=Ready"},
        "labels": {"kubernetes.io/hostname": "node-01", "type": "kwok"},
    }
    assert patch.inputs["metadata"] == {
        "name": "node-01",
        "labels": {"run.ai/simulated-gpu-node-pool": "default"},
        "annotations": {
            "gpulab.dev/pool-revision": revision(COUNTED),
            "pulumi.com/patchForce": "true",
            "pulumi.com/waitFor": "jsonpath={.status.allocatable['nvidia.com/gpu']}=4",
        },
    }
    assert list(node.request.ignoreChanges) == ["metadata.annotations"]
    first = recording.one("kubernetes:core/v1:Namespace", "first")
    assert {node.urn, first.urn} <= set(patch.request.dependencies)


def test_a_real_node_is_labelled_and_not_made() -> None:
    recording = record(
        lambda: NodePool("training", NodePoolArgs(pool=CLAIMED, operator=[], create_nodes=False))
    )
    assert {resource.name for resource in recording.registered if resource.request.custom} == {
        "node-02-label",
        "node-03-label",
    }


def test_a_node_that_goes_to_another_pool_stays_the_same_resource() -> None:
    pools = [COUNTED, CLAIMED.model_copy(update={"nodes": COUNTED.nodes})]
    urns = [
        {made.urn for made in recording.registered if made.request.custom}
        for recording in (
            record(lambda pool=pool: NodePool(pool.name, NodePoolArgs(pool=pool, operator=[])))
            for pool in pools
        )
    ]
    assert urns[0] == urns[1] != set()


def test_a_pool_s_revision_changes_with_anything_of_it() -> None:
    other = [{"count": 5}, {"memory": "8Gi"}, {"product": "NVIDIA T4"}, {"name": "x"}]
    revisions = {revision(COUNTED), *(revision(COUNTED.model_copy(update=change)) for change in other)}
    assert len(revisions) == 1 + len(other)
    assert revision(COUNTED) == revision(COUNTED.model_copy())


@pytest.mark.parametrize(
    ("pool", "driver", "condition"),
    [
        (COUNTED, True, "jsonpath={.status.allocatable['nvidia.com/gpu']}=4"),
        (COUNTED, False, "jsonpath={.status.allocatable['nvidia.com/gpu']}=4"),
        (CLAIMED, True, "jsonpath={.metadata.annotations['gpulab.dev/gpu-mechanism']}=claimed"),
        (CLAIMED, False, "jsonpath={.metadata.labels['nvidia.com/gpu.count']}=8"),
    ],
)
def test_what_is_waited_for_depends_on_how_gpus_are_given_out(
    pool: GpuPool,
    driver: bool,
    condition: str,
) -> None:
    assert gpus_are_there(pool, dra_driver=driver) == condition


def test_the_greedy_deployment_asks_for_one_gpu_a_pod_and_is_not_waited_for() -> None:
    inputs = alone(workload).one("kubernetes:apps/v1:Deployment").inputs
    assert inputs["metadata"] == {
        "name": "gpu-greedy",
        "namespace": "space",
        "annotations": {"pulumi.com/skipAwait": "true", "pulumi.com/patchForce": "true"},
    }
    spec = inputs["spec"]
    assert spec["replicas"] == 6
    assert spec["selector"] == {"matchLabels": spec["template"]["metadata"]["labels"]}
    pod = spec["template"]["spec"]
    assert pod["nodeSelector"] == {"run.ai/simulated-gpu-node-pool": "default"}
    [container] = pod["containers"]
    assert container["resources"] == {"limits": {"nvidia.com/gpu": "1"}}


def test_the_greedy_lesson_s_workload_is_in_its_namespace() -> None:
    recording = alone(greedy)
    assert recording.one("kubernetes:core/v1:Namespace").inputs["metadata"] == {"name": "greedy"}
    assert recording.one("kubernetes:apps/v1:Deployment").inputs["metadata"]["namespace"] == "greedy"


@pytest.mark.parametrize(
    ("pool", "running", "reason"),
    [
        (COUNTED, 4, "Insufficient nvidia.com/gpu"),
        (COUNTED.model_copy(update={"nodes": ["a", "b"]}), 6, ""),
        (CLAIMED, 0, "Insufficient nvidia.com/gpu"),
    ],
)
def test_as_many_greedy_pods_run_as_there_are_counted_gpus(pool: GpuPool, running: int, reason: str) -> None:
    assert part_a.expected("greedy", pool) == PodsFit(
        step="4 greedy pods",
        namespace="greedy",
        label="app=gpu-greedy",
        running=running,
        pending=6 - running,
        reason=reason,
    )


def test_a_class_is_what_its_spec_says() -> None:
    made = alone(device_class).one(f"{DRA}:DeviceClass")
    assert made.inputs["metadata"] == {"name": "gpu.example.com"}
    assert made.inputs["spec"] == CLASSES[GPU_CLASS].document()
    assert made.request.deleteBeforeReplace


def test_without_a_driver_there_are_no_classes() -> None:
    recording = record(lambda: DraDriver("driver", DraDriverArgs(enabled=False)))
    assert [resource.type for resource in recording.registered] == ["gpulab:driver:DraDriver"]


@pytest.mark.parametrize("build", [claim, template])
def test_a_changed_claim_is_replaced_the_old_one_first(build: Build) -> None:
    kind = "ResourceClaim" if build is claim else "ResourceClaimTemplate"
    made = alone(build).one(f"{DRA}:{kind}")
    assert made.inputs["metadata"] == {"name": "one", "namespace": "space"}
    spec = one_gpu("NVIDIA T4").document()
    assert made.inputs["spec"] == (spec if build is claim else {"spec": spec})
    assert list(made.request.replaceOnChanges) == ["spec"]
    assert made.request.deleteBeforeReplace


@pytest.mark.parametrize(
    ("build", "kind", "key"),
    [
        (consumer, "ResourceClaim", "resourceClaimName"),
        (template_consumer, "ResourceClaimTemplate", "resourceClaimTemplateName"),
    ],
)
def test_a_pod_uses_its_claim_and_is_replaced_with_it(build: Build, kind: str, key: str) -> None:
    recording = alone(build)
    used, pod = recording.one(f"{DRA}:{kind}"), recording.one(POD)
    assert pod.inputs["metadata"] == {
        "name": "user",
        "namespace": "space",
        "annotations": {"pulumi.com/skipAwait": "true"},
    }
    spec = pod.inputs["spec"]
    assert spec["resourceClaims"] == [{"name": "device", key: "one"}]
    [container] = spec["containers"]
    assert container["resources"] == {"claims": [{"name": "device"}]}
    assert spec["terminationGracePeriodSeconds"] == 0
    assert pod.request.deleteBeforeReplace
    # By this the engine deletes the pod before the claim; by `replace_with` alone it does so in any order.
    assert list(pod.request.propertyDependencies["spec"].urns) == [used.urn]
    assert list(pod.request.replace_with) == []


@pytest.mark.parametrize("build", [corrected, as_written])
def test_every_pod_of_the_claims_lesson_uses_the_claim_of_its_name(build: Build) -> None:
    recording = alone(build)
    pods = [resource for resource in recording.registered if resource.type == POD]
    assert pods
    for pod in pods:
        name = pod.inputs["metadata"]["name"]
        used = recording.one(f"{DRA}:ResourceClaim", f"lab4-{name}")
        assert used.inputs["metadata"] == {"name": name, "namespace": "lab4"}
        assert pod.inputs["spec"]["resourceClaims"][0]["resourceClaimName"] == name
        assert list(pod.request.propertyDependencies["spec"].urns) == [used.urn]


def test_the_corrected_pair_shares_a_numa_node() -> None:
    spec = alone(corrected).one(f"{DRA}:ResourceClaim", "lab4-distributed-training").inputs["spec"]
    assert spec["devices"]["constraints"] == [
        {"requests": ["gpu-pair"], "matchAttribute": "resource.kubernetes.io/numaNode"}
    ]
    [request] = spec["devices"]["requests"]
    assert request["exactly"] == {
        "deviceClassName": "gpu.nvidia.com",
        "allocationMode": "ExactCount",
        "count": 2,
    }


@pytest.mark.parametrize(
    ("text", "product"), [(Claims.CORRECTED, "NVIDIA H100 80GB HBM3"), (Claims.AS_WRITTEN, "H100")]
)
def test_the_claim_asks_for_the_product_as_its_text_has_it(text: Claims, product: str) -> None:
    [request] = part_b.claim_specs(text)["training-gpu"].document()["devices"]["requests"]
    [selector] = request["exactly"]["selectors"]
    expression = f'device.attributes["gpu.nvidia.com"].productName == "{product}"'
    assert selector == {"cel": {"expression": expression}}


@pytest.mark.parametrize(
    ("text", "driver", "states"),
    [
        (Claims.CORRECTED, True, [ClaimState.ALLOCATED, ClaimState.NO_CONSUMER, ClaimState.ALLOCATED]),
        (Claims.CORRECTED, False, [ClaimState.NO_CLASS, ClaimState.NO_CONSUMER, ClaimState.NO_CLASS]),
        (Claims.AS_WRITTEN, True, [ClaimState.NO_MATCH, ClaimState.NO_CONSUMER, None]),
        (Claims.AS_WRITTEN, False, [ClaimState.NO_CLASS, ClaimState.NO_CONSUMER, None]),
    ],
)
def test_what_each_claim_comes_to(
    text: Claims,
    driver: bool,
    states: list[ClaimState | None],
) -> None:
    expected = part_b.expected("lab4", Lab4ClaimsArgs(claims=text, device_class=driver, pools=POOLS))
    assert [one.state if isinstance(one, ClaimOutcome) else None for one in expected] == states
    allocated = [(one.devices, one.same) for one in expected if isinstance(one, ClaimOutcome) and one.devices]
    both = [(1, None), (2, "resource.kubernetes.io/numaNode")]
    assert allocated == (both if text is Claims.CORRECTED and driver else [])
    for one in expected:
        if isinstance(one, ClaimRejected):
            [constraint] = one.spec.document()["devices"]["constraints"]
            assert constraint["matchAttribute"] == "gpu.nvidia.com/numa-node"
            assert one.because == "C identifier"


@pytest.mark.parametrize(
    ("change", "states"),
    [
        ({"product": "NVIDIA T4"}, [ClaimState.NO_MATCH, ClaimState.ALLOCATED]),
        ({"count": 2, "numa_nodes": 2, "nodes": ["n"]}, [ClaimState.ALLOCATED, ClaimState.NO_MATCH]),
        ({"mechanism": Mechanism.COUNTED}, [ClaimState.NO_DRIVER, ClaimState.NO_DRIVER]),
    ],
    ids=["another product", "a GPU a NUMA node", "counted"],
)
def test_what_the_claims_come_to_is_up_to_the_pools(change: dict[str, Any], states: list[ClaimState]) -> None:
    args = Lab4ClaimsArgs(
        claims=Claims.CORRECTED, device_class=True, pools=[CLAIMED.model_copy(update=change)]
    )
    one, _, two = part_b.expected("lab4", args)
    assert [one.state if isinstance(one, ClaimOutcome) else None, getattr(two, "state", None)] == states


PAIR = {"count": 2, "nodes": ["n1"], "numa_nodes": 1}
H100 = CLAIMED.model_copy(update=PAIR)
ONE_H100 = H100.model_copy(update={"name": "one", "count": 1, "nodes": ["n2"]})
APART = H100.model_copy(update={"name": "apart", "numa_nodes": 2, "nodes": ["n2"]})
T4 = H100.model_copy(update={"name": "t4", "product": "NVIDIA T4", "nodes": ["n2"]})
EITHER = (ClaimState.ALLOCATED, ClaimState.NO_MATCH)
SURE = (ClaimState.ALLOCATED, None)


@pytest.mark.parametrize(
    ("pools", "one", "two"),
    [
        ([H100], EITHER, EITHER),
        ([H100, ONE_H100], SURE, EITHER),
        ([H100, APART], SURE, EITHER),
        ([H100, T4], EITHER, SURE),
        ([H100.model_copy(update={"count": 3})], SURE, SURE),
        ([H100.model_copy(update={"nodes": ["n1", "n2"]})], SURE, SURE),
        ([H100, *[T4.model_copy(update={"nodes": [f"t{i}" for i in range(200)]})]], EITHER, SURE),
    ],
    ids=["too few", "one more", "apart", "another product", "enough", "two nodes", "many nodes"],
)
def test_where_claims_want_the_same_devices_either_end_is_as_expected(
    pools: list[GpuPool], one: tuple[ClaimState, ClaimState | None], two: tuple[ClaimState, ClaimState | None]
) -> None:
    args = Lab4ClaimsArgs(claims=Claims.CORRECTED, device_class=True, pools=pools)
    first, _, second = part_b.expected("lab4", args)
    assert isinstance(first, ClaimOutcome)
    assert isinstance(second, ClaimOutcome)
    assert (first.state, first.otherwise) == one
    assert (second.state, second.otherwise) == two


def test_components_give_what_the_lab_is_to_observe() -> None:
    made: list[Any] = []

    def program() -> None:
        options = pulumi.ResourceOptions()
        made.extend([greedy(options), as_written(options)])

    record(program)
    assert list(made[0].expectations) == [part_a.expected("greedy", COUNTED)]
    args = Lab4ClaimsArgs(claims=Claims.AS_WRITTEN, device_class=False)
    assert list(made[1].expectations) == part_b.expected("lab4", args)
