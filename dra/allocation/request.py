"""A request of a claim, or one alternative of it, as it is put to devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dra.allocation.candidate import Candidate
from dra.allocation.capacity import consumption
from dra.allocation.held import full_name
from dra.allocation.outcome import AllocationError
from dra.cel import CompileError, EvaluationError, Selector, compile_selector
from dra.claim import (
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
)
from dra.device import DeviceTaint
from dra.gates import Gate, Target, is_on
from dra.objects import DeviceClass, ResourceClaim
from dra.quantity import Quantity

ALL = "All"
"""The allocation mode of a request for every device that matches."""

MAX_DEVICES = 32
"""Devices of one claim (`AllocationResultsMaxSize` of the API)."""


@dataclass(frozen=True, eq=False)
class Condition:
    """One selector of a class or of a request. `origin`: what the scheduler names in an error."""

    path: str
    origin: str
    expression: str
    index: int
    of_class: bool
    target: Target

    @cached_property
    def selector(self) -> Selector:
        """The compiled selector.

        Raises:
            CompileError: The expression does not compile.

        """
        return compile_selector(self.expression, self.target)

    @property
    def reads(self) -> frozenset[str] | None:
        """The fully qualified names of the attributes that it can read; None if it can read any."""
        try:
            return self.selector.reads
        except CompileError:
            return frozenset()


@dataclass(frozen=True, eq=False)
class Ask:
    """A request of a claim, or one of its alternatives.

    `claim` is the claim's index in the pod; `name` is the request's own, an alternative's without its
    request's; `path` leads to its fields in the claim. `sharing`, `fractional`: whether the gates
    DRAConsumableCapacity and DRAFractionalCapacityRange are on.
    """

    claim: int
    claim_name: str
    request: str
    name: str
    path: str
    class_name: str
    conditions: Sequence[Condition]
    all_: bool
    count: int
    admin: bool
    tolerations: Sequence[DeviceToleration]
    capacity: Mapping[str, Quantity]
    sharing: bool
    fractional: bool
    unusable: str
    """Why the scheduler refuses the request whatever the devices are; empty if it does not."""

    @property
    def full_name(self) -> str:
        """The name as constraints and results have it: `request` or `request/alternative`."""
        return self.request if self.path.endswith(".exactly") else f"{self.request}/{self.name}"

    def error(self, path: str, message: str) -> AllocationError:
        """Return the error that the scheduler reports about this request."""
        return AllocationError(self.claim, path, f"claim {self.claim_name}, request {self.name}: {message}")

    def matches(self, candidate: Candidate) -> bool:
        """Tell whether a device is of the class and matches the selectors.

        Raises:
            AllocationError: A selector fails on the device.

        """
        return all(self.meets(condition, candidate) for condition in self.conditions)

    def meets(self, condition: Condition, candidate: Candidate) -> bool:
        """Tell whether a device matches one selector; raises AllocationError if that fails on it."""
        try:
            return condition.selector.matches(candidate.id.driver, candidate.device)
        except CompileError as error:
            raise AllocationError(
                self.claim,
                condition.path,
                f"{condition.origin}: selector #{condition.index}: CEL compile error: {error}",
            ) from None
        except EvaluationError as error:
            raise AllocationError(
                self.claim,
                condition.path,
                f"{condition.origin}: selector #{condition.index} on device {candidate.id}: "
                f"CEL runtime error: {error}",
            ) from None

    def would_meet(self, condition: Condition, candidate: Candidate) -> bool:
        """Tell the same without an error: a device on which a selector fails is none that it rules out."""
        try:
            return self.meets(condition, candidate)
        except AllocationError:
            return True

    def consumption(self, candidate: Candidate) -> Mapping[str, Quantity] | None:
        """Return what it takes of each capacity of a device; None if the device does not offer that.

        Raises:
            AllocationError: No device can be asked for such an amount.

        """
        if not self.sharing:
            return {}
        try:
            return consumption(self.capacity, candidate.device, fractional=self.fractional)
        except ValueError as error:
            raise self.error(
                f"{self.path}.capacity", f"checking capacity for device {candidate.id}: {error}"
            ) from None

    def tolerates(self, taint: DeviceTaint) -> bool:
        """Tell whether one of the tolerations is for a taint."""
        return any(_tolerates(toleration, taint) for toleration in self.tolerations)


def asks_of(
    index: int, claim: ResourceClaim, classes: Mapping[str, DeviceClass], target: Target
) -> list[list[Ask]]:
    """Return a list for each request of a claim: the request, or its alternatives in their order.

    Raises:
        AllocationError: A class does not exist; the scheduler says so before it looks at any node.

    """
    asks: list[list[Ask]] = []
    for position, request in enumerate(claim.spec.devices.requests or ()):
        path = f"spec.devices.requests[{position}]"
        if request.exactly is not None:
            asks.append([_ask(index, claim, request, request.exactly, f"{path}.exactly", classes, target)])
            continue
        if not request.first_available:
            raise AllocationError(
                index,
                path,
                f"resource claim {full_name(claim)}, request {request.name}: unknown request type",
            )
        if not is_on(Gate.DRA_PRIORITIZED_LIST, target):
            raise AllocationError(
                index,
                f"{path}.firstAvailable",
                f"resource claim {full_name(claim)}, request {request.name}: has subrequests, but the "
                "DRAPrioritizedList feature is disabled",
            )
        asks.append(
            [
                _ask(index, claim, request, each, f"{path}.firstAvailable[{place}]", classes, target)
                for place, each in enumerate(request.first_available)
            ]
        )
    return asks


def _ask(  # noqa: PLR0913, PLR0917 - each is a part of what is asked, and there is one caller
    index: int,
    claim: ResourceClaim,
    request: DeviceRequest,
    spec: ExactDeviceRequest | DeviceSubRequest,
    path: str,
    classes: Mapping[str, DeviceClass],
    target: Target,
) -> Ask:
    exact = isinstance(spec, ExactDeviceRequest)
    name = request.name if exact else spec.name
    device_class = classes.get(spec.device_class_name)
    if device_class is None:
        full = request.name if exact else f"{request.name}/{name}"
        raise AllocationError(
            index,
            f"{path}.deviceClassName",
            f"request {full}: device class {spec.device_class_name} does not exist",
        )
    origin = f"class {spec.device_class_name}"
    capacity = (spec.capacity.requests or {}) if spec.capacity else {}
    return Ask(
        claim=index,
        claim_name=full_name(claim),
        request=request.name,
        name=name,
        path=path,
        class_name=spec.device_class_name,
        conditions=[
            *_conditions(
                device_class.spec.selectors, f"{path}.deviceClassName", origin, target, of_class=True
            ),
            *_conditions(spec.selectors, path, f"claim {full_name(claim)}", target, of_class=False),
        ],
        all_=spec.allocation_mode == ALL,
        # Unset and 0 are defaulted to 1 by the API server.
        count=spec.count or 1,
        admin=exact and bool(spec.admin_access),
        tolerations=spec.tolerations or (),
        capacity={key: Quantity.parse(amount) for key, amount in capacity.items()},
        sharing=is_on(Gate.DRA_CONSUMABLE_CAPACITY, target),
        fractional=is_on(Gate.DRA_FRACTIONAL_CAPACITY_RANGE, target),
        unusable=_unusable(spec, target),
    )


def _unusable(spec: ExactDeviceRequest | DeviceSubRequest, target: Target) -> str:
    if spec.capacity is not None and not is_on(Gate.DRA_CONSUMABLE_CAPACITY, target):
        return "has capacity requests, but the DRAConsumableCapacity feature is disabled"
    if spec.derived_attributes:
        return "cannot handle request with derived attributes, the feature is disabled"
    return ""


def _conditions(
    selectors: Sequence[DeviceSelector] | None, path: str, origin: str, target: Target, *, of_class: bool
) -> list[Condition]:
    return [
        Condition(
            path=path if of_class else f"{path}.selectors[{index}]",
            origin=origin,
            expression=each.cel.expression,
            index=index,
            of_class=of_class,
            target=target,
        )
        for index, each in enumerate(selectors or ())
        if each.cel is not None
    ]


def _tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in {None, "", "Equal"}:
        return (toleration.value or "") == (taint.value or "")
    return toleration.operator == "Exists"
