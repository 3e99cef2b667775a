"""A stand-in for `pulumi-language-python`: runs Python programs and policy packs for the engine.

What is passed to whom follows the official host (sdk/python/cmd/pulumi-language-python/main.go in Pulumi's
repository), which starts the same `pulumi-language-python-exec`.
"""

# The protocol names the methods and gives each its arguments.
# ruff: noqa: ARG002, D102, N802

import argparse
import json
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import IO

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import language_pb2 as pb
from pulumi.runtime.proto.language_pb2_grpc import (
    LanguageRuntimeServicer,
    add_LanguageRuntimeServicer_to_server,
)
from pulumi.runtime.proto.plugin_pb2 import PluginInfo

from toolchain.standins.policy_proxy import PolicyProxy
from toolchain.standins.processes import Processes
from toolchain.standins.server import serve

# The exit code by which pulumi-language-python-exec says that it has reported the error itself.
_ALREADY_REPORTED = 32
# The protocol's name for the kind of plugin that a policy pack is.
_POLICY_PACK = "analyzer"


def python_of(info: pb.ProgramInfo) -> tuple[str, dict[str, str]]:
    """Return the Python that Pulumi.yaml's `virtualenv` option names, else PATH's, and its environment.

    Raises:
        FileNotFoundError: There is no such Python.

    """
    environ = dict(os.environ)
    virtualenv = MessageToDict(info.options).get("virtualenv")
    if not virtualenv:
        python = os.environ.get("PULUMI_PYTHON_CMD") or shutil.which("python3") or shutil.which("python")
        if not python:
            raise FileNotFoundError("There is no python3 on PATH, and Pulumi.yaml names no virtualenv.")
        return python, environ
    folder = Path(info.root_directory, str(virtualenv))
    python = folder / "bin" / "python"
    if not python.exists():
        raise FileNotFoundError(f"{folder}, the virtualenv that Pulumi.yaml names, has no bin/python.")
    environ.pop("PYTHONHOME", None)
    environ |= {"VIRTUAL_ENV": str(folder), "PATH": f"{folder / 'bin'}:{environ.get('PATH', '')}"}
    return str(python), environ


def exec_arguments(request: pb.RunRequest, engine: str, tracing: str) -> list[str]:
    """Return the command line of pulumi-language-python-exec; what is empty is left out."""
    options = {
        "monitor": request.monitor_address,
        "engine": engine,
        "project": request.project,
        "root_directory": request.info.root_directory,
        "stack": request.stack,
        "pwd": request.pwd,
        "dry_run": "true" if request.dryRun else "false",
        "parallel": str(request.parallel),
        "tracing": tracing,
        "organization": request.organization,
    }
    named = [word for name, value in options.items() if value for word in (f"--{name}", value)]
    return [*named, request.info.entry_point or ".", *request.args]


class LanguageHost(LanguageRuntimeServicer):
    """The calls of the engine; those not here are answered as unimplemented."""

    def __init__(self, executor: str, engine: str, tracing: str) -> None:
        self._executor = executor
        self._engine = engine
        self._tracing = tracing
        self.processes = Processes()

    def Handshake(
        self, request: pb.LanguageHandshakeRequest, context: grpc.ServicerContext
    ) -> pb.LanguageHandshakeResponse:
        self._engine = request.engine_address
        return pb.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> PluginInfo:
        return PluginInfo(version=version("pulumi"))

    def GetRequiredPlugins(
        self, request: pb.GetRequiredPluginsRequest, context: grpc.ServicerContext
    ) -> pb.GetRequiredPluginsResponse:
        return pb.GetRequiredPluginsResponse()

    def GetRequiredPackages(
        self, request: pb.GetRequiredPackagesRequest, context: grpc.ServicerContext
    ) -> pb.GetRequiredPackagesResponse:
        # Plugins named here would be downloaded ahead of the run; those on PATH need no naming.
        return pb.GetRequiredPackagesResponse()

    def InstallDependencies(
        self, request: pb.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.InstallDependenciesResponse]:
        yield pb.InstallDependenciesResponse(
            stdout=b"Nothing is installed: the environment is the lab's own.\n"
        )

    def About(self, request: pb.AboutRequest, context: grpc.ServicerContext) -> pb.AboutResponse:
        python, environ = self._python(request.info, context)
        code = "import platform; print(platform.python_version())"
        said = subprocess.run([python, "-c", code], env=environ, capture_output=True, text=True, check=False)  # noqa: S603 - the program's own Python
        return pb.AboutResponse(executable=python, version=said.stdout.strip())

    def GetProgramDependencies(
        self, request: pb.GetProgramDependenciesRequest, context: grpc.ServicerContext
    ) -> pb.GetProgramDependenciesResponse:
        python, environ = self._python(request.info, context)
        code = (
            "import json; from importlib.metadata import distributions as d;"
            "print(json.dumps(sorted({(x.name, x.version) for x in d()})))"
        )
        said = subprocess.run([python, "-c", code], env=environ, capture_output=True, text=True, check=False)  # noqa: S603 - the program's own Python
        found: list[tuple[str, str]] = json.loads(said.stdout or "[]")
        return pb.GetProgramDependenciesResponse(
            dependencies=[pb.DependencyInfo(name=name, version=of) for name, of in found]
        )

    def Run(self, request: pb.RunRequest, context: grpc.ServicerContext) -> pb.RunResponse:
        python, environ = self._python(request.info, context)
        environ["PULUMI_CONFIG"] = json.dumps(dict(request.config))
        environ["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(list(request.configSecretKeys))
        command = [python, "-u", self._executor, *exec_arguments(request, self._engine, self._tracing)]
        try:
            process = self.processes.start(command, environ, None, piped=False)
        except (OSError, RuntimeError) as error:
            return pb.RunResponse(error=f"The program could not be started: {error}")
        context.add_callback(lambda: self.processes.end(process))
        status = self.processes.wait(process)
        if status == _ALREADY_REPORTED:
            return pb.RunResponse(bail=True)
        return pb.RunResponse(error=f"program exited with non-zero exit code: {status}" if status else "")

    def RunPlugin(
        self, request: pb.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.RunPluginResponse]:
        python, environ = self._python(request.info, context)
        program = request.info.program_directory
        environ |= {name: value for name, _, value in (pair.partition("=") for pair in request.env)}
        if request.kind == _POLICY_PACK:
            words = ["-m", "pulumi.policy", *request.args, program]
            yield from self._run_policy_pack([python, "-u", *words], environ, program, context)
            return
        command = [python, "-u", program, *request.args]
        process = self.processes.start(command, environ, request.pwd, piped=True)
        context.add_callback(lambda: self.processes.end(process))
        yield from _output(process)
        yield pb.RunPluginResponse(exitcode=self.processes.wait(process))

    def _run_policy_pack(
        self, command: Sequence[str], environ: dict[str, str], folder: str, context: grpc.ServicerContext
    ) -> Iterator[pb.RunPluginResponse]:
        proxy = PolicyProxy()
        context.add_callback(proxy.stop)
        yield pb.RunPluginResponse(stdout=f"{proxy.port}\n".encode())
        # What the engine passes in the environment comes last, as with the official host.
        process = self.processes.start(command, proxy.environment() | environ, folder, piped=True)
        context.add_callback(lambda: self.processes.end(process))
        head: bytes | None = b""
        for answer in _output(process):
            if head is None or not answer.stdout:
                yield answer
                continue
            port, newline, rest = (head + answer.stdout).partition(b"\n")
            head = None if newline else port
            if newline:
                proxy.attach(int(port))
                yield pb.RunPluginResponse(stdout=rest)
        proxy.stop()
        yield pb.RunPluginResponse(exitcode=self.processes.wait(process))

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        self.processes.stop()
        return Empty()

    def _python(self, info: pb.ProgramInfo, context: grpc.ServicerContext) -> tuple[str, dict[str, str]]:
        try:
            return python_of(info)
        except FileNotFoundError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))


def _output(process: "subprocess.Popen[bytes]") -> Iterator[pb.RunPluginResponse]:
    """Yield what the child prints, as it does."""
    answers: queue.Queue[pb.RunPluginResponse | None] = queue.Queue()

    def read(pipe: IO[bytes] | None, *, is_error: bool) -> None:
        while pipe and (chunk := os.read(pipe.fileno(), 65536)):
            answers.put(
                pb.RunPluginResponse(stderr=chunk) if is_error else pb.RunPluginResponse(stdout=chunk)
            )
        answers.put(None)

    for pipe, is_error in ((process.stdout, False), (process.stderr, True)):
        threading.Thread(target=read, args=(pipe,), kwargs={"is_error": is_error}, daemon=True).start()
    open_pipes = 2
    while open_pipes:
        answer = answers.get()
        if answer is None:
            open_pipes -= 1
        else:
            yield answer


def main() -> None:
    """Serve the language host; the arguments are the official one's."""
    parser = argparse.ArgumentParser(prog="pulumi-language-python")
    parser.add_argument("--use-executor", "-use-executor", required=True)
    parser.add_argument("--tracing", "-tracing", default="")
    parser.add_argument("engine", nargs="?", default="")
    arguments = parser.parse_known_args()[0]
    host = LanguageHost(arguments.use_executor, arguments.engine, arguments.tracing)
    serve(lambda server: add_LanguageRuntimeServicer_to_server(host, server), host.processes.stop)
