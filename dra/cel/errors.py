"""What is wrong with an expression, in the API server's words."""

import re
from collections.abc import Iterable
from typing import NamedTuple


class CompileError(ValueError):
    """The API server refuses an expression; the text is what it says after the value."""

    def __init__(
        self, message: str, *, forbidden: bool = False, internal: bool = False, undecided: bool = False
    ) -> None:
        super().__init__(message)
        self.forbidden = forbidden
        """Whether the field is said to be forbidden (too complex) and not invalid."""
        self.internal = internal
        """Whether it is said to be an internal error (a constant that cannot be read) and not invalid."""
        self.undecided = undecided
        """Whether it is this checker that cannot read it; the text is not the API server's."""

    def again(self) -> "CompileError":
        """Return an error like this one, which nobody has raised yet."""
        return CompileError(
            str(self), forbidden=self.forbidden, internal=self.internal, undecided=self.undecided
        )


class EvaluationError(ValueError):
    """A selector failed on a device; the text is what the scheduler says after `CEL runtime error: `."""


class Problem(NamedTuple):
    """What is wrong at a place: so many characters of the expression stand before it."""

    position: int
    text: str


_PROBLEM = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*?)(\n \| .*)?", re.DOTALL)
_STATUS = re.compile(r"^[A-Z_]+: (?=ERROR: )| \[[A-Z_]+\]$")
_UNDEFINED = re.compile(r"undefined field '(.*)' not found in struct '.*'")
_UNDECLARED = re.compile(r"undeclared reference to '([\w.]+)' \(in container ''\)")
_NO_OPERAND = re.compile(r"expression of type '(.*)' cannot be the operand of a select operation")
_NO_OVERLOAD = re.compile(r"found no matching overload for '(\w+)' applied to '\((.*)\)'")


_WORDS = (
    (re.compile("cannot be the range of"), "cannot be range of"),
    (re.compile(r"has\(\) argument must be a field selection"), "invalid argument to has() macro"),
    (
        re.compile(
            r"\b(all|exists|exists_one|map|filter)\(\) (\w+ )?variable name must be a simple identifier"
        ),
        "argument must be a simple name",
    ),
    (re.compile(r"\\u003F"), "?"),
    (re.compile(r"\b\w%\d+"), "dyn"),
    (re.compile(r"\bgoogle\.protobuf\.Timestamp\b"), "timestamp"),
    (re.compile(r"\bgoogle\.protobuf\.Duration\b"), "duration"),
)


def checker_problems(message: str, expression: str) -> list[Problem]:
    """Return what cel-go says where Google's C++ checker says this, in its order."""
    found: list[Problem] = []
    for part in _STATUS.sub("", message).removeprefix("ERROR: ").split("\nERROR: "):
        matched = _PROBLEM.fullmatch(f"ERROR: {part}")
        if matched is None:
            # At no place of the expression: what follows from the others.
            continue
        lines = expression.split("\n")
        position = sum(len(line) + 1 for line in lines[: int(matched[1]) - 1]) + int(matched[2]) - 1
        # What follows from an earlier problem is no problem of its own.
        if "'*error*'" not in matched[3]:
            found.append(_translated(position, matched[3], expression))
    return sorted(found, key=lambda problem: problem.position) or [Problem(0, message)]


def _translated(position: int, text: str, expression: str) -> Problem:
    if undefined := _UNDEFINED.fullmatch(text):
        return Problem(position, f"undefined field '{undefined[1]}'")
    for pattern, replacement in _WORDS:
        text = pattern.sub(replacement, text)
    if operand := _NO_OPERAND.fullmatch(text):
        return Problem(position, f"type '{operand[1]}' does not support field selection")
    if (undeclared := _UNDECLARED.fullmatch(text)) and "." in undeclared[1]:
        # Told at the last dot; cel-go tells the first name, where it stands.
        root = undeclared[1].split(".")[0]
        places = [found.start() for found in re.finditer(rf"\b{root}\b", expression)]
        before = [place for place in places if place <= position]
        start = before[-1] if before else min(places, default=position)
        return Problem(start, f"undeclared reference to '{root}' (in container '')")
    if overload := _NO_OVERLOAD.fullmatch(text):
        before = expression[:position].rstrip()
        if before.endswith(overload[1]) and before[: -len(overload[1])].rstrip().endswith("."):
            receiver, _, rest = _split_type(overload[2])
            return Problem(
                position, f"found no matching overload for '{overload[1]}' applied to '{receiver}.({rest})'"
            )
    return Problem(position, text)


def _split_type(types: str) -> tuple[str, str, str]:
    """Return the first type of several, and the rest."""
    depth = 0
    for index, character in enumerate(types):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            return types[:index], ", ", types[index + 2 :]
    return types, "", ""


def failed(problems: Iterable[Problem], expression: str) -> CompileError:
    """Return the error of an expression in which something is wrong."""
    texts = [
        _located(problem, expression) for problem in sorted(problems, key=lambda problem: problem.position)
    ]
    return CompileError("compilation failed: " + "\n".join(texts))


def _located(problem: Problem, expression: str) -> str:
    """Return a problem with the line of the expression and a mark under the place; columns count from 1."""
    if not expression:
        return f"ERROR: <input>:1:0: {problem.text}"
    before = expression[: problem.position]
    line, column = before.count("\n") + 1, problem.position - (before.rfind("\n") + 1)
    source = expression.split("\n")[line - 1].replace("\t", " ")
    mark = "".join("." if character.isascii() else "．" for character in source[:column])  # noqa: RUF001 - wide as it
    pointer = "^" if source[column : column + 1].isascii() else "＾"  # noqa: RUF001 - as wide as the character
    head = f"ERROR: <input>:{line}:{column + 1}: {problem.text}"
    return f"{head}\n | {source}\n | {mark.ljust(column, '.')}{pointer}"
