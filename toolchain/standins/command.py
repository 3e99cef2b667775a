"""A stand-in for `pulumi-resource-command` 1.2: `command:local:Command` and `command:local:run`.

Its behaviour follows the official provider's documentation and source (provider/pkg/provider/local in its
repository), with two differences: assets and archives are refused, and secrets are hidden in logs and errors.
"""

# The protocol names the methods and gives each its arguments.
# ruff: noqa: ARG002, D102, N802

import json
import secrets
import sys
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto.engine_pb2 import INFO, LogRequest
from pulumi.runtime.proto.engine_pb2_grpc import EngineStub
from pulumi.runtime.proto.plugin_pb2 import PluginAttach, PluginInfo
from pulumi.runtime.proto.provider_pb2_grpc import (
    ResourceProviderServicer,
    add_ResourceProviderServicer_to_server,
)
from pulumi.runtime.rpc import UNKNOWN
from pydantic import ValidationError

from toolchain.plugins import wheel_version
from toolchain.standins.processes import Processes
from toolchain.standins.run_command import CommandError, CommandInputs, Printed, RunInputs, run_command
from toolchain.standins.server import serve
from toolchain.standins.values import (
    Properties,
    from_struct,
    has_unknown,
    masked,
    plain,
    secret,
    secrets_in,
    to_struct,
)

if TYPE_CHECKING:
    from collections.abc import Callable

COMMAND = "command:local:Command"
RUN = "command:local:run"
_OUTPUTS = ("stdout", "stderr")


def check(model: type[CommandInputs | RunInputs], properties: Properties) -> list[pb.CheckFailure]:
    """Return what is wrong with the inputs; those that are not known yet are right."""
    failures: list[pb.CheckFailure] = []
    known = dict(properties)
    for name in ("assetPaths", "archivePaths"):
        if known.pop(name, None) is not None:
            reason = "the lab's stand-in for the command plugin does not support it; install the official one"
            failures.append(pb.CheckFailure(property=name, reason=reason))
    try:
        model.model_validate(plain({name: value for name, value in known.items() if not has_unknown(value)}))
    except ValidationError as error:
        failures += [
            pb.CheckFailure(property=".".join(map(str, each["loc"])), reason=each["msg"])
            for each in error.errors()
        ]
    return failures


def differences(old: Properties, new: Properties) -> dict[str, pb.PropertyDiff]:
    """Return what changed, by input: a changed trigger replaces the resource, all else updates it."""
    found: dict[str, pb.PropertyDiff] = {}
    for name in sorted(old.keys() | new.keys()):
        if name in old and name in new and old[name] == new[name]:
            continue
        kind = "UPDATE" if name in old and name in new else "ADD" if name in new else "DELETE"
        suffix = "_REPLACE" if name == "triggers" else ""
        found[name] = pb.PropertyDiff(kind=pb.PropertyDiff.Kind.Value(kind + suffix), inputDiff=True)
    return found


def outputs(inputs: Properties, printed: Printed) -> Properties:
    """Return the state: what a command with secret inputs printed may hold them, so it is secret as well."""
    mark: Callable[[str], Any] = secret if secrets_in(inputs) else str
    return {**inputs, "stdout": mark(printed.stdout), "stderr": mark(printed.stderr)}


def printed_before(state: Properties) -> Printed:
    """Return what the last command printed."""
    known = plain(state)
    return Printed(*(known.get(name) or "" for name in _OUTPUTS))


class CommandProvider(ResourceProviderServicer):
    """The calls of the engine; those not here are answered as unimplemented."""

    def __init__(self, engine: str) -> None:
        self.processes = Processes()
        self._connect(engine)

    def _connect(self, engine: str) -> None:
        self._engine = EngineStub(grpc.insecure_channel(engine)) if engine else None

    def Handshake(
        self, request: pb.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> pb.ProviderHandshakeResponse:
        self._connect(request.engine_address)
        return pb.ProviderHandshakeResponse(accept_secrets=True)

    def Attach(self, request: PluginAttach, context: grpc.ServicerContext) -> Empty:
        self._connect(request.address)
        return Empty()

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> PluginInfo:
        return PluginInfo(version=wheel_version())

    def GetSchema(self, request: pb.GetSchemaRequest, context: grpc.ServicerContext) -> pb.GetSchemaResponse:
        return pb.GetSchemaResponse(schema=json.dumps({"name": "command", "version": wheel_version()}))

    def CheckConfig(self, request: pb.CheckRequest, context: grpc.ServicerContext) -> pb.CheckResponse:
        return pb.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: pb.DiffRequest, context: grpc.ServicerContext) -> pb.DiffResponse:
        return pb.DiffResponse(changes=pb.DiffResponse.DIFF_NONE)

    def Configure(self, request: pb.ConfigureRequest, context: grpc.ServicerContext) -> pb.ConfigureResponse:
        return pb.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: pb.CheckRequest, context: grpc.ServicerContext) -> pb.CheckResponse:
        self._only(COMMAND, request.type or request.urn.split("::")[2].split("$")[-1], context)
        failures = check(CommandInputs, from_struct(request.news))
        return pb.CheckResponse(inputs=request.news, failures=failures)

    def Diff(self, request: pb.DiffRequest, context: grpc.ServicerContext) -> pb.DiffResponse:
        found = differences(from_struct(request.old_inputs), from_struct(request.news))
        return pb.DiffResponse(
            changes=pb.DiffResponse.DIFF_SOME if found else pb.DiffResponse.DIFF_NONE,
            diffs=list(found),
            replaces=[name for name in found if name == "triggers"],
            detailedDiff=found,
            hasDetailedDiff=True,
        )

    def Create(self, request: pb.CreateRequest, context: grpc.ServicerContext) -> pb.CreateResponse:
        inputs = from_struct(request.properties)
        command = inputs.get("create")
        printed = self._printed(command, inputs, Printed(), request.urn, context, preview=request.preview)
        name = request.name or request.urn.rpartition("::")[2]
        return pb.CreateResponse(
            id=f"{name}{secrets.token_hex(4)}", properties=to_struct(outputs(inputs, printed))
        )

    def Update(self, request: pb.UpdateRequest, context: grpc.ServicerContext) -> pb.UpdateResponse:
        inputs = from_struct(request.news)
        command = inputs.get("update") or inputs.get("create")
        before = printed_before(from_struct(request.olds))
        printed = self._printed(command, inputs, before, request.urn, context, preview=request.preview)
        return pb.UpdateResponse(properties=to_struct(outputs(inputs, printed)))

    def Delete(self, request: pb.DeleteRequest, context: grpc.ServicerContext) -> Empty:
        state = from_struct(request.properties)
        inputs = {name: value for name, value in state.items() if name not in _OUTPUTS}
        self._printed(
            inputs.get("delete"), inputs, printed_before(state), request.urn, context, preview=False
        )
        return Empty()

    def Read(self, request: pb.ReadRequest, context: grpc.ServicerContext) -> pb.ReadResponse:
        if not request.properties.fields:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "A command leaves nothing that could be imported.")
        return pb.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)

    def Invoke(self, request: pb.InvokeRequest, context: grpc.ServicerContext) -> pb.InvokeResponse:
        self._only(RUN, request.tok, context)
        arguments = from_struct(request.args)
        failures = check(RunInputs, arguments)
        if failures:
            return pb.InvokeResponse(failures=failures)
        command = arguments["command"]
        printed = self._printed(command, arguments, Printed(), "", context, preview=False)
        response = pb.InvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(outputs(arguments, printed)))  # a keyword of Python
        return response

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        self.processes.stop()
        return Empty()

    def _only(self, known: str, asked: str, context: grpc.ServicerContext) -> None:
        if asked != known:
            reason = f"The lab's stand-in for the command plugin knows only {COMMAND} and {RUN}, not {asked}."
            context.abort(grpc.StatusCode.UNIMPLEMENTED, reason)

    def _printed(  # noqa: PLR0913 - what a command is run with
        self,
        command: object,
        inputs: Properties,
        before: Printed,
        urn: str,
        context: grpc.ServicerContext,
        *,
        preview: bool,
    ) -> Printed:
        """Run the command, and abort the call if it fails. A preview runs nothing: the output is unknown."""
        if not plain(command):
            return before
        if preview:
            return Printed(UNKNOWN, UNKNOWN)
        hidden = secrets_in(inputs)

        def log(line: str) -> None:
            if self._engine:
                # Ephemeral: shown while the command runs, as the official provider has it.
                message = masked(line, hidden)
                request = LogRequest(severity=INFO, message=message, urn=urn, ephemeral=True)
                self._engine.Log(request)  # pyright: ignore[reportUnknownMemberType] - grpc has no types for it

        model = RunInputs if "command" in inputs else CommandInputs
        try:
            valid = model.model_validate(plain(inputs))
            return run_command(plain(command), valid, before, self.processes, log)
        except (CommandError, ValidationError) as error:
            context.abort(grpc.StatusCode.UNKNOWN, masked(str(error), hidden))


def main() -> None:
    """Serve the provider; the engine's address is the argument."""
    provider = CommandProvider(sys.argv[1] if len(sys.argv) > 1 else "")
    serve(lambda server: add_ResourceProviderServicer_to_server(provider, server), provider.processes.stop)
