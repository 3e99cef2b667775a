"""What the engine does with a policy, less the engine: arguments as they arrive, and what comes of them.

Properties go through the wire's form and back, so numbers are floats and unknowns raise.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct
from pulumi_policy import (
    PolicyResource,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.deserialize import deserialize_properties
from pulumi_policy.policy import Policy, PolicyCustomTimeouts, PolicyResourceOptions
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from policies.judge import AnyRule, policies_of

UNKNOWN = UNKNOWN_STRING_VALUE
ADVISORY = "advisory: "


def options(*, delete_before_replace: bool | None = None) -> PolicyResourceOptions:
    return PolicyResourceOptions(
        protect=False,
        ignore_changes=[],
        delete_before_replace=delete_before_replace,
        aliases=[],
        custom_timeouts=PolicyCustomTimeouts(0, 0, 0),
        additional_secret_outputs=[],
    )


def from_the_wire(props: Mapping[str, Any]) -> dict[str, Any]:
    return unknown_checking_proxy(deserialize_properties(MessageToDict(ParseDict(dict(props), Struct()))))


class Resource:
    """A resource of a program: its inputs, and what the engine says of it."""

    def __init__(
        self,
        props: Mapping[str, Any],
        *,
        name: str = "it",
        type_: str | None = None,
        delete_before_replace: bool | None = None,
        depends: Mapping[str, Sequence["Resource"]] | None = None,
    ) -> None:
        version = str(props.get("apiVersion", ""))
        version = f"core/{version}" if "/" not in version else version
        self.type = type_ or f"kubernetes:{version}:{props.get('kind')}"
        self.name = name
        self.urn = f"urn:pulumi:dev::lab::{self.type}::{name}"
        self.inputs = dict(props)
        self.opts = options(delete_before_replace=delete_before_replace)
        self.depends = depends or {}

    def args(self, config: Mapping[str, Any] | None = None) -> ResourceValidationArgs:
        return ResourceValidationArgs(
            self.type, from_the_wire(self.inputs), self.urn, self.name, self.opts, None, from_config(config)
        )

    def in_stack(self, *, outputs_known: bool, parents: Mapping[str, PolicyResource]) -> PolicyResource:
        return PolicyResource(
            self.type,
            from_the_wire(self.inputs if outputs_known else {}),
            self.urn,
            self.name,
            self.opts,
            None,
            None,
            [],
            {key: [parents[each.urn] for each in value] for key, value in self.depends.items()},
        )


def from_config(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The SDK reads the settings off the wire too."""
    return MessageToDict(ParseDict(dict(config or {}), Struct()))


def run(
    rule: AnyRule,
    resources: Sequence[Resource],
    config: Mapping[str, Any] | None = None,
    *,
    shown_before: bool = True,
    outputs_known: bool = False,
) -> list[str]:
    """Return what a preview with the policy says, in order.

    `shown_before`: resource policies were on, so the inputs were shown. `outputs_known`: the provider could
    be configured at preview, so a stack policy is shown outputs.
    """
    policy, recorder = policies_of([rule, _silent_rule()])
    said: list[str] = []
    if shown_before and isinstance(policy, StackValidationPolicy):
        for each in resources:
            _run(recorder, each.args(), said)
    if isinstance(policy, ResourceValidationPolicy):
        for each in resources:
            _run(policy, each.args(config), said)
    else:
        made: dict[str, PolicyResource] = {}
        for each in resources:
            made[each.urn] = each.in_stack(outputs_known=outputs_known, parents=made)
        _run(policy, StackValidationArgs(list(made.values()), from_config(config)), said)
    return said


def _run(policy: Policy, args: Any, said: list[str]) -> None:  # noqa: ANN401 - either policy's arguments
    """As `_PolicyAnalyzerServicer` does: an unknown value makes an advisory note."""

    def report(message: str, _urn: str | None = None) -> None:
        said.append(message)

    try:
        cast("Any", policy).validate(args, report)
    except UnknownValueError as error:
        said.append(f"{ADVISORY}{error.message}")


def _silent_rule() -> AnyRule:
    from policies.alone import REQUIRED_LABELS  # noqa: PLC0415 - any rule does, as long as it says nothing

    return REQUIRED_LABELS
