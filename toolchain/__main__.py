"""`python -m toolchain tools | list | env`."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
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


def make_tools(repo: Path, environ: dict[str, str]) -> list[Resolved]:
    """Resolve every tool, building what is missing, and fill `.lab`.

    Raises:
        ToolchainError: A tool can neither be found nor built.
        OSError: The lab's folder cannot be written.

    """
    cache = cache_root(environ)
    progress = Progress()
    builder = Builder(cache, progress, lambda: find_go(cache, environ, progress))
    versions = Versions(cache / "versions.json", environ)
    resolver = Resolver(repo, environ, cache, versions, builder)
    prepare(repo)
    # What is missing is known before the first build, so that the first line can say what is left.
    only_looking = Resolver(repo, environ, cache, versions)
    missing = [one.tool.recipe for one in map(only_looking.resolve, TOOLS) if one.origin == "missing"]
    progress.left = list(dict.fromkeys(f"{r.name} {r.pinned_version()}" for r in missing if r))
    resolved: list[Resolved] = []
    for tool in TOOLS:
        one = resolver.resolve(tool)
        if one.origin == "missing":
            raise ToolchainError(f"{tool.name}: {one.why}.")
        place(repo, cache, one)
        resolved.append(one)
    remove_others(repo, resolved)
    write_atomically(lab_folder(repo) / "env", env_text(repo))
    versions.save()
    return resolved


def look(repo: Path, environ: dict[str, str]) -> list[Resolved]:
    """Return where each tool comes from, without building any."""
    cache = cache_root(environ)
    versions = Versions(cache / "versions.json", environ)
    resolver = Resolver(repo, environ, cache, versions)
    resolved = [resolver.resolve(tool) for tool in TOOLS]
    versions.save()
    return resolved


def _table(resolved: Sequence[Resolved]) -> None:
    console = Console(soft_wrap=not sys.stdout.isatty())
    table = Table("tool", "version", "from", "path", "why", box=None, pad_edge=False)
    for one in resolved:
        table.add_row(one.tool.name, one.version or "-", one.origin, str(one.path or "-"), one.why)
    console.print(table, width=None if console.is_terminal else 300)


def _run(command: str) -> None:
    environ = dict(os.environ)
    if command == "env":
        prepare(REPO)
        sys.stdout.write(env_text(REPO))
    elif command == "list":
        _table(look(REPO, environ))
    else:
        resolved = make_tools(REPO, environ)
        if standins := [one.tool.name for one in resolved if one.origin == "stand-in"]:
            print(
                f"stand-ins used, as the official ones cannot be had: {', '.join(standins)}", file=sys.stderr
            )
        print(
            f"{len(resolved)} tools in {lab_folder(REPO) / 'bin'}; to use them: . .lab/env", file=sys.stderr
        )


def _terminated(signum: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signum)  # so that a build is cleaned up


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m toolchain", description=__doc__)
    parser.add_argument("command", choices=["tools", "list", "env"])
    command = parser.parse_args().command
    signal.signal(signal.SIGTERM, _terminated)
    try:
        _run(command)
    except ToolchainError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.strerror or error}: {error.filename or lab_folder(REPO)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what was built is kept, nothing half made", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
