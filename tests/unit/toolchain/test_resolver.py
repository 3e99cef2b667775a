"""Where a tool comes from, and the reason that is told."""

import os
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from semver import Version

from toolchain import versions as versions_module
from toolchain.builder import Builder, cached_folder
from toolchain.errors import ToolchainError
from toolchain.go import Go
from toolchain.links import place, remove_others
from toolchain.plugins import wheel_version
from toolchain.progress import Progress
from toolchain.resolver import Resolved, Resolver
from toolchain.tools import TOOLS, Tool
from toolchain.versions import Versions

Script = Callable[[Path, str], Path]
BY_NAME = {tool.name: tool for tool in TOOLS}


def no_go() -> Go:
    raise ToolchainError("no Go")


def resolver(tmp_path: Path, *path: Path, builds: bool = False) -> Resolver:
    system = ["/usr/bin", "/bin"] if builds else []
    environ = {"PATH": os.pathsep.join([*map(str, path), *system]), "HOME": str(tmp_path / "home")}
    cache = tmp_path / "cache"
    builder = Builder(cache, Progress(StringIO()), no_go) if builds else None
    return Resolver(tmp_path / "repo", environ, cache, Versions(cache / "versions.json", environ), builder)


def says(script: Script, folder: Path, name: str, version: str) -> Path:
    return script(folder / name, f"echo '{name} Version: {version}'")


def test_a_fitting_tool_on_path_is_taken(tmp_path: Path, script: Script) -> None:
    etcd = says(script, tmp_path / "a", "etcd", "3.6.4")
    found = resolver(tmp_path, tmp_path / "a").resolve(BY_NAME["etcd"])
    assert (found.origin, found.version, found.path, found.why) == ("PATH", "3.6.4", etcd, "fits")


def test_a_fitting_tool_behind_an_unfitting_one_is_taken(tmp_path: Path, script: Script) -> None:
    says(script, tmp_path / "old", "kubectl", "v1.32.4")
    new = says(script, tmp_path / "new", "kubectl", "v1.38.0")
    found = resolver(tmp_path, tmp_path / "old", tmp_path / "new").resolve(BY_NAME["kubectl"])
    assert found.path == new
    assert "kubectl 1.32.4" in found.why
    assert ">=1.36.0" in found.why


@pytest.mark.parametrize("version", ["v1.36.9", "v1.38.0", "v1.37.0-rc.1"])
def test_another_minor_version_of_kubernetes_does_not_fit(
    tmp_path: Path, script: Script, version: str
) -> None:
    says(script, tmp_path / "a", "kube-apiserver", version)
    found = resolver(tmp_path, tmp_path / "a").resolve(BY_NAME["kube-apiserver"])
    assert found.origin == "missing"
    assert version.removeprefix("v") in found.why
    assert "make tools" in found.why


def test_the_wheel_s_kubectl_is_taken_when_path_has_none(tmp_path: Path, script: Script) -> None:
    wheel = says(script, tmp_path / "repo/.venv/bin", "kubectl", "v1.37.1")
    found = resolver(tmp_path, tmp_path / "repo/.venv/bin").resolve(BY_NAME["kubectl"])
    assert (found.origin, found.path, found.why) == ("venv", wheel, "fits")


def test_what_was_built_before_is_taken_without_being_run(tmp_path: Path, script: Script) -> None:
    etcd = BY_NAME["etcd"]
    assert etcd.recipe
    built = script(cached_folder(etcd.recipe, tmp_path / "cache") / "bin/etcd", "exit 1")
    found = resolver(tmp_path).resolve(etcd)
    assert (found.origin, found.path, found.why) == ("cache", built, "not on PATH")


def test_the_lab_s_own_links_are_not_taken_for_path(tmp_path: Path, script: Script) -> None:
    own = tmp_path / "repo/.lab/bin"
    says(script, own, "etcd", "3.6.4")
    assert resolver(tmp_path, own).resolve(BY_NAME["etcd"]).origin == "missing"


def test_a_program_that_does_not_tell_its_version_is_not_taken(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "a/etcd", "exit 3")
    script(tmp_path / "b/etcd", "exec tail -f /dev/null")
    monkeypatch.setattr(versions_module, "DEADLINE", 0.2)
    looking = resolver(tmp_path, tmp_path / "a", tmp_path / "b", Path("/usr/bin"))
    found = looking.resolve(replace(BY_NAME["etcd"], recipe=None))
    assert found.origin == "missing"
    assert found.why.count("a version it does not tell") == 2


def test_another_checkout_s_stand_in_is_not_the_official_plugin(tmp_path: Path, script: Script) -> None:
    script(tmp_path / "a/pulumi-language-python", "# gpulab stand-in\necho 3.999.0")
    assert resolver(tmp_path, tmp_path / "a").resolve(BY_NAME["pulumi-language-python"]).origin == "missing"


def test_the_official_language_host_is_preferred_to_the_stand_in(tmp_path: Path, script: Script) -> None:
    host = script(tmp_path / "a/pulumi-language-python", "echo 3.290.0")
    found = resolver(tmp_path, tmp_path / "a", builds=True).resolve(BY_NAME["pulumi-language-python"])
    assert (found.origin, found.path) == ("PATH", host)


def test_a_refused_download_of_the_command_plugin_is_not_tried_again(tmp_path: Path, script: Script) -> None:
    calls = tmp_path / "calls"
    script(tmp_path / "repo/.lab/bin/pulumi", f"echo \"$@\" >> '{calls}'; exit 1")
    found = [resolver(tmp_path, builds=True).resolve(BY_NAME["pulumi-resource-command"]) for _ in range(2)]
    assert [one.origin for one in found] == ["stand-in", "stand-in"]
    assert calls.read_text().split("\n") == [f"plugin install resource command {wheel_version()}", ""]


def test_a_tool_is_asked_for_its_version_once_for_each_file(tmp_path: Path, script: Script) -> None:
    calls = tmp_path / "calls"
    etcd = script(tmp_path / "a/etcd", f"echo x >> '{calls}'; echo 3.6.1")
    for _ in range(2):
        asking = Versions(tmp_path / "versions.json", os.environ)
        assert asking.of(BY_NAME["etcd"], etcd) == Version(3, 6, 1)
        asking.save()
    assert calls.read_text() == "x\n"
    script(etcd, "echo etcd 3.6.10")
    assert Versions(tmp_path / "versions.json", os.environ).of(BY_NAME["etcd"], etcd) == Version(3, 6, 10)


def test_a_spoilt_version_file_costs_only_time(tmp_path: Path, script: Script) -> None:
    (tmp_path / "versions.json").write_text("[1, ")
    etcd = script(tmp_path / "a/etcd", "echo 3.6.1")
    assert Versions(tmp_path / "versions.json", os.environ).of(BY_NAME["etcd"], etcd) == Version(3, 6, 1)


def test_links_are_replaced_and_stale_ones_removed(tmp_path: Path, script: Script) -> None:
    folder = tmp_path / "repo/.lab/bin"
    folder.mkdir(parents=True)
    (folder / "etcd").symlink_to(tmp_path / "gone")
    (folder / "helm").symlink_to(script(tmp_path / "helm", ""))
    found = Resolved(BY_NAME["etcd"], "3.6.1", "PATH", "fits", script(tmp_path / "a/etcd", ""))
    standin = Resolved(BY_NAME["pulumi-language-python"], "", "stand-in", "not on PATH")
    for one in (found, standin):
        place(tmp_path / "repo", tmp_path / "cache", one)
    remove_others(tmp_path / "repo", [found, standin])
    assert sorted(entry.name for entry in folder.iterdir()) == ["etcd", "pulumi-language-python"]
    assert (folder / "etcd").resolve() == tmp_path / "a/etcd"
    assert "--use-executor" in (folder / "pulumi-language-python").read_text()


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.recipe], ids=lambda tool: tool.name)
def test_what_is_built_fits(tool: Tool) -> None:
    assert tool.recipe
    pinned = Version.parse(tool.recipe.pinned_version())
    assert Version.parse(tool.at_least) <= pinned < Version.parse(tool.below)
