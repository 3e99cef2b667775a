import pytest

from dra.allocation.capacity import consumption
from dra.device import CapacityRequestPolicy, CapacityRequestPolicyRange, Device, DeviceCapacity
from dra.quantity import Quantity


def taken(asked: str, minimum: str, step: str, maximum: str | None = None, *, fractional: bool) -> str | None:
    valid = CapacityRequestPolicyRange(min=minimum, step=step, max=maximum)
    capacity = DeviceCapacity(value="8Gi", request_policy=CapacityRequestPolicy(valid_range=valid))
    device = Device(name="gpu-0", capacity={"memory": capacity}, allow_multiple_allocations=True)
    result = consumption({"memory": Quantity.parse(asked)}, device, fractional=fractional)
    return None if result is None else str(result["memory"])


# DRAFractionalCapacityRange: on only in a control plane that is no longer compatible with 1.36.
@pytest.mark.parametrize(
    ("asked", "minimum", "step", "whole", "parts"),
    [
        ("600m", "500m", "250m", "1", "750m"),
        ("750m", "500m", "250m", "1", "750m"),
        ("1100m", "500m", "250m", "2", "1250m"),
        ("5", "1", "3", "7", "7"),
        ("100m", "500m", "250m", "500m", "500m"),
    ],
)
def test_steps_are_whole_unless_the_release_has_fractions(
    asked: str, minimum: str, step: str, whole: str, parts: str
) -> None:
    assert taken(asked, minimum, step, fractional=False) == whole
    assert taken(asked, minimum, step, fractional=True) == parts


@pytest.mark.parametrize("fractional", [True, False])
def test_a_range_ends_at_its_maximum(*, fractional: bool) -> None:
    assert taken("7", "1", "1", "8", fractional=fractional) == "7"
    assert taken("9", "1", "1", "8", fractional=fractional) is None


@pytest.mark.parametrize(
    ("asked", "fractional", "words"),
    [
        ("10E", False, "request 10E exceeds MaxInt64"),
        (
            "9223372036854775807",
            False,
            "rounding request 9223372036854775807 up to the next step passes MaxInt64",
        ),
        ("1u", True, ""),
        ("1000001u", True, "request 1000001u is not a representable milli value"),
        (
            "9223372036854775",
            True,
            "rounding request 9223372036854775 up to the next step passes the milli-value range",
        ),
    ],
)
def test_an_amount_out_of_the_arithmetics_range_is_an_error(
    asked: str, words: str, *, fractional: bool
) -> None:
    if not words:
        assert taken(asked, "1", "7", fractional=fractional) == "1"
        return
    with pytest.raises(ValueError, match=words):
        taken(asked, "1", "7", fractional=fractional)


@pytest.mark.parametrize(("asked", "step"), [("5", "1e999999999"), ("1e999999999", "1")])
def test_amounts_beyond_all_measure_are_an_error_at_once(asked: str, step: str) -> None:
    with pytest.raises(ValueError, match="cannot be represented"):
        taken(asked, "1", step, fractional=False)
