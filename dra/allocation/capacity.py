"""How much of a device's capacity a request takes.

Source: `structured/internal/incubating/consumable_capacity.go` of `k8s.io/dynamic-resource-allocation`
0.37.2.
"""

from collections.abc import Mapping

from dra.device import CapacityRequestPolicy, CapacityRequestPolicyRange, Device
from dra.quantity import Quantity

_LARGEST = 2**63 - 1
_MILLI = -3
_NOT_REPRESENTABLE = "capacity request cannot be represented in the device's range arithmetic"


def consumption(
    asked: Mapping[str, Quantity], device: Device, *, fractional: bool
) -> dict[str, Quantity] | None:
    """Return what a request takes of each capacity of a device; None if the device does not offer that.

    `fractional`: ranges may have parts of one (DRAFractionalCapacityRange).

    Raises:
        ValueError: The request can be put to no device, in the scheduler's words: the pod fails.

    """
    if any(name not in device.capacity for name in asked):
        return None
    taken: dict[str, Quantity] = {}
    for name, capacity in device.capacity.items():
        policy = capacity.request_policy
        try:
            value = Quantity.parse(capacity.value)
            taken[name] = _taken(asked.get(name), value, policy, fractional=fractional)
        except ValueError as error:
            raise ValueError(f'capacity "{name}": {error}') from None
        if taken[name].sign < 0:
            raise ValueError(f'capacity "{name}": capacity value is negative')
    violated = any(
        capacity.request_policy and _violates(taken[name], capacity.request_policy, fractional=fractional)
        for name, capacity in device.capacity.items()
    )
    return None if violated else taken


def lacking(
    taken: Mapping[str, Quantity], device: Device, used: Mapping[str, Quantity]
) -> dict[str, Quantity]:
    """Return what is left of each capacity that has too little left for what a request takes."""
    lacks: dict[str, Quantity] = {}
    for name, amount in taken.items():
        value = Quantity.parse(device.capacity[name].value)
        left = value - used[name] if name in used else value
        if amount > left:
            lacks[name] = left
    return lacks


def _taken(
    asked: Quantity | None, value: Quantity, policy: CapacityRequestPolicy | None, *, fractional: bool
) -> Quantity:
    if asked is None:
        return Quantity.parse(policy.default) if policy and policy.default else value
    if policy is None:
        return asked
    if policy.valid_range is not None:
        return _round_up(asked, policy.valid_range, fractional=fractional)
    for allowed in policy.valid_values or ():
        if asked <= Quantity.parse(allowed):
            return Quantity.parse(allowed)
    return asked


def _round_up(asked: Quantity, valid: CapacityRequestPolicyRange, *, fractional: bool) -> Quantity:
    lowest = Quantity.parse(valid.min)
    if asked < lowest:
        return lowest
    if valid.step is None:
        return asked
    step = Quantity.parse(valid.step)
    if _in_milli(valid, fractional=fractional):
        if not _is_milli(asked):
            raise ValueError(f"{_NOT_REPRESENTABLE}: request {asked} is not a representable milli value")
        rounded = _next_step(_scaled(asked, _MILLI), _scaled(lowest, _MILLI), _scaled(step, _MILLI))
        if rounded > _LARGEST:
            raise ValueError(
                f"{_NOT_REPRESENTABLE}: rounding request {asked} up to the next step passes the milli-value "
                "range"
            )
        return Quantity(rounded, _MILLI, step.form)
    if asked > Quantity(_LARGEST):
        raise ValueError(f"{_NOT_REPRESENTABLE}: request {asked} exceeds MaxInt64")
    rounded = _next_step(_scaled(asked, 0), _scaled(lowest, 0), _scaled(step, 0))
    if rounded > _LARGEST:
        raise ValueError(
            f"{_NOT_REPRESENTABLE}: rounding request {asked} up to the next step passes MaxInt64"
        )
    return Quantity(rounded, 0, step.form)


def _next_step(asked: int, lowest: int, step: int) -> int:
    return lowest + -(-(asked - lowest) // max(step, 1)) * max(step, 1)


def _violates(amount: Quantity, policy: CapacityRequestPolicy, *, fractional: bool) -> bool:
    if policy.default is not None and amount == Quantity.parse(policy.default):
        return False
    valid = policy.valid_range
    if valid is None:
        allowed = policy.valid_values
        return bool(allowed) and all(amount != Quantity.parse(value) for value in allowed)
    if valid.max is not None and amount > Quantity.parse(valid.max):
        return True
    if valid.step is None:
        return False
    exponent = 0
    if _in_milli(valid, fractional=fractional):
        if not _is_milli(amount):
            return True
        exponent = _MILLI
    lowest, step = (_scaled(Quantity.parse(text), exponent) for text in (valid.min, valid.step))
    return (_scaled(amount, exponent) - lowest) % max(step, 1) != 0


def _in_milli(valid: CapacityRequestPolicyRange, *, fractional: bool) -> bool:
    amounts = [Quantity.parse(text) for text in (valid.min, valid.max, valid.step) if text is not None]
    return fractional and all(_is_milli(amount) for amount in amounts) and amounts[-1].sign > 0


def _is_milli(amount: Quantity) -> bool:
    """Tell whether an amount is a whole number of thousandths that an int64 holds."""
    return amount.key[1] >= _MILLI and Quantity(-_LARGEST, _MILLI) <= amount <= Quantity(_LARGEST, _MILLI)


def _scaled(amount: Quantity, exponent: int) -> int:
    """Return an amount as an int64 number of 10^exponent, rounded away from zero."""
    if not Quantity(-_LARGEST, exponent) <= amount <= Quantity(_LARGEST, exponent):
        return amount.sign * _LARGEST
    unscaled, own = amount.key
    if own >= exponent:
        return unscaled * 10 ** (own - exponent)
    return amount.sign * -(-abs(unscaled) // 10 ** (exponent - own))
