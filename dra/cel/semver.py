"""Semantic versions as Kubernetes reads and compares them, with the library github.com/blang/semver.

The package `semver` accepts other texts and says other things.
"""

import re
from functools import total_ordering
from typing import Self

from dra.cel.errors import EvaluationError

_MAX_NUMBER = 2**64 - 1
_NUMBER = re.compile(r"[0-9]+", re.ASCII)
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+", re.ASCII)


@total_ordering
class Semver:
    """A semantic version, compared without its build metadata."""

    __slots__ = ("build", "key", "numbers", "prerelease", "text")

    def __init__(self, numbers: tuple[int, int, int], prerelease: tuple[str, ...], text: str) -> None:
        self.numbers, self.prerelease, self.text = numbers, prerelease, text
        # Numbers come before words; a release comes after all its prereleases.
        order = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in prerelease)
        self.key = (numbers, not prerelease, order)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the version; raise EvaluationError with the words of the library."""
        if not text:
            raise EvaluationError("Version string empty")
        parts = text.split(".", 2)
        if len(parts) != 3:  # noqa: PLR2004 - major, minor, patch
            raise EvaluationError("No Major.Minor.Patch elements found")
        major, minor = _number("major", parts[0]), _number("minor", parts[1])
        patch, plus, build = parts[2].partition("+")
        patch, dash, prerelease = patch.partition("-")
        numbers = (major, minor, _number("patch", patch))
        names = tuple(prerelease.split(".")) if dash else ()
        for name in names:
            _check_prerelease(name)
        for name in build.split(".") if plus else ():
            if not name:
                raise EvaluationError("Build meta data is empty")
            if not _IDENTIFIER.fullmatch(name):
                raise EvaluationError(f"Invalid character(s) found in build meta data {_quoted(name)}")
        return cls(numbers, names, text)

    @classmethod
    def normalize(cls, text: str) -> Self:
        """Return the version of a text that may start with v, lack parts, or have leading zeros."""
        parts = text.removeprefix("v").split(".", 2)
        parts = [_without_leading_zeros(part) if len(part.encode()) > 1 else part for part in parts]
        if len(parts) < 3:  # noqa: PLR2004 - major, minor, patch
            if set(parts[-1]) & {"+", "-"}:
                raise EvaluationError("short version cannot contain PreRelease/Build meta data")
            parts += ["0"] * (3 - len(parts))
        return cls.parse(".".join(parts))

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Semver) else NotImplemented

    def __lt__(self, other: "Semver") -> bool:
        return self.key < other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _number(part: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        if text:
            raise EvaluationError(f"Invalid character(s) found in {part} number {_quoted(text)}")
        raise EvaluationError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(f"{part.capitalize()} number must not contain leading zeroes {_quoted(text)}")
    if len(text) > 20 or int(text) > _MAX_NUMBER:  # noqa: PLR2004 - digits of the largest uint64
        raise EvaluationError(f"strconv.ParseUint: parsing {_quoted(text)}: value out of range")
    return int(text)


def _check_prerelease(name: str) -> None:
    if not name:
        raise EvaluationError("Prerelease is empty")
    if _NUMBER.fullmatch(name):
        if len(name) > 1 and name[0] == "0":
            raise EvaluationError(
                f"Numeric PreRelease version must not contain leading zeroes {_quoted(name)}"
            )
    elif not _IDENTIFIER.fullmatch(name):
        raise EvaluationError(f"Invalid character(s) found in prerelease {_quoted(name)}")


def _without_leading_zeros(part: str) -> str:
    part = part.lstrip("0")
    return part if part[:1] in set("0123456789") and part else f"0{part}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
