"""Runs one command as pulumi-command does; its documentation of `command:local` explains the inputs."""

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from toolchain.standins.processes import Processes


class CommandError(Exception):
    """The command failed or could not be started: its exit status and what it printed."""


class BaseInputs(BaseModel):
    """The inputs that `local.Command` and `local.run` share."""

    model_config = ConfigDict(
        extra="forbid", strict=True, hide_input_in_errors=True, alias_generator=to_camel
    )

    stdin: str | None = None
    environment: dict[str, str] | None = None
    dir: str | None = None
    interpreter: list[str] | None = None
    logging: Literal["stdout", "stderr", "stdoutAndStderr", "none"] | None = None
    add_previous_output_in_env: bool | None = None

    def logs(self, stream: str) -> bool:
        """Say whether what is printed to the stream is shown; both are by default."""
        return self.logging in {None, "stdoutAndStderr", stream}


class CommandInputs(BaseInputs):
    """The inputs of `local.Command`."""

    create: str | None = None
    update: str | None = None
    delete: str | None = None
    triggers: list[object] | None = None


class RunInputs(BaseInputs):
    """The inputs of `local.run`."""

    command: str


@dataclass(frozen=True)
class Printed:
    """What a command printed, without the newline at the end."""

    stdout: str = ""
    stderr: str = ""


@dataclass
class _Reader:
    """Collects the output of a running command: by stream, and all of it in order."""

    log: Callable[[str], None]
    lock: threading.Lock = field(default_factory=threading.Lock)
    together: list[str] = field(default_factory=list[str])

    def read(self, pipe: IO[bytes], lines: list[str], *, shown: bool) -> None:
        """Read to the end, showing the lines as they come."""
        for raw in pipe:
            line = raw.decode("utf-8", errors="replace")
            lines.append(line)
            with self.lock:
                self.together.append(line)
            if shown:
                self.log(line.rstrip("\r\n"))


def run_command(
    command: str, inputs: BaseInputs, previous: Printed, processes: Processes, log: Callable[[str], None]
) -> Printed:
    """Run the command to its end; return what it printed.

    Raises:
        CommandError: It failed, could not be started, or was cancelled.

    """
    words = [*(inputs.interpreter or ["/bin/sh", "-c"]), command]
    environ = dict(os.environ) | (inputs.environment or {})
    if inputs.add_previous_output_in_env is not False:
        printed = {"PULUMI_COMMAND_STDOUT": previous.stdout, "PULUMI_COMMAND_STDERR": previous.stderr}
        environ |= {name: text for name, text in printed.items() if text}
    try:
        process = processes.start(words, environ, inputs.dir, piped=True, stdin=bool(inputs.stdin))
    except (OSError, RuntimeError, ValueError) as error:
        raise CommandError(f'{error}: running "{command}"') from error
    reader = _Reader(log)
    stdout: list[str] = []
    stderr: list[str] = []
    threads = [
        threading.Thread(target=reader.read, args=(pipe, lines), kwargs={"shown": inputs.logs(name)})
        for pipe, lines, name in ((process.stdout, stdout, "stdout"), (process.stderr, stderr, "stderr"))
    ]
    for thread in threads:
        thread.start()
    if process.stdin:
        with contextlib.suppress(BrokenPipeError), process.stdin as pipe:  # a command need not read it all
            pipe.write((inputs.stdin or "").encode())
    for thread in threads:
        thread.join()
    if status := processes.wait(process):
        ended = f"exit status {status}" if status > 0 else f"killed by signal {-status}"
        raise CommandError(f'{ended}: running "{command}":\n{"".join(reader.together)}')
    return Printed("".join(stdout).removesuffix("\n"), "".join(stderr).removesuffix("\n"))
