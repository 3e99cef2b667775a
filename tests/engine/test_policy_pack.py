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

from tests.engine.checkout import Checkout
from toolchain.environment import lab_environment

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
PACK = ROOT / "policies"

# Rendering to files asks no cluster, so everything but what a cluster makes up is known at preview.
HEAD = """
import json

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

def group(name, *objects):
    opts = pulumi.ResourceOptions(provider=here.provider)
    return ConfigGroup(name, yaml=[json.dumps(each) for each in objects], opts=opts)

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
    del environ["KUBECONFIG"]  # a provider that renders to files takes none
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


WORKS = (
    DEVICES
    + f"""
one_numa_node = [{{"requests": ["gpu"], "matchAttribute": "resource.kubernetes.io/numaNode"}}]
claim("two", {H100}, count=2, constraints=one_numa_node)
pod("user", "two")
devices = {{"devices": {{"requests": requests()}}}}
team = {{"namespace": "team"}}
ResourceClaimTemplate("each", metadata=team, spec={{"spec": devices}}, opts=here)
CustomResource(
    "custom", api_version="resource.k8s.io/v1", kind="ResourceClaim", metadata=team, spec=devices, opts=here
)
"""
)


def test_a_program_that_works_passes(program: Program) -> None:
    program.write(WORKS)
    limits = {"gpus-per-claim": {"maximum": 2}, "gpus-per-stack": {"maximum": 8}}
    previewed = program.preview(limits)
    assert previewed.status == 0, previewed.text
    assert "[mandatory]" not in previewed.text
    assert "✅" in previewed.text


# Each is wrong in one way; what stops it is the policy of that name.
WRONG = {
    "dra-shape": """
        misspelt = {"requests": ["gpu"], "matchAttribute": "gpu.nvidia.com/numa-node"}
        claim("shape", constraints=[misspelt])
    """,
    "dra-selectors": """
        claim("selectors", 'device.attributes["type"] == "gpu"')
    """,
    "required-labels": """
        guarded = {"selectors": [{"cel": {"expression": guard}}]}
        DeviceClass("labels", metadata={"name": "labels"}, spec=guarded, opts=here)
    """,
    "immutable-specs": """
        claim("immutable", opts=pulumi.ResourceOptions(provider=here.provider))
    """,
    "gpus-per-claim": """
        claim("greedy", count=6)
    """,
    "gpus-per-stack": "",  # all of them together
    "claims-satisfiable": """
        claim("pending", 'device.attributes["gpu.nvidia.com"].productName == "H100"')
    """,
    "constraints-hold": """
        claim("apart", count=5, constraints=[{"matchAttribute": "resource.kubernetes.io/numaNode"}])
    """,
    "device-classes": """
        claim("classless", cls="gpu.example.com")
    """,
    "one-mechanism": """
        has = {"allocatable": {"nvidia.com/gpu": "8"}}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-01"}, "status": has}
        pulumi.CustomResource("kubernetes:core/v1:Node", "counted", node, here)  # the typed one has no status
    """,
    "no-counted-gpu-beside-claim": """
        claim("one")
        pod("both", "one", limits={"nvidia.com/gpu": "1"})
    """,
    "admin-access": """
        claim("admin", adminAccess=True)
    """,
}


def test_a_program_that_is_wrong_in_every_way_is_stopped_for_each(program: Program) -> None:
    program.write(DEVICES + "".join(map(textwrap.dedent, WRONG.values())))
    previewed = program.preview(
        {
            "required-labels": {"labels": {"team": {}}, "kinds": ["DeviceClass"]},
            "gpus-per-claim": {"maximum": 5},
            "gpus-per-stack": {"maximum": 8},
        }
    )
    assert previewed.status != 0
    assert previewed.mandatory == sorted(WRONG), previewed.text


def test_levels_are_the_settings_business(program: Program) -> None:
    program.write(DEVICES + textwrap.dedent(WRONG["claims-satisfiable"]))
    assert program.preview({"claims-satisfiable": "advisory"}).status == 0
    assert program.preview({"all": "disabled"}).status == 0
    with_settings = program.preview({"claims-satisfiable": {"unknownValues": "warn"}})
    assert with_settings.mandatory == ["claims-satisfiable"]


def test_wrong_settings_stop_a_preview_with_a_sentence(program: Program) -> None:
    program.write("")
    by_schema = program.preview({"dra-shape": {"target": "1.33"}})
    assert by_schema.status != 0
    assert "dra-shape: target" in by_schema.text
    by_pack = program.preview({"dra-shape": {"taget": "1.34"}})
    assert by_pack.status != 0
    assert "There is no setting taget; the settings are enforcementLevel, intended, target," in by_pack.text
    assert "Traceback" not in by_schema.text + by_pack.text


# The provider's kubeconfig comes of a command, so at the first preview no output of a resource is known.
UNKNOWN_CLUSTER = """
from pulumi_command.local import Command

made = Command("cluster", create="cat kubeconfig")
here = pulumi.ResourceOptions(
    provider=Provider("made", kubeconfig=made.stdout), delete_before_replace=True, replace_on_changes=["spec"]
)
team = Namespace("team", metadata={"name": "team"}, opts=here)
"""


def test_the_first_preview_of_a_stack_that_makes_its_cluster_is_judged(program: Program) -> None:
    user = """
    nine = claim("nine", count=9, namespace=team.metadata.name)
    Pod("user", metadata={"namespace": team.metadata.name}, opts=here, spec={
        "containers": [{"name": "work", "image": "busybox", "resources": {"claims": [{"name": "nine"}]}}],
        "resourceClaims": [{"name": "nine", "resourceClaimName": nine.metadata.name}],
    })
    """
    program.write(UNKNOWN_CLUSTER + DEVICES + textwrap.dedent(user))
    previewed = program.preview()
    assert previewed.status != 0
    assert previewed.mandatory == ["claims-satisfiable"], previewed.text
    assert "ResourceClaim team/nine" in previewed.text
    program.write(UNKNOWN_CLUSTER + DEVICES + textwrap.dedent(user.replace("count=9", "count=8")))
    previewed = program.preview()
    assert previewed.status == 0, previewed.text


def test_what_is_not_known_at_preview_does_not_pass_in_silence(program: Program) -> None:
    program.write(UNKNOWN_CLUSTER + DEVICES + 'claim("unknown", count=made.stdout.apply(len))\n')
    previewed = program.preview()
    assert previewed.status != 0
    assert {"dra-shape", "claims-satisfiable"} <= set(previewed.mandatory)
    assert "requests[0].exactly.count is not known before the update" in previewed.text
    warn = {"unknownValues": "warn"}
    noted = program.preview(dict.fromkeys(previewed.mandatory, warn))
    assert noted.status == 0, noted.text
    assert "[advisory]  dra-shape" in noted.text


def test_a_yaml_group_shows_its_objects_lists_included(program: Program) -> None:
    program.write(
        """
        wrong = lambda name: {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": name},
            "spec": {"devices": {"requests": requests(count=-1)}},
        }
        listed = {"apiVersion": "v1", "kind": "List", "items": [wrong("listed")]}
        group("files", wrong("alone"), listed)
        """
    )
    previewed = program.preview({"all": "disabled", "dra-shape": "mandatory"})
    assert previewed.status != 0
    assert "ResourceClaim alone: spec.devices" in previewed.text
    assert "ResourceClaim listed: spec.devices" in previewed.text


def test_remediation_adds_the_labels_that_have_a_default(program: Program) -> None:
    program.write('claim("labelled")')
    rule: dict[str, Any] = {"labels": {"team": {"default": "ml"}}, "enforcementLevel": "remediate"}
    previewed = program.preview({"all": "disabled", "required-labels": rule})
    assert previewed.status == 0, previewed.text
    assert "[remediate]  required-labels" in previewed.text
    rule["enforcementLevel"] = "mandatory"
    assert program.preview({"all": "disabled", "required-labels": rule}).mandatory == ["required-labels"]


# The lab's own stacks, with the settings that say what their lessons show on purpose.
@pytest.mark.parametrize("stack", ["dev", "lesson"])
def test_the_labs_own_stacks_pass_with_their_settings(checkout: Checkout, stack: str) -> None:
    settings = ROOT / "policies" / f"{stack}.json"
    assert checkout.run("pulumi", "stack", "init", stack, stack=stack).returncode == 0
    words = ["pulumi", "--non-interactive", "preview", "--stack", stack, "--policy-pack", str(PACK)]
    with_settings = checkout.run(*words, "--policy-pack-config", str(settings), stack=stack)
    assert with_settings.returncode == 0, with_settings.stdout + with_settings.stderr
    without = checkout.run(*words, stack=stack)
    assert without.returncode != 0
