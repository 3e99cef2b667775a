"""`python -m toolchain tools | list | env`."""

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.table import Table

from toolchain.builder import Builder
from toolchain.cache import cache_root, write_atomically
from toolchain.environment import env_text, lab_folder, prepare
from toolchain.errors import ToolchainError
from toolchain.go import find_go
from toolchain.links import place, remove_others
from toolchain.progress import Progress
from toolchain.resolver import Resolved, Resolver
from toolchain.tools import TOOLS
from toolchain.versions import Versions

REPO = Path(__file__).parents[1]
_WIDE = 400  # columns


def make_tools(repo: Path, environ: Mapping[str, str], progress: Progress) -> list[Resolved]:
    """Resolve every tool, building what is missing, and fill `.lab`.

    Raises:
        ToolchainError: A tool can neither be found nor built.
        OSError: The lab's folder cannot be written.

    """
    cache = cache_root(environ)
    builder = Builder(cache, progress, lambda: find_go(cache, environ, progress))
    # What is missing is known before the first build, so that each line can say what is left.
    recipes = [one.tool.recipe for one in look(repo, environ) if one.origin == "missing"]
    progress.left = list(dict.fromkeys(f"{r.name} {r.pinned_version()}" for r in recipes if r))
    versions = Versions(cache / "versions.json", environ)
    resolver = Resolver(repo, environ, cache, versions, builder)
    prepare(repo)
    write_atomically(lab_folder(repo) / "env", env_text(repo))
    resolved: list[Resolved] = []
    for tool in TOOLS:
        one = resolver.resolve(tool)
        if one.origin == "missing":
            raise ToolchainError(f"{tool.name}: {one.why}.")
        place(repo, cache, one)
        resolved.append(one)
    remove_others(repo, resolved)
    versions.save()
    return resolved


def look(repo: Path, environ: Mapping[str, str]) -> list[Resolved]:
    """Return where each tool comes from, without building any."""
    cache = cache_root(environ)
    versions = Versions(cache / "versions.json", environ)
    resolver = Resolver(repo, environ, cache, versions)
    resolved = [resolver.resolve(tool) for tool in TOOLS]
    versions.save()
    return resolved


def _table(resolved: Sequence[Resolved]) -> None:
    # A log has no width; a terminal folds long paths, so that none is cut.
    console = Console()
    if not console.is_terminal:
        console.width = _WIDE
    table = Table(box=None, pad_edge=False)
    for column in ("tool", "version", "from", "path", "why"):
        table.add_column(column, overflow="fold")
    for one in resolved:
        table.add_row(one.tool.name, one.version or "-", one.origin, str(one.path or "-"), one.why)
    console.print(table)


def _run(command: str, progress: Progress) -> None:
    environ = dict(os.environ)
    if command == "env":
        prepare(REPO)
        sys.stdout.write(env_text(REPO))
    elif command == "list":
        _table(look(REPO, environ))
    else:
        resolved = make_tools(REPO, environ, progress)
        if standins := [one.tool.name for one in resolved if one.origin == "stand-in"]:
            progress.say(f"stand-ins used, as the official ones cannot be had: {', '.join(standins)}")
        progress.say(f"{len(resolved)} tools in {lab_folder(REPO) / 'bin'}; to use them: . .lab/env")


def _terminated(signum: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signum)  # so that a build is cleaned up


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m toolchain", description=__doc__)
    parser.add_argument("command", choices=["tools", "list", "env"])
    command = parser.parse_args().command
    signal.signal(signal.SIGTERM, _terminated)
    progress = Progress()
    try:
        _run(command, progress)
    except ToolchainError as error:
        progress.say(f"error: {error}")
        return 1
    except OSError as error:
        progress.say(f"error: {error.strerror or error}: {error.filename or lab_folder(REPO)}")
        return 1
    except KeyboardInterrupt:
        progress.say("interrupted: what was built is kept, and nothing half made")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
