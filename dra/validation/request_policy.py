"""The rules for the request policy of a capacity that claims can share.

Source: `pkg/apis/resource/validation`, Kubernetes 1.37.2, with the arithmetic of its quantities: whole
numbers are rounded up, and where a fraction is among them all is counted in thousandths.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from dra import codes
from dra.device import CapacityRequestPolicy, CapacityRequestPolicyRange
from dra.gates import Gate, Target, is_on
from dra.quantity import Quantity
from dra.validation.problem import Problem, duplicate, forbidden, invalid, required, too_many_items

MAX_VALID_VALUES = 10
_MAX_INT64 = 2**63 - 1
_NOT_BOTH = (
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
)
_SORT = "List the values from small to large."
_FIT = "Keep it within the capacity's value."


def request_policy(value: str, policy: CapacityRequestPolicy, path: str, target: Target) -> Iterator[Problem]:
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
        yield from _valid_values(default, capacity, values, (f"{path}.{kind}", target))
    elif policy.valid_range:
        yield from _Range(default, capacity, policy.valid_range, f"{path}.{kind}").problems(target)


def _valid_values(
    default: Quantity, capacity: Quantity, values: Sequence[Quantity], place: tuple[str, Target]
) -> Iterator[Problem]:
    path, target = place
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
        keys = [_key(value, target) for value in values]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                yield duplicate(f"{path}[{index}]", key, "Take the second one out.")
    if default not in values or len(values) > MAX_VALID_VALUES:
        detail = "default value is not valid according to the requestPolicy"
        yield invalid(path, str(default), detail, "Make the default one of the values.")


def _key(value: Quantity, target: Target) -> str:
    """Return what a value is told apart by: its decimal, or before 1.37 the whole number it is rounded to."""
    if not is_on(Gate.DRA_FRACTIONAL_CAPACITY_RANGE, target):
        return str(_scaled(value, 0))
    return _decimal(value)


def _decimal(value: Quantity) -> str:
    places = max(-value.exponent, 0)
    digits = str(abs(value.unscaled) * 10 ** max(value.exponent, 0)).rjust(places + 1, "0")
    sign = "-" if value.unscaled < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


class _Range:
    """A range with the default and the capacity that it goes with."""

    def __init__(
        self, default: Quantity, capacity: Quantity, given: CapacityRequestPolicyRange, path: str
    ) -> None:
        self.default, self.capacity, self.path = default, capacity, path
        self.min = Quantity.parse(given.min) if given.min else None
        self.max = Quantity.parse(given.max) if given.max is not None else None
        self.step = Quantity.parse(given.step) if given.step is not None else None

    def problems(self, target: Target) -> Iterator[Problem]:
        """Yield what is wrong with the range."""
        if self.min is None:
            yield required(
                f"{self.path}.min", "Write the least amount.", "required when validRange is defined"
            )
            return
        yield from self._bounds(self.min)
        given = {"default": self.default, "min": self.min, "max": self.max, "step": self.step}
        present = {name: value for name, value in given.items() if value is not None}
        fractional = is_on(Gate.DRA_FRACTIONAL_CAPACITY_RANGE, target) and any(
            _is_fractional(value) for value in present.values()
        )
        if fractional:
            unsafe = [name for name, value in present.items() if not _has_thousandths(value)]
            for name in unsafe:
                detail = "value cannot be represented as a milli value"
                yield invalid(
                    f"{self.path}.{name}", str(present[name]), detail, "Use at most three decimal places."
                )
            if unsafe:
                return
        if self.step is not None:
            yield from self._steps(self.min, self.step, present, fractional=fractional)

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

    def _steps(
        self, least: Quantity, step: Quantity, present: dict[str, Quantity], *, fractional: bool
    ) -> Iterator[Problem]:
        at = f"{self.path}.step"
        if step.sign <= 0:
            yield invalid(at, str(step), "must be greater than zero", "Write an amount above 0.")
            return
        if _exceeds(least, step, self.capacity):
            detail = f"one step {least + step} is larger than capacity value: {self.capacity}"
            yield invalid(at, str(step), detail, "Make the step smaller.")
        unsafe = [] if fractional else list(_out_of_range(present, self.path))
        yield from unsafe
        if unsafe:
            return
        scale = 3 if fractional else 0
        for value in (self.default, self.max):
            if value is not None and (_scaled(value, scale) - _scaled(least, scale)) % _scaled(step, scale):
                detail = f"value is not a multiple of a given step ({step}) from ({least})"
                yield invalid(
                    at, str(value), detail, "Make default and max reachable from min in whole steps."
                )


def _exceeds(least: Quantity, step: Quantity, capacity: Quantity) -> bool:
    """Tell whether one step from the least amount is beyond the capacity."""
    return least + step > capacity


def _out_of_range(present: dict[str, Quantity], path: str) -> Iterator[Problem]:
    for name, value in present.items():
        if value.sign < 0:
            detail = "must be greater than or equal to 0"
            yield invalid(f"{path}.{name}", str(value), detail, "Write an amount of 0 or more.")
        elif value > Quantity(_MAX_INT64):
            detail = f"must not be larger than {_MAX_INT64}"
            yield invalid(f"{path}.{name}", str(value), detail, "Write a smaller amount.")


def _is_fractional(value: Quantity) -> bool:
    return value.key[1] < 0


def _has_thousandths(value: Quantity) -> bool:
    """Tell whether a value is a whole number of thousandths that an int64 holds."""
    unscaled, exponent = value.key
    return (
        exponent >= _MILLI
        and value < Quantity(2**63, _MILLI)
        and (unscaled == 0 or exponent <= _MAX_EXPONENT)
    )


_MAX_EXPONENT = 18
_MILLI = -3


def _scaled(value: Quantity, places: int) -> int:
    """Return a value in units of that many decimal places, rounded up (away from zero)."""
    exponent = value.exponent + places
    if exponent >= 0:
        return value.unscaled * 10**exponent
    magnitude = -(-abs(value.unscaled) // 10**-exponent)
    return magnitude if value.unscaled >= 0 else -magnitude
