"""The GPU simulator, installed by Pulumi's Helm Release on a real control plane whose nodes are KWOK's."""

# The commands are the lab's own tools, found through PATH.
# ruff: noqa: S603, S607

import itertools
import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pulumi
import pulumi.automation as auto
import pulumi_kubernetes as k8s
import pytest
from pulumi_kubernetes.helm.v3 import Release, ReleaseArgs

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "gpu-simulator"
BASE_STAGES = ROOT / "charts" / "kwok-stages" / "stages.yaml"
POOL_LABEL = "run.ai/simulated-gpu-node-pool"
DEADLINE = 20  # seconds; what is waited for takes less than one, or one resync of five

Json = dict[str, Any]

POOLS: Mapping[str, Json] = {
    "a100": {"gpuProduct": "NVIDIA A100-SXM4-40GB", "gpuCount": 4, "gpuMemory": 40960},
    "t4": {"gpuProduct": "NVIDIA T4", "gpuCount": 1, "gpuMemory": 16384},
    "h100": {
        "gpuProduct": "NVIDIA H100 80GB HBM3",
        "gpuCount": 8,
        "gpuMemory": 81559,
        "mechanism": "claimed",
    },
    "l40s": {
        "gpuProduct": "NVIDIA L40S",
        "gpuCount": 2,
        "gpuMemory": 49152,
        "mechanism": "claimed",
        "devices": [
            {
                "name": f"gpu-{i}",
                "attributes": {"type": {"string": "gpu"}, "driverVersion": {"version": "580.126.20"}},
                "capacity": {"memory": {"value": "48Gi"}},
            }
            for i in range(2)
        ],
    },
    "mig": {
        "gpuProduct": "NVIDIA A100-SXM4-40GB",
        "gpuCount": 1,
        "gpuMemory": 40960,
        "mechanism": "claimed",
        "sharedCounters": [{"name": "gpu-0-counter-set", "counters": {"memory": {"value": "40Gi"}}}],
        "devices": [
            {
                "name": name,
                "attributes": {"type": {"string": kind}},
                "capacity": {"memory": {"value": memory}},
                "consumesCounters": [
                    {"counterSet": "gpu-0-counter-set", "counters": {"memory": {"value": memory}}},
                ],
            }
            for name, kind, memory in [("gpu-0", "gpu", "40Gi"), ("gpu-0-mig-1g5gb-19-0", "mig", "4864Mi")]
        ],
    },
}


@dataclass(frozen=True)
class Gpus:
    """All that the simulator may change on a node, in one value to compare."""

    capacity: str | None = None
    allocatable: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    pool: str | None = None

    @classmethod
    def of(cls, node: Json) -> "Gpus":
        metadata, status = node["metadata"], node["status"]
        return cls(
            capacity=status["capacity"].get("nvidia.com/gpu"),
            allocatable=status["allocatable"].get("nvidia.com/gpu"),
            labels={
                key: value
                for key, value in metadata.get("labels", {}).items()
                if key.startswith("nvidia.com/") or key == "run.ai/fake.gpu"
            },
            pool=metadata.get("annotations", {}).get("gpulab.dev/gpu-pool"),
        )

    @classmethod
    def expected(cls, name: str, pool: Json) -> "Gpus":
        count = str(pool["gpuCount"])
        counted = None if pool.get("mechanism") == "claimed" else count
        return cls(
            capacity=counted,
            allocatable=counted,
            labels={
                "nvidia.com/gpu.product": pool["gpuProduct"].replace(" ", "-"),
                "nvidia.com/gpu.memory": str(pool["gpuMemory"]),
                "nvidia.com/gpu.count": count,
                "nvidia.com/gpu.present": "true",
                "nvidia.com/mig.strategy": "mixed",
                "run.ai/fake.gpu": "true",
            },
            pool=name,
        )


NO_GPUS = Gpus()


def slice_names(node: str, pool: Json | None) -> set[str]:
    if pool is None or pool.get("mechanism") != "claimed":
        return set()
    return {f"kwok-{node}-gpu"} | (
        {f"kwok-{node}-gpu-counters"} if pool.get("sharedCounters") else set[str]()
    )


@dataclass(frozen=True)
class Cluster:
    kubeconfig: Path
    environment: Mapping[str, str]

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        command = ["kubectl", "--kubeconfig", str(self.kubeconfig), *arguments]
        done = subprocess.run(
            command, input=stdin, env=self.environment, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: Json) -> None:
        self.kubectl(
            "apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        )

    def get(self, *arguments: str) -> Json:
        return json.loads(self.kubectl("get", "-o", "json", *arguments))

    def wait_until(self, path: str, selector: str, reached: Callable[[list[Json]], bool]) -> list[Json]:
        """Watch the selected objects until they are as wanted; the server ends the watch at the deadline."""
        query = (
            f"{path}?watch=1&fieldSelector={selector}&timeoutSeconds={DEADLINE}"
            # With the initial events comes a bookmark, so that even "there are none" is an event.
            "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
        )
        seen: dict[str, Json] = {}
        complete = False
        with subprocess.Popen(
            ["kubectl", "--kubeconfig", str(self.kubeconfig), "get", "--raw", query],
            env=self.environment,
            stdout=subprocess.PIPE,
        ) as watch:
            assert watch.stdout is not None
            for line in watch.stdout:
                event: Json = json.loads(line)
                match event["type"]:
                    case "BOOKMARK":
                        complete = True
                    case "DELETED":
                        seen.pop(event["object"]["metadata"]["name"], None)
                    case _:
                        seen[event["object"]["metadata"]["name"]] = event["object"]
                if complete and reached(list(seen.values())):
                    watch.kill()
                    return list(seen.values())
        pytest.fail(f"{path} {selector}: not as wanted after {DEADLINE} s, but {json.dumps(seen, indent=1)}")

    def wait_for_gpus(self, node: str, gpus: Gpus, slices: set[str]) -> list[Json]:
        """Wait for what the node says, then for its ResourceSlices, and return these."""
        self.wait_until(
            "/api/v1/nodes", f"metadata.name={node}", lambda nodes: [Gpus.of(n) for n in nodes] == [gpus]
        )
        return self.wait_until(
            "/apis/resource.k8s.io/v1/resourceslices",
            f"spec.nodeName={node}",
            lambda found: {one["metadata"]["name"] for one in found} == slices,
        )

    def wait_for_pool(self, node: str, name: str, pools: Mapping[str, Json] = POOLS) -> list[Json]:
        return self.wait_for_gpus(node, Gpus.expected(name, pools[name]), slice_names(node, pools[name]))

    def label(self, node: str, pool: str | None) -> None:
        change = f"{POOL_LABEL}-" if pool is None else f"{POOL_LABEL}={pool}"
        self.kubectl("label", "--overwrite", "node", node, change)


@dataclass
class Simulator:
    """The chart as the product installs it: a Helm Release in a Pulumi program."""

    cluster: Cluster
    directory: Path
    stack_name: str = "chart"
    installed: Json | None = None

    def __post_init__(self) -> None:
        self.directory.mkdir()
        self._stack = auto.create_stack(
            self.stack_name,
            project_name="gpu-simulator",
            program=lambda: None,
            opts=auto.LocalWorkspaceOptions(
                work_dir=str(self.directory),
                project_settings=auto.ProjectSettings(
                    "gpu-simulator", "python", backend=auto.ProjectBackend(self.directory.as_uri())
                ),
                env_vars={
                    **self.cluster.environment,
                    "PULUMI_CONFIG_PASSPHRASE": "not a secret",
                    "PULUMI_HOME": str(self.directory / "home"),
                    "PULUMI_SKIP_UPDATE_CHECK": "true",
                },
            ),
        )

    def install(self, pools: Mapping[str, Json] = POOLS, **values: Any) -> None:  # noqa: ANN401
        wanted: Json = {"topology": {"nodePools": dict(pools)}, **values}
        if wanted == self.installed:
            return
        self.installed = None

        def program() -> None:
            provider = k8s.Provider("cluster", kubeconfig=self.cluster.kubeconfig.read_text())
            Release(
                "gpu-simulator",
                ReleaseArgs(chart=str(CHART), name=self.stack_name, namespace="default", values=wanted),
                opts=pulumi.ResourceOptions(provider=provider),
            )

        self._stack.workspace.program = program
        self._stack.up()
        self.installed = wanted

    def uninstall(self) -> None:
        self.installed = None
        self._stack.destroy()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("kwok")
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(
            [str(ROOT / ".lab" / "bin"), str(ROOT / ".venv" / "bin"), os.environ["PATH"]]
        ),
        "KWOK_WORKDIR": str(directory),
    }
    tools = {
        option: shutil.which(name, path=environment["PATH"])
        for option, name in {
            "etcdBinary": "etcd",
            "kubeApiserverBinary": "kube-apiserver",
            "kubeControllerManagerBinary": "kube-controller-manager",
            "kubeSchedulerBinary": "kube-scheduler",
            "kwokControllerBinary": "kwok",
            "kubectlBinary": "kubectl",
        }.items()
    }
    missing = [name for name in ("kwokctl", "pulumi") if not shutil.which(name, path=environment["PATH"])]
    missing += [option for option, path in tools.items() if path is None]
    if missing:
        pytest.fail(f"the tools are not there: {missing}; make tools finds or builds them")
    config = directory / "config.json"
    config.write_text(
        json.dumps(
            {
                "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
                "kind": "KwokctlConfiguration",
                "options": {"runtime": "binary", "bindAddress": "127.0.0.1", **tools},
                "componentsPatches": [
                    {
                        "name": "kube-apiserver",
                        "extraArgs": [{"key": "endpoint-reconciler-type", "value": "none"}],
                    }
                ],
            }
        )
    )
    name = "gpu-simulator"

    def kwokctl(*arguments: str) -> None:
        subprocess.run(["kwokctl", *arguments, "--name", name], env=environment, check=True)

    try:
        kwokctl(
            *("create", "cluster", "--config", str(config), "--kubeconfig", "", "--wait", "60s"),
            *("--disable-qps-limits", "--enable-crds", "Stage"),
        )
        running = Cluster(directory / "clusters" / name / "kubeconfig.yaml", environment)
        running.kubectl("apply", "--server-side", "-f", str(BASE_STAGES))
        yield running
    finally:
        kwokctl("delete", "cluster")


@pytest.fixture(scope="module")
def release(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    simulator = Simulator(cluster, tmp_path_factory.mktemp("pulumi") / "release")
    try:
        yield simulator
    finally:
        simulator.uninstall()


@pytest.fixture
def simulator(release: Simulator) -> Simulator:
    """The chart with POOLS, whatever the test before this one has made of it."""
    release.install()
    return release


node_numbers = itertools.count()


@pytest.fixture
def node(cluster: Cluster) -> Iterator[str]:
    name = f"node-{next(node_numbers)}"
    cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    try:
        cluster.kubectl("wait", "--for=condition=Ready", f"node/{name}", f"--timeout={DEADLINE}s")
        yield name
    finally:
        cluster.kubectl("delete", "node", name)


@pytest.mark.parametrize("pool", POOLS)
def test_label_brings_the_pool_and_its_end_takes_it_away(
    cluster: Cluster, simulator: Simulator, node: str, pool: str
) -> None:
    assert simulator.installed
    cluster.label(node, pool)
    cluster.wait_for_pool(node, pool)
    cluster.label(node, None)
    cluster.wait_for_gpus(node, NO_GPUS, set())


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(
    ("first", "second"),
    [("a100", "t4"), ("a100", "h100"), ("h100", "a100"), ("h100", "l40s"), ("mig", "h100"), ("h100", "mig")],
)
def test_another_label_brings_the_other_pool(cluster: Cluster, node: str, first: str, second: str) -> None:
    cluster.label(node, first)
    cluster.wait_for_pool(node, first)
    cluster.label(node, second)
    cluster.wait_for_pool(node, second)


@pytest.mark.usefixtures("simulator")
def test_node_born_with_the_label_has_everything_else_too(cluster: Cluster) -> None:
    metadata = {"name": "born-labelled", "labels": {POOL_LABEL: "a100"}}
    cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
    try:
        cluster.wait_for_pool("born-labelled", "a100")
        allocatable = cluster.get("node", "born-labelled")["status"]["allocatable"]
        assert {"cpu": "64", "memory": "512Gi", "pods": "250"}.items() <= allocatable.items()
    finally:
        cluster.kubectl("delete", "node", "born-labelled")


@pytest.mark.usefixtures("simulator")
def test_claimed_slice_is_the_nodes_and_has_the_uuids_of_fake_gpu_operator(
    cluster: Cluster, node: str
) -> None:
    cluster.label(node, "h100")
    (published,) = cluster.wait_for_pool(node, "h100")
    (owner,) = published["metadata"]["ownerReferences"]
    assert owner["uid"] == cluster.get("node", node)["metadata"]["uid"]
    spec = published["spec"]
    assert (spec["driver"], spec["nodeName"], spec["pool"]["name"]) == ("gpu.nvidia.com", node, node)
    assert [(device["name"], device["attributes"], device["capacity"]) for device in spec["devices"]] == [
        (
            f"gpu-{i}",
            {
                "type": {"string": "gpu"},
                "productName": {"string": "NVIDIA H100 80GB HBM3"},
                "uuid": {"string": f"GPU-{uuid.uuid5(uuid.UUID(int=0), f'{node}-{i}')}"},
            },
            {"memory": {"value": "81559Mi"}},
        )
        for i in range(8)
    ]


@pytest.mark.usefixtures("simulator")
def test_partitions_name_their_parent_and_stand_beside_their_counters(cluster: Cluster, node: str) -> None:
    cluster.label(node, "mig")
    slices = {one["metadata"]["name"]: one["spec"] for one in cluster.wait_for_pool(node, "mig")}
    devices, counters = slices[f"kwok-{node}-gpu"], slices[f"kwok-{node}-gpu-counters"]
    assert devices["pool"] == counters["pool"]
    assert devices["pool"]["resourceSliceCount"] == len(slices)
    whole, partition = (device["attributes"] for device in devices["devices"])
    assert partition["parentUUID"] == whole["uuid"]
    assert "uuid" not in partition


@pytest.mark.usefixtures("simulator")
def test_label_without_a_pool_gives_nothing_and_an_event_says_so(cluster: Cluster, node: str) -> None:
    cluster.label(node, "h100")
    cluster.wait_for_pool(node, "h100")
    cluster.label(node, "h1000")
    cluster.wait_for_gpus(node, Gpus(pool="h1000"), set())
    (event,) = cluster.wait_until(
        "/api/v1/events", f"involvedObject.name={node},reason=UnknownGpuPool", lambda events: len(events) == 1
    )
    assert event["type"] == "Warning"
    assert "a100, h100, l40s, mig, t4" in event["message"]
    cluster.label(node, "a100")
    cluster.wait_for_pool(node, "a100")


@pytest.mark.parametrize("pool", ["a100", "h100"])
def test_changed_count_reaches_the_nodes_by_itself(
    cluster: Cluster, simulator: Simulator, node: str, pool: str
) -> None:
    cluster.label(node, pool)
    before = cluster.wait_for_pool(node, pool)
    pools = {**POOLS, pool: {**POOLS[pool], "gpuCount": 3}}
    simulator.install(pools)
    after = cluster.wait_for_pool(node, pool, pools)
    for old, new in zip(before, after, strict=True):
        assert len(new["spec"]["devices"]) == 3
        assert new["spec"]["pool"]["generation"] > old["spec"]["pool"]["generation"]
        assert new["metadata"]["uid"] == old["metadata"]["uid"]


def test_changed_mechanism_and_vanished_pool_reach_the_nodes(
    cluster: Cluster, simulator: Simulator, node: str
) -> None:
    cluster.label(node, "a100")
    cluster.wait_for_pool(node, "a100")
    pools: dict[str, Json] = {**POOLS, "a100": {**POOLS["a100"], "mechanism": "claimed"}}
    simulator.install(pools)
    cluster.wait_for_pool(node, "a100", pools)
    del pools["a100"]
    simulator.install(pools)
    cluster.wait_for_gpus(node, Gpus(pool="a100"), set())  # as any label without a pool


def test_without_the_dra_driver_claimed_pools_publish_nothing(
    cluster: Cluster, simulator: Simulator, node: str
) -> None:
    cluster.label(node, "mig")
    cluster.wait_for_pool(node, "mig")
    simulator.install(draDriver={"enabled": False})
    cluster.wait_for_gpus(node, Gpus.expected("mig", POOLS["mig"]), set())


def test_uninstall_leaves_nothing_and_reinstall_works(
    cluster: Cluster, simulator: Simulator, node: str
) -> None:
    cluster.label(node, "mig")
    cluster.wait_for_pool(node, "mig")
    stages = {one["metadata"]["name"] for one in cluster.get("stages")["items"]}
    simulator.uninstall()
    cluster.wait_for_gpus(node, NO_GPUS, set())
    left = {one["metadata"]["name"] for one in cluster.get("stages")["items"]}
    assert left == {name for name in stages if not name.startswith("gpu-pool")}
    assert not cluster.get("secrets", "-A", "-l", "owner=helm")["items"]
    simulator.install()
    cluster.wait_for_pool(node, "mig")


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize("pool", ["a100", "h100"])
def test_idle_node_changes_by_its_heartbeat_only(cluster: Cluster, node: str, pool: str) -> None:
    def without_heartbeat(seen: Json) -> str:
        del seen["metadata"]["resourceVersion"], seen["metadata"]["managedFields"]
        for condition in seen["status"]["conditions"]:
            del condition["lastHeartbeatTime"]
        return json.dumps(seen, sort_keys=True)

    cluster.label(node, pool)
    slices = cluster.wait_for_pool(node, pool)
    states: list[str] = []

    def beaten_twice(nodes: list[Json]) -> bool:
        states.append(without_heartbeat(json.loads(json.dumps(nodes[0]))))
        return len(states) == 3

    cluster.wait_until("/api/v1/nodes", f"metadata.name={node}", beaten_twice)
    assert len(set(states)) == 1
    assert cluster.wait_for_pool(node, pool) == slices


@pytest.mark.usefixtures("simulator")
def test_running_pod_survives_the_end_of_its_pool(cluster: Cluster, node: str) -> None:
    cluster.label(node, "a100")
    cluster.wait_for_pool(node, "a100")
    limits = {"limits": {"nvidia.com/gpu": "4"}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": node},
        "spec": {"containers": [{"name": "training", "image": "simulated", "resources": limits}]},
    }
    cluster.apply(pod)
    try:
        cluster.kubectl("wait", "--for=condition=Ready", f"pod/{node}", f"--timeout={DEADLINE}s")
        cluster.label(node, None)
        cluster.wait_for_gpus(node, NO_GPUS, set())
        assert cluster.get("pod", node)["status"]["phase"] == "Running"
    finally:
        cluster.kubectl("delete", "pod", node)


@pytest.mark.usefixtures("node")
def test_job_completes_at_once_unless_it_says_how_long_it_runs(cluster: Cluster) -> None:
    def job(name: str, annotations: Mapping[str, str]) -> Json:
        container = {"name": "work", "image": "simulated"}
        template = {
            "metadata": {"annotations": annotations},
            "spec": {"restartPolicy": "Never", "containers": [container]},
        }
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {"template": template},
        }

    runs = "gpulab.dev/run-seconds"
    cluster.apply(job("long", {runs: "300"}), job("timed", {runs: "3"}), job("short", {}))
    try:
        cluster.kubectl("wait", "--for=condition=Complete", "job/short", f"--timeout={DEADLINE}s")
        cluster.kubectl("wait", "--for=condition=Complete", "job/timed", f"--timeout={DEADLINE}s")
        [pod] = cluster.get("pods", "--selector=batch.kubernetes.io/job-name=timed")["items"]
        [ended] = [one["state"]["terminated"]["finishedAt"] for one in pod["status"]["containerStatuses"]]
        ran = datetime.fromisoformat(ended) - datetime.fromisoformat(pod["status"]["startTime"])
        assert ran >= timedelta(seconds=3)
        cluster.kubectl("wait", "--for=jsonpath={.status.ready}=1", "job/long", f"--timeout={DEADLINE}s")
    finally:
        cluster.kubectl("delete", "job", "long", "timed", "short")


H100 = POOLS["h100"]
DEVICES = POOLS["l40s"]["devices"]


@pytest.mark.parametrize(
    ("pool", "complaint"),
    [
        ({**H100, "gpuCount": 0}, "at '/topology/nodePools/bad/gpuCount': minimum: got 0, want 1"),
        ({**H100, "gpuModel": "H100"}, "additional properties 'gpuModel' not allowed"),
        ({**H100, "mechanism": "both"}, "value must be one of 'counted', 'claimed'"),
        ({**H100, "devices": DEVICES}, 'Pool "bad" has gpuCount 8 but lists 2 devices'),
        ({**H100, "gpuCount": 2, "devices": [DEVICES[0]] * 2}, 'lists the device "gpu-0" twice'),
        ({**POOLS["t4"], "devices": DEVICES[:1]}, 'Pool "bad" is counted'),
        (
            {**H100, "gpuCount": 1, "devices": [{"name": "gpu-0", "attributes": {"uuid": {"string": "x"}}}]},
            "leave uuid and parentUUID out",
        ),
        ({**POOLS["mig"], "devices": []}, "no devices that consume them"),
        (
            {**POOLS["mig"], "sharedCounters": [{"name": "other", "counters": {"memory": {"value": "1"}}}]},
            'counter set "gpu-0-counter-set", which is not among',
        ),
    ],
)
def test_values_that_make_no_sense_are_refused_with_a_reason(
    cluster: Cluster, tmp_path: Path, pool: Json, complaint: str
) -> None:
    simulator = Simulator(cluster, tmp_path / "refused", stack_name="refused")
    try:
        with pytest.raises(auto.CommandError) as refusal:
            simulator.install({"bad": pool})
        assert complaint in str(refusal.value)
    finally:
        simulator.uninstall()
