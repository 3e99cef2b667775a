"""resource.Quantity: how Kubernetes reads, compares, adds and prints amounts such as `40Gi`.

No dependency of this package reads quantities as the API server does, to the last rounding and to the last
spelling that it lets pass, so it is written out here.
Source: the doc comment and the behaviour of `k8s.io/apimachinery/pkg/api/resource`, Kubernetes 1.37.2.
"""

import math
import re
from decimal import Decimal
from enum import Enum
from functools import total_ordering
from typing import Self

_FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NOT_A_NUMBER = "unable to parse numeric part of quantity"
_UNKNOWN_SUFFIX = "unable to parse quantity's suffix"

_SPELLING = re.compile(
    r"(?P<sign>[+-]?)0*(?P<integer>[0-9]*)(?P<point>\.?)(?P<fraction>(?<=\.)[0-9]*|)"
    r"(?P<suffix>[eEinumkKMGTP]*[+-]?[0-9]*)",
    re.ASCII,
)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {exponent: suffix for suffix, exponent in _BINARY.items()}

_NANO = -9
_KIBI = 1024
_INT64 = 2**63
_INT64_DIGITS = 18
_MAX_LENGTH = 10_240
"""As long as a CEL expression may be, and far longer than any amount; reading stays quick."""
_MAX_SHIFT = 20_000
"""Powers of ten beyond which no sum is written out: the API server would need hours or gigabytes for it."""


class Form(Enum):
    """The kind of suffix that a quantity was written with, and is printed with."""

    DECIMAL = "DecimalSI"
    BINARY = "BinarySI"
    EXPONENT = "DecimalExponent"


@total_ordering
class Quantity:
    """An amount: `unscaled` times ten to the power of `exponent`.

    `small` tells whether Kubernetes holds it as a scaled int64 and not as a big decimal. That can be seen
    from outside: a big decimal is never an integer to CEL's `isInteger()`, whatever its value.
    """

    __slots__ = ("exponent", "form", "key", "small", "text", "unscaled")

    def __init__(
        self,
        unscaled: int,
        exponent: int = 0,
        form: Form = Form.EXPONENT,
        *,
        small: bool = True,
        text: str = "",
    ) -> None:
        self.unscaled, self.exponent, self.form = unscaled, exponent, form
        self.small, self.text = small, text
        self.key = _without_trailing_zeros(unscaled, exponent)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the quantity that a text stands for; raise ValueError with the API server's words."""
        if text == "0":
            return cls(0, form=Form.DECIMAL, text=text)
        spelling = _SPELLING.fullmatch(text)
        if not text or spelling is None:
            raise ValueError(_FORMAT_WRONG)
        if len(text) > _MAX_LENGTH:
            raise ValueError(
                f"a quantity of {len(text)} characters: at most {_MAX_LENGTH} are read; round it"
            )
        integer, fraction = spelling["integer"] or "0", spelling["fraction"]
        exponent, form = _suffix(spelling["suffix"])
        sign = -1 if spelling["sign"] == "-" else 1
        if form is Form.BINARY:
            factor, scale = 2**exponent, 0
            # 2^10 takes about three digits of the fifteen that are safe in an int64.
            room = -1 if fraction else 14 - len(integer) - exponent * 3 // 10
        else:
            factor, scale = 1, exponent
            room = _INT64_DIGITS - len(integer) - len(fraction)
        if room >= 0 and scale - len(fraction) >= _NANO:
            number = int(integer + fraction)
            canonical = (
                number % 8 != 0
                if form is Form.BINARY
                else (scale - len(fraction)) % 3 == 0
                and not (integer + fraction).endswith("000")
                and not (integer + fraction).startswith("0")
            )
            return cls(sign * number * factor, scale - len(fraction), form, text=text if canonical else "")
        if not re.search("[0-9]", text[: spelling.start("suffix")]):
            raise ValueError(_NOT_A_NUMBER)
        # By way of Decimal, as int() alone refuses numbers of some thousand digits.
        return cls._big(sign, int(Decimal(integer + fraction)) * factor, scale - len(fraction), form)

    @classmethod
    def _big(cls, sign: int, unscaled: int, exponent: int, form: Form) -> Self:
        """Return a big decimal: rounded up to whole nanos, and a binary one capped at the largest int64."""
        if unscaled and exponent < _NANO:
            unscaled, exponent = _round_up(unscaled, _NANO - exponent), _NANO
        elif unscaled and exponent - _NANO < _MAX_SHIFT:
            unscaled, exponent = unscaled * 10 ** (exponent - _NANO), _NANO
        one = 10 ** max(-exponent, 0)
        if form is Form.BINARY:
            if unscaled > (_INT64 - 1) * one:
                unscaled, exponent = _INT64 - 1, 0
            elif 0 < unscaled < one:
                form = Form.DECIMAL
        return cls(sign * unscaled, exponent, form, small=False)

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    def to_integer(self) -> int | None:
        """Return the value if Kubernetes holds it as a whole int64, else None: also for some integers."""
        if not self.small or self.exponent < 0 or (self.unscaled and self.exponent > _INT64_DIGITS):
            return None
        value = self.unscaled * 10**self.exponent if self.unscaled else 0
        return value if -_INT64 <= value < _INT64 else None

    def to_float(self) -> float:
        """Return the value, approximately, as Kubernetes rounds it."""
        base = _float(self.unscaled)
        if self.exponent == 0:
            return base
        # Go's math.Pow10 has the same powers: correctly rounded, 0 below and infinite above the range.
        power = float(f"1e{self.exponent}")
        return base * power

    def compare(self, other: "Quantity") -> int:
        """Return -1, 0 or 1 as this is less than, equal to or greater than the other."""
        if self.key == other.key:
            return 0
        return -1 if self < other else 1

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: "Quantity") -> bool:
        if self.sign != other.sign or not self.sign:
            return self.sign < other.sign
        # Compared by their number of digits first, since 1e999999999 cannot be written out.
        mine, others = self._magnitude(), other._magnitude()
        if mine != others:
            return (mine < others) == (self.sign > 0)
        (mine_unscaled, mine_exponent), (other_unscaled, other_exponent) = self.key, other.key
        lowest = min(mine_exponent, other_exponent)
        return mine_unscaled * 10 ** (mine_exponent - lowest) < other_unscaled * 10 ** (
            other_exponent - lowest
        )

    def _magnitude(self) -> int:
        unscaled, exponent = self.key
        return _digits(unscaled) + exponent

    def __add__(self, other: "Quantity") -> "Quantity":
        return self._sum(other, 1)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self._sum(other, -1)

    def _sum(self, other: "Quantity", factor: int) -> "Quantity":
        form = self.form if self.unscaled else other.form
        if self.small and other.small:
            if not other.unscaled:
                return Quantity(self.unscaled, self.exponent, form)
            if not self.unscaled:
                return Quantity(factor * other.unscaled, other.exponent, form)
        lowest = min(self.exponent, other.exponent)
        if max(self.exponent, other.exponent) - lowest > _MAX_SHIFT:
            raise ValueError(
                f"{self} and {other} are too far apart to be added: take amounts of similar size"
            )
        mine = self.unscaled * 10 ** (self.exponent - lowest)
        others = factor * other.unscaled * 10 ** (other.exponent - lowest)
        fits = all(-_INT64 <= number < _INT64 for number in (mine, others, mine + others))
        return Quantity(mine + others, lowest, form, small=fits and self.small and other.small)

    def __str__(self) -> str:
        if self.text:
            return self.text
        if not self.unscaled:
            return "0"
        unscaled, exponent = self.key
        if self.form is Form.BINARY and exponent >= 0 and abs(unscaled * 10**exponent) >= _KIBI:
            return _binary(unscaled * 10**exponent)
        lower = exponent - exponent % 3
        number = str(Decimal(unscaled * 10 ** (exponent - lower)))
        if self.form is Form.EXPONENT:
            return f"{number}e{lower}" if lower else number
        # A sum beyond the largest suffix is printed without one, as Kubernetes does.
        return number + _DECIMAL_SUFFIX.get(lower, "")

    def __repr__(self) -> str:
        return f"Quantity.parse({str(self)!r})"


def _suffix(text: str) -> tuple[int, Form]:
    if text in _DECIMAL:
        return _DECIMAL[text], Form.DECIMAL
    if text in _BINARY:
        return _BINARY[text], Form.BINARY
    exponent = _EXPONENT.fullmatch(text)
    if exponent is None or not -_INT64 <= int(exponent[1]) < _INT64:
        raise ValueError(_UNKNOWN_SUFFIX)
    # Kubernetes keeps 32 bits of it.
    return (int(exponent[1]) + 2**31) % 2**32 - 2**31, Form.EXPONENT


def _binary(number: int) -> str:
    exponent = 0
    while number % _KIBI == 0:
        number, exponent = number // _KIBI, exponent + 10
    return str(Decimal(number)) + _BINARY_SUFFIX.get(exponent, "")


def _round_up(unscaled: int, places: int) -> int:
    if places > _digits(unscaled):
        return 1
    return -(-unscaled // 10**places)


def _without_trailing_zeros(unscaled: int, exponent: int) -> tuple[int, int]:
    if not unscaled:
        return 0, 0
    digits = str(Decimal(unscaled))
    significant = digits.rstrip("0")
    zeros = len(digits) - len(significant)
    return int(Decimal(significant)) if zeros else unscaled, exponent + zeros


def _digits(number: int) -> int:
    """Return the number of decimal digits, without writing them down."""
    number = abs(number)
    guess = max(int(number.bit_length() * math.log10(2)) - 1, 0)
    while number >= 10**guess:
        guess += 1
    return guess


def _float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)
