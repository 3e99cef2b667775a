"""The whole program, as a preview runs it, and rules that hold for all its source."""

import ast
import json
import runpy
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from recording import Recording, record

from components.lessons.course import COURSE, OF_LAB4, class_name

ROOT = Path(__file__).resolve().parents[2]
LAYERS = {"dra", "components", "lab", "policies", "toolchain", "control_plane"}
FORBIDDEN = {
    "dra": (LAYERS - {"dra"}) | {"pulumi", "pulumi_kubernetes", "pulumi_command", "pulumi_policy"},
    "components": {"lab", "policies", "toolchain"},
    "control_plane": LAYERS - {"control_plane"},
}
COMPONENTS = 11 + len(COURSE) - len(OF_LAB4)


def settings(stack: str) -> dict[str, str]:
    """Return the configuration as the engine hands it on: the project's defaults below the stack's."""
    project: dict[str, Any] = yaml.safe_load((ROOT / "Pulumi.yaml").read_text(encoding="utf-8"))
    file = ROOT / f"Pulumi.{stack}.yaml"
    values = {f"lab:{key}": declared["default"] for key, declared in project["config"].items()}
    values |= yaml.safe_load(file.read_text(encoding="utf-8"))["config"]
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}


def preview(stack: str) -> Recording:
    pulumi.runtime.set_all_config(settings(stack))
    return record(lambda: runpy.run_path(str(ROOT / "__main__.py")), preview=True)


@pytest.mark.usefixtures("repo")
@pytest.mark.parametrize(
    ("stack", "components"),
    [
        (
            "dev",
            {
                ("gpulab:cluster:Cluster", "lab"),
                ("gpulab:operator:GpuOperator", "fake-gpu-operator"),
                ("gpulab:nodes:NodePool", "default"),
                ("gpulab:nodes:NodePool", "training"),
                ("gpulab:driver:DraDriver", "dra-driver"),
                ("gpulab:lessons:Greedy", "greedy"),
                ("gpulab:lessons:Lab4Claims", "lab4"),
                *((f"gpulab:lessons:{class_name(name)}", name) for name in COURSE if name not in OF_LAB4),
            },
        ),
        (
            "lesson",
            {
                ("gpulab:cluster:Cluster", "lab"),
                ("gpulab:operator:GpuOperator", "fake-gpu-operator"),
                ("gpulab:nodes:NodePool", "default"),
                ("gpulab:driver:DraDriver", "dra-driver"),
                ("gpulab:lessons:Greedy", "greedy"),
                ("gpulab:lessons:Lab4Claims", "lab4"),
            },
        ),
    ],
)
def test_the_program_is_its_components_each_resource_once(
    stack: str, components: set[tuple[str, str]]
) -> None:
    recording = preview(stack)
    everything = [(resource.type, resource.name) for resource in recording.registered]
    assert len(everything) == len(set(everything))
    tops = [recording.one(*component) for component in components]
    below = [(child.type, child.name) for top in tops for child in recording.below(top.urn)]
    assert sorted([*below, *components]) == sorted(everything)


@pytest.mark.usefixtures("repo")
@pytest.mark.parametrize("stack", ["dev", "lesson"])
def test_all_that_is_in_the_cluster_uses_its_provider_and_goes_with_it(stack: str) -> None:
    recording = preview(stack)
    provider = recording.one("pulumi:providers:kubernetes").urn
    cluster = recording.one("command:local:Command").urn
    inside = [r for r in recording.registered if r.type.startswith("kubernetes:")]
    assert inside
    assert {r.request.provider for r in inside} == {f"{provider}::lab-provider-id"}
    assert {r.request.deletedWith for r in inside} == {cluster}


def inherits(node: ast.ClassDef, base: str) -> bool:
    return any(ast.unparse(one).split(".")[-1] == base for one in node.bases)


def components() -> list[tuple[Path, ast.ClassDef]]:
    return [
        (path.relative_to(ROOT / "components"), node)
        for path in sorted((ROOT / "components").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and (inherits(node, "ComponentResource") or inherits(node, "Lesson"))
        and node.name != "Lesson"  # what the lessons have in common, no component by itself
    ]


def test_every_component_was_inspected() -> None:
    assert len(components()) == COMPONENTS


@pytest.mark.parametrize(
    ("path", "component"), components(), ids=lambda it: it.name if isinstance(it, ast.ClassDef) else str(it)
)
def test_a_component_has_its_token_and_ends_by_registering_its_outputs(
    path: Path, component: ast.ClassDef
) -> None:
    [init] = [it for it in component.body if isinstance(it, ast.FunctionDef) and it.name == "__init__"]
    calls = [it for it in ast.walk(component) if isinstance(it, ast.Call)]
    registering = [it for it in calls if ast.unparse(it.func) == "self.register_outputs"]
    assert len(registering) == 1
    last = init.body[-1]
    assert isinstance(last, ast.Expr)
    assert last.value is registering[0]
    [starting] = [it for it in calls if ast.unparse(it.func) == "super().__init__"]
    module = path.parts[0] if len(path.parts) > 1 else path.stem
    assert ast.literal_eval(starting.args[0]) == f"gpulab:{module}:{component.name}"


def imported(source: str) -> set[str]:
    """Return the packages that a source imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


def test_imports_are_found_wherever_they_are() -> None:
    source = "import lab.x\ndef f():\n    from policies.y import z\n    import os, dra"
    assert imported(source) == {"lab", "policies", "os", "dra"}


@pytest.mark.parametrize("layer", sorted(FORBIDDEN))
def test_a_layer_does_not_import_those_above_it(layer: str) -> None:
    sources = sorted((ROOT / layer).rglob("*.py"))
    assert len(sources) > 1
    wrong = {
        str(path.relative_to(ROOT)): both
        for path in sources
        if (both := imported(path.read_text(encoding="utf-8")) & FORBIDDEN[layer])
    }
    assert wrong == {}
