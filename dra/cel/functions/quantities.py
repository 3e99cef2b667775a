"""Quantities and semantic versions.

Source: `k8s.io/apiserver/pkg/cel/library/{quantity,semverlib}.go`, Kubernetes 1.37.2.
"""

from collections.abc import Callable
from typing import TypeVar

from dra.cel.errors import EvaluationError
from dra.cel.functions import function
from dra.cel.semver import Semver
from dra.cel.values import Sum
from dra.quantity import Quantity

_Ordered = TypeVar("_Ordered", Quantity, Semver)


@function("quantity(string)")
def _quantity(text: str) -> Quantity:
    try:
        return Quantity.parse(text)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


@function("isQuantity(string)")
def _is_quantity(text: str) -> bool:
    return works(_quantity, text)


def works(function: Callable[[str], object], text: str) -> bool:
    """Tell whether a text can be read."""
    try:
        function(text)
    except EvaluationError:
        return False
    return True


@function("sign(Quantity)")
def _sign(quantity: Quantity) -> int:
    return quantity.sign


@function("isGreaterThan(Quantity, Quantity)")
@function("isGreaterThan(Semver, Semver)")
def _is_greater(one: _Ordered, other: _Ordered) -> bool:
    return one > other


@function("isLessThan(Quantity, Quantity)")
@function("isLessThan(Semver, Semver)")
def _is_less(one: _Ordered, other: _Ordered) -> bool:
    return one < other


@function("compareTo(Quantity, Quantity)")
@function("compareTo(Semver, Semver)")
def _compare(one: _Ordered, other: _Ordered) -> int:
    return (one > other) - (one < other)


@function("asApproximateFloat(Quantity)")
def _as_float(quantity: Quantity) -> float:
    return quantity.to_float()


@function("isInteger(Quantity)")
def _is_integer(quantity: Quantity) -> bool:
    return quantity.to_integer() is not None


@function("asInteger(Quantity)")
def _as_integer(quantity: Quantity) -> int:
    integer = quantity.to_integer()
    if integer is None:
        raise EvaluationError("cannot convert value to integer")
    return integer


def _sum(quantity: Quantity) -> Sum:
    return Sum(quantity.unscaled, quantity.exponent, quantity.form, small=quantity.small)


@function("add(Quantity, Quantity)")
def _add(one: Quantity, other: Quantity) -> Quantity:
    try:
        return _sum(one + other)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


@function("sub(Quantity, Quantity)")
def _subtract(one: Quantity, other: Quantity) -> Quantity:
    try:
        return _sum(one - other)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


@function("add(Quantity, int)")
def _add_int(one: Quantity, other: int) -> Quantity:
    return _add(one, Quantity(other))


@function("sub(Quantity, int)")
def _subtract_int(one: Quantity, other: int) -> Quantity:
    return _subtract(one, Quantity(other))


@function("semver(string)")
@function("semver(string, bool)")
def _semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 - CEL has no names for arguments
    return Semver.normalize(text) if normalize else Semver.parse(text)


@function("isSemver(string)")
@function("isSemver(string, bool)")
def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 - as above
    return works(Semver.normalize if normalize else Semver.parse, text)


@function("major(Semver)")
def _major(version: Semver) -> int:
    return version.numbers[0]


@function("minor(Semver)")
def _minor(version: Semver) -> int:
    return version.numbers[1]


@function("patch(Semver)")
def _patch(version: Semver) -> int:
    return version.numbers[2]
