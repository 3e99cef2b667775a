"""Run a piece of a Pulumi program without an engine, and keep what it asked the engine for."""

# The SDK's mock monitor has no annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportUnknownLambdaType=false
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi.runtime import mocks, rpc
from pulumi.runtime.proto import resource_pb2
from pulumi_command import local

PROJECT = "lab"
STACK = "test"
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the mark that the SDK puts on secrets
SIGNATURE = "4dabf18193072939515e22adb298388d"


@dataclass(frozen=True)
class Registered:
    """One resource as it was registered: its inputs have the wire's names."""

    urn: str
    inputs: dict[str, Any]
    request: resource_pb2.RegisterResourceRequest

    @property
    def type(self) -> str:
        return self.request.type

    @property
    def name(self) -> str:
        return self.request.name


class _Mocks(mocks.Mocks):
    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        raise AssertionError(f"the program called {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        state = dict(args.inputs)
        if args.typ == "command:local:Command":
            state |= {"stdout": f"stdout of {args.name}", "stderr": ""}
        if args.typ == "kubernetes:helm.sh/v3:Release":
            state["status"] = {"status": "deployed"}
        if args.typ.startswith("kubernetes:") and "metadata" in state:
            state["metadata"] = {"name": f"{args.name}-made-up", **state["metadata"]}
        return f"{args.name}-id", state


class Recording(mocks.MockMonitor):
    """What was registered, and the outputs that components declared."""

    def __init__(self) -> None:
        super().__init__(_Mocks())
        self.registered: list[Registered] = []
        self.outputs: list[tuple[str, dict[str, Any]]] = []

    def RegisterResource(self, request: resource_pb2.RegisterResourceRequest) -> Any:  # noqa: ANN401, N802 - theirs
        response = super().RegisterResource(request)
        if request.type != "pulumi:pulumi:Stack":
            inputs = cast("dict[str, Any]", rpc.deserialize_properties(request.object))
            self.registered.append(Registered(response.urn, inputs, request))
        return response

    def RegisterResourceOutputs(self, request: resource_pb2.RegisterResourceOutputsRequest) -> Any:  # noqa: ANN401, N802
        outputs = cast("dict[str, Any]", rpc.deserialize_properties(request.outputs))
        self.outputs.append((request.urn, outputs))
        return super().RegisterResourceOutputs(request)

    def one(self, type_: str, name: str | None = None) -> Registered:
        """Return the only resource of a type (and name)."""
        [found] = [
            resource
            for resource in self.registered
            if resource.type == type_ and name in (None, resource.name)
        ]
        return found

    def below(self, urn: str) -> list[Registered]:
        """Return a resource's children and theirs."""
        children = [resource for resource in self.registered if resource.request.parent == urn]
        return children + [further for child in children for further in self.below(child.urn)]

    def outputs_of(self, urn: str) -> dict[str, Any]:
        """Return the outputs that a component declared, exactly once."""
        [outputs] = [outputs for of, outputs in self.outputs if of == urn]
        return outputs


def record(program: Callable[[], object], *, preview: bool = False) -> Recording:
    """Run a program to its end, with all its outputs."""
    recording = Recording()
    pulumi.runtime.set_mocks(
        recording.mocks, project=PROJECT, stack=STACK, preview=preview, monitor=recording
    )

    @pulumi.runtime.test
    def body() -> None:
        program()

    body()
    return recording


Build = Callable[[pulumi.ResourceOptions | None], object]


def record_inside(build: Build) -> Recording:
    """Run a component as the program does: with a provider, and gone with its cluster."""

    def program() -> None:
        provider = kubernetes.Provider("k8s", kubeconfig="{}")
        anchor = local.Command("anchor", create="true")
        build(pulumi.ResourceOptions(provider=provider, deleted_with=anchor))

    return record(program)


def is_secret(value: object) -> bool:
    """Return whether a recorded value is marked as secret."""
    return isinstance(value, dict) and cast("dict[str, object]", value).get(SIGNATURE) == SECRET
