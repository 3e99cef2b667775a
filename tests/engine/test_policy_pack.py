"""The policy pack under the real engine: previews that it stops, and that it lets pass. No cluster."""

import json
import re
import subprocess
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolchain.environment import lab_environment

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
PACK = ROOT / "policies"

# Rendering to files asks no cluster, so everything but what a cluster makes up is known at preview.
HEAD = """
import pulumi
from pulumi_kubernetes import Provider
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import Namespace, Pod
from pulumi_kubernetes.resource.v1 import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from pulumi_kubernetes.yaml import ConfigGroup

here = pulumi.ResourceOptions(
    provider=Provider("files", render_yaml_to_directory="rendered"),
    delete_before_replace=True,
    replace_on_changes=["spec"],
)

def requests(*expressions, count=1, cls="gpu.nvidia.com", **more):
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    exactly = {"deviceClassName": cls, "count": count, "selectors": selectors} | more
    return [{"name": "gpu", "exactly": exactly}]

def claim(name, *expressions, constraints=(), namespace="team", opts=here, **more):
    devices = {"requests": requests(*expressions, **more), "constraints": list(constraints)}
    return ResourceClaim(
        name, metadata={"name": name, "namespace": namespace}, spec={"devices": devices}, opts=opts
    )

def pod(name, *claims, limits=None):
    return Pod(
        name,
        metadata={"name": name, "namespace": "team"},
        spec={
            "containers": [
                {
                    "name": "work",
                    "image": "busybox",
                    "resources": {"claims": [{"name": each} for each in claims], "limits": limits or {}},
                }
            ],
            "resourceClaims": [{"name": each, "resourceClaimName": each} for each in claims],
        },
        opts=here,
    )
"""
# Four GPUs of 80Gi on each of two NUMA nodes, as the operator's chart or a DRA driver has them.
DEVICES = """
guard = "device.driver == 'gpu.nvidia.com'"
DeviceClass(
    "class",
    metadata={"name": "gpu.nvidia.com"},
    spec={"selectors": [{"cel": {"expression": guard}}]},
    opts=here,
)
ResourceSlice(
    "slice",
    metadata={"name": "node-01"},
    spec={
        "driver": "gpu.nvidia.com",
        "nodeName": "node-01",
        "pool": {"name": "node-01", "generation": 1, "resourceSliceCount": 1},
        "devices": [
            {
                "name": f"gpu-{index}",
                "attributes": {
                    "productName": {"string": "NVIDIA H100 80GB HBM3"},
                    "resource.kubernetes.io/numaNode": {"int": index // 4},
                },
                "capacity": {"memory": {"value": "80Gi"}},
            }
            for index in range(8)
        ],
    },
    opts=here,
)
"""
H100 = """'device.attributes["gpu.nvidia.com"].productName == "NVIDIA H100 80GB HBM3"'"""


@dataclass(frozen=True)
class Previewed:
    """What a preview printed."""

    status: int
    text: str

    @property
    def mandatory(self) -> list[str]:
        """The names of the policies that stopped it, each once."""
        return sorted(set(re.findall(r"\[mandatory\]\s+(\S+)", self.text)))


@dataclass(frozen=True)
class Program:
    """A Pulumi program in a folder, with a home and a state of its own."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)

    def write(self, code: str) -> None:
        (self.folder / "__main__.py").write_text(HEAD + textwrap.dedent(code))

    def run(self, *words: str) -> Previewed:
        done = subprocess.run(  # noqa: S603 - the lab's own pulumi
            ["pulumi", "--non-interactive", *words],  # noqa: S607 - found through the lab's PATH
            cwd=self.folder,
            env=dict(self.environ),
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        return Previewed(done.returncode, done.stdout + done.stderr)

    def preview(self, config: Mapping[str, Any] | None = None, pack: Path = PACK) -> Previewed:
        words = ["preview", "--stack", "dev", "--policy-pack", str(pack)]
        if config is not None:
            file = self.folder / "policies.json"
            file.write_text(json.dumps(config))
            words += ["--policy-pack-config", str(file)]
        return self.run(*words)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    environ = lab_environment(ROOT) | {
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path}",
    }
    runtime = {"name": "python", "options": {"virtualenv": str(ROOT / ".venv")}}
    (tmp_path / "Pulumi.yaml").write_text(json.dumps({"name": "small", "runtime": runtime}))
    made = Program(tmp_path, environ)
    assert made.run("stack", "init", "dev").status == 0
    return made


def test_a_pack_is_told_its_stack(program: Program) -> None:
    pack = program.folder / "probe"
    pack.mkdir()
    virtualenv = {"name": "python", "options": {"virtualenv": str(ROOT / ".venv")}}
    (pack / "PulumiPolicy.yaml").write_text(json.dumps({"runtime": virtualenv}))
    (pack / "__main__.py").write_text(
        textwrap.dedent(
            """
            import pulumi
            from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

            def validate(args, report):
                told = [pulumi.get_project(), pulumi.get_stack(), pulumi.runtime.is_dry_run()]
                report(f"told {told} {pulumi.Config().get('colour')}")

            policy = ResourceValidationPolicy("probe", "Says what it was told.", validate)
            PolicyPack("probe", [policy], EnforcementLevel.ADVISORY)
            """
        )
    )
    program.write("")
    assert program.run("config", "set", "--stack", "dev", "colour", "green").status == 0
    assert "told ['small', 'dev', True] green" in program.preview(pack=pack).text


def test_a_pack_that_does_not_start_stops_the_preview(program: Program) -> None:
    pack = program.folder / "broken"
    pack.mkdir()
    virtualenv = {"name": "python", "options": {"virtualenv": str(ROOT / ".venv")}}
    (pack / "PulumiPolicy.yaml").write_text(json.dumps({"runtime": virtualenv}))
    (pack / "__main__.py").write_text("raise ValueError('it is broken')\n")
    program.write("")
    previewed = program.preview(pack=pack)
    assert previewed.status != 0
    assert "it is broken" in previewed.text
