"""What stands between the engine and a policy pack, asked as the engine asks, over gRPC."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# The protocol names the methods and gives each its arguments.
# ruff: noqa: ARG002, N802
import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import analyzer_pb2 as pb
from pulumi.runtime.proto.analyzer_pb2_grpc import (
    AnalyzerServicer,
    AnalyzerStub,
    add_AnalyzerServicer_to_server,
)

from toolchain.standins.policy_proxy import PolicyProxy

_Pair = tuple[PolicyProxy, Any]  # the stub's calls have no types


class Pack(AnalyzerServicer):
    """A pack that remembers its stack; a call that it does not have is unimplemented."""

    stack = ""

    def ConfigureStack(
        self,
        request: pb.AnalyzerStackConfigureRequest,
        context: grpc.ServicerContext,
    ) -> pb.AnalyzerStackConfigureResponse:
        self.stack = request.stack
        return pb.AnalyzerStackConfigureResponse()

    def GetAnalyzerInfo(self, request: Empty, context: grpc.ServicerContext) -> pb.AnalyzerInfo:
        return pb.AnalyzerInfo(name=f"pack of {self.stack}")


@pytest.fixture
def pair() -> Generator[_Pair]:
    proxy = PolicyProxy()
    yield proxy, AnalyzerStub(grpc.insecure_channel(f"127.0.0.1:{proxy.port}"))
    proxy.stop()


@pytest.fixture
def pack_port() -> Generator[int]:
    server = grpc.server(ThreadPoolExecutor(4))
    add_AnalyzerServicer_to_server(Pack(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield port
    server.stop(None)


def test_a_pack_is_started_with_what_the_engine_says_of_the_stack(pair: _Pair, pack_port: int) -> None:
    proxy, engine = pair
    engine.Handshake(pb.AnalyzerHandshakeRequest(engine_address="e"))
    engine.ConfigureStack(
        pb.AnalyzerStackConfigureRequest(stack="dev", project="lab", dry_run=True, config={"lab:a": "b"})
    )
    assert proxy.environment() == {
        "PULUMI_PROJECT": "lab",
        "PULUMI_STACK": "dev",
        "PULUMI_DRY_RUN": "true",
        "PULUMI_CONFIG": '{"lab:a": "b"}',
    }
    proxy.attach(pack_port)
    assert engine.GetAnalyzerInfo(Empty()).name == "pack of dev"


def test_what_the_pack_refuses_is_refused_in_its_words(pair: _Pair, pack_port: int) -> None:
    proxy, engine = pair
    engine.ConfigureStack(pb.AnalyzerStackConfigureRequest(stack="dev"))
    proxy.attach(pack_port)
    with pytest.raises(grpc.RpcError) as refused:
        engine.Analyze(pb.AnalyzeRequest())
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_pack_for_no_stack_is_started_with_nothing(pair: _Pair, pack_port: int) -> None:
    proxy, engine = pair
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(engine.GetAnalyzerInfo, Empty())
        assert proxy.environment() == {}
        proxy.attach(pack_port)
        assert asked.result().name == "pack of "


def test_a_pack_that_does_not_start_leaves_nobody_waiting(pair: _Pair) -> None:
    proxy, engine = pair
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(engine.GetAnalyzerInfo, Empty())
        assert proxy.environment() == {}
        proxy.stop()
        with pytest.raises(grpc.RpcError):
            asked.result()
