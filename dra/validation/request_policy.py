"""The rules for the request policy of a capacity that claims can share.

Source: `pkg/apis/resource/validation`, Kubernetes 1.37.2. Where it counts in whole numbers it rounds up, so
that it takes 1.5 and 2 for the same value: fractions come with DRAFractionalCapacityRange, which is off.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from dra import codes
from dra.device import CapacityRequestPolicy, CapacityRequestPolicyRange
from dra.quantity import Quantity
from dra.validation.problem import Problem, duplicate, forbidden, invalid, required, too_many_items

MAX_VALID_VALUES = 10
_MAX_INT64 = 2**63 - 1
_NOT_BOTH = (
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
)
_SORT = "List the values from small to large."
_FIT = "Keep it within the capacity's value."


def request_policy(value: str, policy: CapacityRequestPolicy, path: str) -> Iterator[Problem]:
    """Yield what is wrong with the policy of a capacity of that value."""
    if policy.valid_values and policy.valid_range:
        yield forbidden(path, _NOT_BOTH, "Keep one of the two.", codes.ONE_OF)
        return
    kind = "validValues" if policy.valid_values else "validRange"
    if not policy.valid_values and not policy.valid_range:
        return
    if policy.default is None:
        detail = f"required when {kind} is defined"
        yield required(f"{path}.default", "Write what a claim gets that asks for no amount.", detail)
        return
    default, capacity = Quantity.parse(policy.default), Quantity.parse(value)
    if policy.valid_values:
        values = [Quantity.parse(text) for text in policy.valid_values]
        yield from _valid_values(default, capacity, values, f"{path}.{kind}")
    elif policy.valid_range:
        yield from _Range(default, capacity, policy.valid_range, f"{path}.{kind}").problems()


def _valid_values(
    default: Quantity, capacity: Quantity, values: Sequence[Quantity], path: str
) -> Iterator[Problem]:
    for index, (lower, upper) in enumerate(pairwise(values)):
        if upper < lower:
            yield invalid(
                f"{path}[{index + 1}]", str(upper), "values must be sorted in ascending order", _SORT
            )
    yield from too_many_items(path, len(values), MAX_VALID_VALUES, "values")
    if len(values) <= MAX_VALID_VALUES:
        for index, value in enumerate(values):
            if value > capacity:
                yield invalid(
                    f"{path}[{index}]", str(value), f"option is larger than capacity value: {capacity}", _FIT
                )
        whole = [_rounded_up(value) for value in values]
        for index, number in enumerate(whole):
            if number in whole[:index]:
                yield duplicate(f"{path}[{index}]", str(number), "Take the second one out.")
    if default not in values or len(values) > MAX_VALID_VALUES:
        detail = "default value is not valid according to the requestPolicy"
        yield invalid(path, str(default), detail, "Make the default one of the values.")


class _Range:
    """A range with the default and the capacity that it goes with."""

    def __init__(
        self, default: Quantity, capacity: Quantity, given: CapacityRequestPolicyRange, path: str
    ) -> None:
        self.default, self.capacity, self.path = default, capacity, path
        self.min = Quantity.parse(given.min) if given.min else None
        self.max = Quantity.parse(given.max) if given.max is not None else None
        self.step = Quantity.parse(given.step) if given.step is not None else None

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the range."""
        if self.min is None:
            yield required(
                f"{self.path}.min", "Write the least amount.", "required when validRange is defined"
            )
            return
        yield from self._bounds(self.min)
        if self.step is not None:
            yield from self._steps(self.min, self.step)

    def _bounds(self, least: Quantity) -> Iterator[Problem]:
        at = self.path
        if least > self.capacity:
            yield invalid(
                f"{at}.min", str(least), f"min is larger than capacity value: {self.capacity}", _FIT
            )
        if self.default < least:
            detail = f"default is less than min: {least}"
            yield invalid(f"{at}.default", str(self.default), detail, "Make the default at least min.")
        if self.max is None:
            return
        if least > self.max:
            yield invalid(f"{at}.max", str(least), f"min is larger than max: {self.max}", "Swap min and max.")
        if self.max > self.capacity:
            yield invalid(
                f"{at}.max", str(self.max), f"max is larger than capacity value: {self.capacity}", _FIT
            )
        if self.default > self.max:
            detail = f"default is more than max: {self.max}"
            yield invalid(f"{at}.default", str(self.default), detail, "Make the default at most max.")

    def _steps(self, least: Quantity, step: Quantity) -> Iterator[Problem]:
        at = f"{self.path}.step"
        if step.sign <= 0:
            yield invalid(at, str(step), "must be greater than zero", "Write an amount above 0.")
            return
        if least + step > self.capacity:
            detail = f"one step {least + step} is larger than capacity value: {self.capacity}"
            yield invalid(at, str(step), detail, "Make the step smaller.")
        unsafe = list(self._out_of_range(least, step))
        yield from unsafe
        if unsafe:
            return
        for value in (self.default, self.max):
            if value is not None and (_rounded_up(value) - _rounded_up(least)) % _rounded_up(step):
                detail = f"value is not a multiple of a given step ({step}) from ({least})"
                yield invalid(
                    at, str(value), detail, "Make default and max reachable from min in whole steps."
                )

    def _out_of_range(self, least: Quantity, step: Quantity) -> Iterator[Problem]:
        for name, value in (("default", self.default), ("min", least), ("max", self.max), ("step", step)):
            if value is None:
                continue
            if value.sign < 0:
                detail = "must be greater than or equal to 0"
                yield invalid(f"{self.path}.{name}", str(value), detail, "Write an amount of 0 or more.")
            elif value > Quantity(_MAX_INT64):
                detail = f"must not be larger than {_MAX_INT64}"
                yield invalid(f"{self.path}.{name}", str(value), detail, "Write a smaller amount.")


def _rounded_up(value: Quantity) -> int:
    """Return a value as a whole number, rounded away from zero, and as the largest int64 at most."""
    if value > Quantity(_MAX_INT64):
        return _MAX_INT64
    if value.exponent >= 0:
        return value.unscaled * 10**value.exponent
    magnitude = -(-abs(value.unscaled) // 10**-value.exponent)
    return magnitude if value.sign >= 0 else -magnitude
