"""Decides for each tool where it comes from, and says why."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from semver import Version

from toolchain.builder import Builder, cached_binary
from toolchain.environment import lab_folder, path_folders
from toolchain.plugins import CommandPlugin
from toolchain.tools import PYTHON_EXEC, Recipe, Tool
from toolchain.versions import Versions

LAUNCHER_MARK = b"gpulab stand-in"


@dataclass(frozen=True)
class Resolved:
    """A tool as it was found; without a path it is not there yet."""

    tool: Tool
    version: str
    origin: str  # PATH, plugins, venv, cache, built now, stand-in or missing
    why: str
    path: Path | None = None


@dataclass(frozen=True)
class Resolver:
    """Looks on PATH first, then in the development environment, then in the cache; builds if it may."""

    repo: Path
    environ: Mapping[str, str]
    cache: Path
    versions: Versions
    builder: Builder | None = None  # none: nothing is built or downloaded
    _refused: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def resolve(self, tool: Tool) -> Resolved:
        """Return where the tool comes from.

        Raises:
            ToolchainError: It has to be built and cannot be.

        """
        seen: set[Path] = set()  # a folder can be on PATH under two names
        for path, origin in self._candidates(tool):
            if path.resolve() in seen:
                continue
            seen.add(path.resolve())
            version = self.versions.of(tool, path)
            if version and Version.parse(tool.at_least) <= version < Version.parse(tool.below):
                return Resolved(tool, str(version), origin, self._reason(tool, "fits"), path)
            said = f"{origin} has {tool.name} {version or 'of a version it does not tell'} in {path.parent}"
            self._refused.setdefault(tool.name, []).append(said)
        if tool.recipe:
            return self._from_recipe(tool, tool.recipe)
        return (
            self._standin(tool)
            if tool.standin
            else self._missing(tool, "install the requirements into .venv")
        )

    def _candidates(self, tool: Tool) -> Iterator[tuple[Path, str]]:
        ours = path_folders(self.repo)
        for folder in self.environ.get("PATH", os.defpath).split(os.pathsep):
            if folder and folder not in ours:
                yield from _program(Path(folder) / tool.name, "PATH")
        if tool.in_venv:
            yield from _program(self.repo / ".venv" / "bin" / tool.name, "venv")
        if tool.plugin_folders:
            for path in self._command_plugin().found():
                yield from _program(path, "plugins")

    def _command_plugin(self) -> CommandPlugin:
        return CommandPlugin(self.repo, self.cache, self.environ)

    def _from_recipe(self, tool: Tool, recipe: Recipe) -> Resolved:
        version = recipe.pinned_version()
        if path := cached_binary(recipe, self.cache, tool.name):
            return Resolved(tool, version, "cache", self._reason(tool), path)
        if self.builder is None:
            return self._missing(tool, "`make tools` builds it")
        path = self.builder.build(recipe) / tool.name
        return Resolved(tool, version, "built now", self._reason(tool), path)

    def _standin(self, tool: Tool) -> Resolved:
        if self.builder is None:
            launcher = lab_folder(self.repo) / "bin" / tool.name
            if launcher.exists():  # by `make tools`, or one that it would replace
                return Resolved(tool, "", "stand-in", self._reason(tool), launcher)
            return self._missing(tool, "`make tools` downloads it or makes a stand-in")
        if tool.plugin_folders and (path := self._command_plugin().download()):
            version = self.versions.of(tool, path)
            return Resolved(tool, str(version or ""), "plugins", "downloaded now", path)
        if tool.standin == "language_python":
            self.builder.build(PYTHON_EXEC)
        return Resolved(tool, "", "stand-in", self._reason(tool))

    def _missing(self, tool: Tool, remedy: str) -> Resolved:
        return Resolved(tool, "", "missing", f"{self._reason(tool)}; {remedy}")

    def _reason(self, tool: Tool, otherwise: str = "not on PATH") -> str:
        refused = ", ".join(self._refused.get(tool.name, []))
        return f"{refused}; the lab needs >={tool.at_least}, <{tool.below}" if refused else otherwise


def _program(path: Path, origin: str) -> Iterator[tuple[Path, str]]:
    """Yield the path if it is a program; another checkout's stand-in is not what its name says."""
    if path.is_file() and os.access(path, os.X_OK | os.R_OK):
        with path.open("rb") as file:
            if LAUNCHER_MARK not in file.read(256):
                yield path, origin
