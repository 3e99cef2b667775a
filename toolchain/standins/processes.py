"""Child processes in sessions of their own, which end with the plugin that started them."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence


class Processes:
    """The running children of a plugin.

    Each has its own session: the engine's interrupt is for the plugin, which decides what becomes of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def start(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        folder: str | None,
        *,
        piped: bool,
        stdin: bool = False,
    ) -> "subprocess.Popen[bytes]":
        """Start a child, its output piped to us or going where ours goes.

        Raises:
            OSError: The program or the folder is not there.
            RuntimeError: The plugin was told to stop.

        """
        out = subprocess.PIPE if piped else None
        with self._lock:  # so that no child is started after, and missed by, `stop`
            if self._stopped:
                raise RuntimeError("cancelled")
            process = subprocess.Popen(  # noqa: S603 - running what the program says is the purpose
                command,
                env=dict(environ),
                cwd=folder or None,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
            self._running.add(process)
        return process

    def wait(self, process: "subprocess.Popen[bytes]") -> int:
        """Wait for the child's end; return its exit code. What it left running in the background stays."""
        process.wait()
        with self._lock:
            self._running.discard(process)
        return process.returncode

    def end(self, process: "subprocess.Popen[bytes]") -> None:
        """Kill the child and what it started."""
        with self._lock:
            self._kill(process)

    def stop(self) -> None:
        """Kill all children and what they started; start no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                self._kill(process)

    def _kill(self, process: "subprocess.Popen[bytes]") -> None:
        # Only under the lock and while it is listed: afterwards its number may be another's.
        if process in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
