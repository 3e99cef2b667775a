"""Builds one recipe into the cache: one build at a time for each key, and never half of one."""

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.cache import locked, made_whole
from toolchain.errors import ToolchainError
from toolchain.go import Go
from toolchain.progress import Progress
from toolchain.tools import Copied, Recipe, target

BUILDER = "1"  # to be raised when this file changes what a build is
LAST_LINES = 12  # of a failed build's output


def cached_folder(recipe: Recipe, cache: Path) -> Path:
    """Return the folder of the recipe's build, named by all that decides what is in it."""
    pins = [recipe.folder / "go.mod", recipe.folder / "go.sum", *sorted(recipe.folder.glob("*.go"))]
    digest = hashlib.sha256(f"{BUILDER} {target()} {recipe!r}".encode())
    for file in pins:
        digest.update(f"{file.name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return cache / "tools" / f"{recipe.name}-{digest.hexdigest()[:16]}"


def cached_binary(recipe: Recipe, cache: Path, name: str) -> Path | None:
    """Return the binary if it was built before."""
    binary = cached_folder(recipe, cache) / "bin" / name
    return binary if binary.exists() else None


@dataclass(frozen=True)
class Builder:
    """Builds recipes with the Go that `find_go` returns, which is looked for only when needed."""

    cache: Path
    progress: Progress
    find_go: Callable[[], Go]

    def build(self, recipe: Recipe) -> Path:
        """Return the folder of the recipe's executables, building them if they are not in the cache.

        Raises:
            ToolchainError: No Go, a failed build, or a full disk.

        """
        folder = cached_folder(recipe, self.cache)
        log = folder.with_suffix(".log")
        name = f"{recipe.name} {recipe.pinned_version()}"
        try:
            with locked(folder.with_suffix(".lock"), lambda: self._waiting(name)):
                if not folder.exists():
                    self.progress.begin(name, "building")
                    go = self.find_go()
                    with made_whole(folder) as work:
                        _Build(
                            recipe, go, work, log, lambda: self.progress.going_on(name), self.progress.every
                        ).run()
                    log.unlink()
                    self.progress.say(f"{name}: built in {self.progress.elapsed()}")
        except OSError as error:
            raise ToolchainError(_in_words(error, name, self.cache)) from error
        return folder / "bin"

    def _waiting(self, name: str) -> None:
        self.progress.say(f"{name}: waiting for another build of it to end")


@dataclass(frozen=True)
class _Build:
    """One build in a folder of its own: `work/bin` is what stays."""

    recipe: Recipe
    go: Go
    work: Path
    log: Path
    going_on: Callable[[], None]
    every: float  # seconds between two calls of it

    def run(self) -> None:
        source = self.work / "source"  # a copy, since Go needs files beside main.go that we do not keep
        source.mkdir()
        for file in [*self.recipe.folder.glob("go.*"), *self.recipe.folder.glob("*.go")]:
            shutil.copy(file, source)
        out = self.work / "bin"
        out.mkdir()
        self.log.write_text("", encoding="utf-8")
        for copied in self.recipe.copied:
            self._copy(copied, source, out)
        if self.recipe.packages:
            self._go(source, self._build_arguments(out))
        for built, name in self.recipe.renames:
            (out / built).rename(out / name)
        shutil.rmtree(source)

    def _build_arguments(self, out: Path) -> list[str]:
        version = self.recipe.pinned_version()
        major, minor, _ = version.split(".", 2)
        stamps = self.recipe.ldflags.format(version=version, major=major, minor=minor)
        flags = ["-trimpath", "-buildvcs=false", "-ldflags", f"-s -w {stamps}".strip()]
        return ["build", *flags, "-o", f"{out}/", *self.recipe.packages]

    def _copy(self, copied: Copied, source: Path, out: Path) -> None:
        module = json.loads(self._go(source, ["mod", "download", "-json", copied.module]))
        file = Path(module["Dir"]) / copied.path
        to = (out if copied.to_bin else source) / file.name
        shutil.copyfile(file, to)
        if copied.to_bin:
            to.chmod(0o755)

    def _go(self, folder: Path, arguments: Sequence[str]) -> str:
        """Run go, its errors going to the log; return its output."""
        with self.log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(  # noqa: S603 - our own arguments
                [self.go.command, *arguments],
                cwd=folder,
                env=dict(self.go.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # its compilers die with it
            )
        try:
            output = self._wait(process)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        if process.returncode:
            raise ToolchainError(_failure(self.recipe, self.log, process.returncode))
        return output

    def _wait(self, process: "subprocess.Popen[str]") -> str:
        while True:
            try:
                return process.communicate(timeout=self.every)[0]
            except subprocess.TimeoutExpired:
                self.going_on()


def _failure(recipe: Recipe, log: Path, status: int) -> str:
    text = log.read_text(encoding="utf-8", errors="replace")
    said = "\n".join(f"  {line}" for line in text.splitlines()[-LAST_LINES:])
    if "no space left on device" in text:
        return (
            f"The disk filled up while {recipe.name} was built; a build from nothing needs about 6 GB"
            f" (Go's caches: `go env GOCACHE GOMODCACHE`). Its last words, all of them in {log}:\n{said}"
        )
    return (
        f"{recipe.name} could not be built (go exited with {status})."
        f" Its last words, all of them in {log}:\n{said}"
    )


def _in_words(error: OSError, name: str, cache: Path) -> str:
    if error.errno == errno.ENOSPC:
        return f"The disk is full: {name} does not fit into {cache}. Free some space, or set GPULAB_CACHE."
    return f"{name} cannot be put into {cache}: {error.strerror or error} ({error.filename or cache})."
