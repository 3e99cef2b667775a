"""The official command plugin: where Pulumi keeps it, and one bounded attempt to download it."""

import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from semver import Version

from toolchain.cache import write_atomically
from toolchain.environment import lab_folder, lab_variables

DEADLINE = 20  # seconds; the archive has about 20 MB
REMEMBERED = 24 * 3600  # seconds that a refusal is not tried again

PLUGIN = "pulumi-resource-command"


def wheel_version() -> str:
    """Return the version of the installed SDK, which is the plugin's that it asks for."""
    try:
        return version("pulumi-command")
    except PackageNotFoundError:
        return "1.2.1"


@dataclass(frozen=True)
class CommandPlugin:
    """Finds and fetches `pulumi-resource-command`."""

    repo: Path
    cache: Path
    environ: Mapping[str, str]

    def found(self) -> Iterator[Path]:
        """Yield the installed plugins, the newest first (folders `plugins/resource-command-v1.2.3`)."""
        homes = [lab_folder(self.repo) / "pulumi", Path(self.environ.get("HOME", "~")) / ".pulumi"]
        if own := self.environ.get("PULUMI_HOME"):
            homes.append(Path(own))
        folders = [folder for home in homes for folder in home.glob("plugins/resource-command-v*")]
        for folder in sorted(folders, key=_folder_version, reverse=True):
            yield folder / PLUGIN

    def download(self) -> Path | None:
        """Return the plugin, downloaded into the lab's own home; None if that failed today."""
        refusal = self.cache / f"command-plugin-{wheel_version()}-refused"
        if refusal.exists() and time.time() - refusal.stat().st_mtime < REMEMBERED:
            return None
        pulumi = lab_folder(self.repo) / "bin" / "pulumi"
        env = {**self.environ, **lab_variables(self.repo)}
        try:
            done = subprocess.run(  # noqa: S603 - the lab's own pulumi
                [pulumi, "plugin", "install", "resource", "command", wheel_version()],
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=DEADLINE,
                check=False,
            )
            said = done.stderr if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
        plugin = next(self.found(), None)
        if said or plugin is None:
            write_atomically(refusal, said)
            return None
        return plugin


def _folder_version(folder: Path) -> Version:
    found = re.search(r"-v(\d+\.\d+\.\d+\S*)$", folder.name)
    return Version.parse(found[1]) if found and Version.is_valid(found[1]) else Version(0)
