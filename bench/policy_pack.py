"""A preview of 200 resources with the policy pack and without, in turns."""

import json
import subprocess
import tempfile
from pathlib import Path

from bench.figures import BenchError, Figure, seconds
from toolchain.environment import lab_environment

REPO = Path(__file__).resolve().parent.parent

_LIMIT = 2.0

# Rendering to files asks no cluster. 1 class, 3 slices, 98 claims with a selector each, 98 pods of theirs.
_PROGRAM = """
import pulumi
from pulumi_kubernetes import Provider
from pulumi_kubernetes.core.v1 import Pod
from pulumi_kubernetes.resource.v1 import DeviceClass, ResourceClaim, ResourceSlice

here = pulumi.ResourceOptions(
    provider=Provider("files", render_yaml_to_directory="rendered"), delete_before_replace=True
)
guard = {"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]}
DeviceClass("class", metadata={"name": "gpu.nvidia.com"}, spec=guard, opts=here)
for node in ("a", "b", "c"):
    devices = [
        {
            "name": f"gpu-{index}",
            "attributes": {"productName": {"string": "NVIDIA H100 80GB HBM3"}, "index": {"int": index}},
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for index in range(8)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": node, "pool": pool, "devices": devices}
    ResourceSlice(f"slice-{node}", metadata={"name": node}, spec=spec, opts=here)
for number in range(98):
    name = f"work-{number}"
    metadata = {"name": name, "namespace": "team"}
    selector = f"device.attributes['gpu.nvidia.com'].index >= {number % 4}"
    exactly = {"deviceClassName": "gpu.nvidia.com", "selectors": [{"cel": {"expression": selector}}]}
    claim = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
    ResourceClaim(f"claim-{number}", metadata=metadata, spec=claim, opts=here)
    container = {"name": "work", "image": "busybox", "resources": {"claims": [{"name": "gpu"}]}}
    pod = {"containers": [container], "resourceClaims": [{"name": "gpu", "resourceClaimName": name}]}
    Pod(f"pod-{number}", metadata=metadata, spec=pod, opts=here)
"""


def measure(rounds: int) -> list[Figure]:
    """Return the readings of `rounds` rounds.

    Raises:
        BenchError: A preview failed.

    """
    without: list[float] = []
    with_pack: list[float] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        runtime = {"name": "python", "options": {"virtualenv": str(REPO / ".venv")}}
        (folder / "Pulumi.yaml").write_text(json.dumps({"name": "bench", "runtime": runtime}))
        (folder / "__main__.py").write_text(_PROGRAM)
        _pulumi(folder, "stack", "init", "bench")
        for _ in range(rounds):
            without.append(seconds(lambda: _pulumi(folder, "preview")))
            with_pack.append(
                seconds(lambda: _pulumi(folder, "preview", "--policy-pack", str(REPO / "policies")))
            )
    adds = [after - before for before, after in zip(without, with_pack, strict=True)]
    return [
        Figure(what="preview of 200 resources", readings=without),
        Figure(what="the same with the policy pack", readings=with_pack),
        Figure(what="what the policy pack adds", readings=adds, limit=_LIMIT),
    ]


def _pulumi(folder: Path, *words: str) -> None:
    environ = lab_environment(REPO) | {
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": f"file://{folder}",
    }
    del environ["KUBECONFIG"]  # a provider that renders to files takes none
    if words[0] == "preview":
        words = (*words, "--stack", "bench")
    done = subprocess.run(  # noqa: S603 - the lab's own tools, no shell
        ["pulumi", *words, "--non-interactive"],  # noqa: S607 - found through the lab's PATH
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchError(f"pulumi {' '.join(words)} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
