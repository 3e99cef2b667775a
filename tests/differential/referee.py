"""The referee: the control plane's own admission, CEL and allocator behind one pipe.

What it is asked and answers is in `toolchain/modules/referee/README.md`.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from toolchain.builder import Builder
from toolchain.cache import cache_root
from toolchain.go import find_go
from toolchain.progress import Progress
from toolchain.tools import Recipe

# Not among the toolchain's tools, since a user of the lab never needs it; built and cached as they are.
RECIPE = Recipe("referee", "referee", pin="k8s.io/kubernetes", packages=(".",))


def build() -> Path:
    """Return the referee's executable, building it if it is not in the cache (a minute beside the tools)."""
    cache, progress = cache_root(os.environ), Progress()
    builder = Builder(cache, progress, lambda: find_go(cache, os.environ, progress))
    return builder.build(RECIPE) / "referee"


class Referee:
    """A running referee. It remembers nothing from one question to the next."""

    def __init__(self, executable: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - built by us
            [executable], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def ask(self, op: str, **arguments: object) -> Mapping[str, Any]:
        """Return the answer to one question.

        Raises:
            ValueError: The question was no question, or Kubernetes panicked on it.

        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({"op": op} | arguments) + "\n")
        stdin.flush()
        answer = cast("dict[str, Any]", json.loads(stdout.readline()))
        if wrong := answer.get("usage") or answer.get("panic"):
            raise ValueError(f"{wrong}\n{answer.get('stack', '')}")
        return answer
