"""What the official language host puts between the engine and a Python policy pack.

The engine tells a pack its project, stack and configuration by a call (`ConfigureStack`) after its start; the
Python SDK reads them from the environment that it is started with. So the host answers that call itself,
starts the pack with what it was told, and hands all other calls on (Pulumi's sdk/policy_proxy.go).
"""

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

import grpc
from pulumi.runtime.proto.analyzer_pb2 import AnalyzerHandshakeResponse as HandshakeResponse
from pulumi.runtime.proto.analyzer_pb2 import AnalyzerStackConfigureRequest as StackConfiguration
from pulumi.runtime.proto.analyzer_pb2 import AnalyzerStackConfigureResponse as StackConfigured

_ANY_SIZE = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
_CALLS = 16
_SERVICE = "/pulumirpc.Analyzer/"


class PolicyProxy(grpc.GenericRpcHandler):
    """An analyzer that is a policy pack still to be started. Messages are handed on as they are."""

    def __init__(self) -> None:
        self._configuration: Future[StackConfiguration | None] = Future()
        self._pack: Future[grpc.Channel] = Future()
        self._server = grpc.server(ThreadPoolExecutor(_CALLS), handlers=[self], options=_ANY_SIZE)
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def environment(self) -> dict[str, str]:
        """Wait for the stack's configuration, and return what the SDK reads of it from the environment.

        Empty for a pack that runs for no stack, such as one that is published.
        """
        told = self._configuration.result()
        if told is None:
            return {}
        environ = {
            "PULUMI_ORGANIZATION": told.organization,
            "PULUMI_PROJECT": told.project,
            "PULUMI_STACK": told.stack,
            "PULUMI_DRY_RUN": "true" if told.dry_run else "false",
            "PULUMI_CONFIG": json.dumps(dict(told.config)),
        }
        return {name: value for name, value in environ.items() if value}

    def attach(self, port: int) -> None:
        """Hand calls on to the pack that serves there, and tell it of its stack as the engine did."""
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=_ANY_SIZE)
        told = self._configuration.result()
        if told is not None:
            try:
                _send(channel, f"{_SERVICE}ConfigureStack", told.SerializeToString())
            except grpc.RpcError as error:
                if error.code() is not grpc.StatusCode.UNIMPLEMENTED:  # an older SDK's pack
                    raise
        self._pack.set_result(channel)

    def stop(self) -> None:
        """Answer no more calls; let those that wait for the pack fail."""
        self._configure(None)
        if not self._pack.done():
            self._pack.set_exception(RuntimeError("The policy pack did not start."))
        self._server.stop(None)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        """Return what answers a call (`grpc.GenericRpcHandler`)."""
        method = handler_call_details.method
        name = method.removeprefix(_SERVICE)
        if name == "Handshake":
            return _unary(lambda _request, _context: HandshakeResponse().SerializeToString())
        if name == "ConfigureStack":
            return _unary(self._configure_stack)
        return _unary(lambda request, context: self._forward(method, request, context))

    def _configure_stack(self, request: bytes, _context: grpc.ServicerContext) -> bytes:
        self._configure(StackConfiguration.FromString(request))
        return StackConfigured().SerializeToString()

    def _configure(self, told: StackConfiguration | None) -> None:
        if not self._configuration.done():
            self._configuration.set_result(told)

    def _forward(self, method: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        # Asked anything else first, it is for no stack.
        self._configure(None)
        try:
            return _send(self._pack.result(), method, request)
        except RuntimeError as error:
            context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
        except grpc.RpcError as error:
            context.abort(error.code(), error.details() or "")


def _send(channel: grpc.Channel, method: str, request: bytes) -> bytes:
    call = cast("Callable[[bytes], bytes]", channel.unary_unary(method))
    return call(request)


def _unary(
    answer: Callable[[bytes, grpc.ServicerContext], bytes],
) -> "grpc.RpcMethodHandler[bytes, bytes]":
    return grpc.unary_unary_rpc_method_handler(answer)
