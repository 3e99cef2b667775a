"""Which version a program is: asked from itself, once for each file."""

import json
import re
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

from semver import Version

from toolchain.cache import read_json, write_atomically
from toolchain.tools import Tool

DEADLINE = 20  # seconds for a program to say its version; pulumi's first start is the slowest, about 2
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?")


class Versions:
    """Remembers versions in a file of the cache, keyed by path, modification time and size."""

    def __init__(self, file: Path, environ: Mapping[str, str]) -> None:
        self._file = file
        self._environ = environ
        self._known = read_json(file)
        self._changed = False

    def of(self, tool: Tool, path: Path) -> Version | None:
        """Return the version of the program at the path, None if it does not say."""
        stat = path.stat()
        key = f"{path.resolve()} {stat.st_mtime_ns} {stat.st_size}"
        if key not in self._known:
            asked = _ask(tool, path, self._environ) if tool.version_args else _ask_plugin(path, self._environ)
            if not asked:
                return None  # not remembered: a loaded machine may have missed the deadline
            self._known[key] = asked
            self._changed = True
        return Version.parse(str(self._known[key]))

    def save(self) -> None:
        """Write what was learnt; a cache that cannot be written only costs time."""
        if self._changed:
            try:
                write_atomically(self._file, json.dumps(self._known, indent=1))
            except OSError:
                return


def _ask(tool: Tool, path: Path, environ: Mapping[str, str]) -> str:
    try:
        said = subprocess.run(  # noqa: S603 - the program is a candidate for a tool of the table
            [path, *tool.version_args],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=dict(environ),
            text=True,
            timeout=DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    found = _VERSION.search(said.stdout) if said.returncode == 0 else None
    return found[0] if found else ""


def _ask_plugin(path: Path, environ: Mapping[str, str]) -> str:
    """Start a Pulumi plugin as the engine does: it prints its port and answers GetPluginInfo."""
    import grpc  # noqa: PLC0415 - 0.2 s that only a plugin not yet known needs
    from google.protobuf.empty_pb2 import Empty  # noqa: PLC0415 - likewise
    from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub  # noqa: PLC0415 - likewise

    try:
        process = subprocess.Popen(  # noqa: S603 - the program is a candidate for a tool of the table
            [path, "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=dict(environ),
            text=True,
        )
    except OSError:
        return ""
    deadline = threading.Timer(DEADLINE, process.kill)
    deadline.start()
    try:
        port = process.stdout.readline().strip() if process.stdout else ""
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            said = str(ResourceProviderStub(channel).GetPluginInfo(Empty(), timeout=DEADLINE))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - grpc has no types for it
        found = _VERSION.search(said)
    except (grpc.RpcError, UnicodeDecodeError):
        return ""
    finally:
        deadline.cancel()
        process.kill()
        process.communicate()
    return found[0] if found else ""
