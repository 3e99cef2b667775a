"""What is wrong with an expression, in the API server's words."""

import re


class CompileError(ValueError):
    """The API server refuses an expression; the text is what it says after the value."""

    def __init__(self, message: str, *, forbidden: bool = False) -> None:
        super().__init__(message)
        self.forbidden = forbidden
        """Whether the field is said to be forbidden (too complex) and not invalid."""


_PROBLEM = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)", re.DOTALL)
_STATUS = re.compile(r"^[A-Z_]+: (?=ERROR: )| \[[A-Z_]+\]$")
_UNDEFINED = re.compile(r"undefined field '(.*)' not found in struct '.*'")
_UNDECLARED = re.compile(r"undeclared reference to '([\w.]+)' \(in container ''\)")
_NO_OPERAND = re.compile(r"expression of type '(.*)' cannot be the operand of a select operation")


def checker_message(message: str, expression: str) -> str:
    """Return what cel-go says where Google's C++ checker says this."""
    problems = _STATUS.sub("", message).split("\nERROR: ")
    return "\n".join(
        _problem(problem if number == 0 else f"ERROR: {problem}", expression)
        for number, problem in enumerate(problems)
    )


def _problem(problem: str, expression: str) -> str:
    matched = _PROBLEM.fullmatch(problem)
    if matched is None:
        return problem
    line, column, text = int(matched[1]), int(matched[2]), matched[3].split("\n | ")[0]
    if undefined := _UNDEFINED.fullmatch(text):
        text = f"undefined field '{undefined[1]}'"
    elif operand := _NO_OPERAND.fullmatch(text):
        text = f"type '{operand[1]}' does not support field selection"
    elif (undeclared := _UNDECLARED.fullmatch(text)) and "." in undeclared[1]:
        root = undeclared[1].split(".")[0]
        # Told at the last dot; cel-go tells the first name, where it stands.
        column = max(column - len(undeclared[1].rpartition(".")[0]), 1)
        text = f"undeclared reference to '{root}' (in container '')"
    return located(line, column, text, expression)


def located(line: int, column: int, text: str, expression: str) -> str:
    """Return a problem with the line of the expression and a mark under the place; columns count from 1."""
    lines = expression.split("\n")
    source = (lines[line - 1] if line <= len(lines) else "").replace("\t", " ")
    mark = "".join("." if ord(character) < 128 else "．" for character in source[: column - 1])  # noqa: PLR2004, RUF001
    pointer = "^" if not source[column - 1 : column] or ord(source[column - 1]) < 128 else "＾"  # noqa: PLR2004, RUF001
    return f"ERROR: <input>:{line}:{column}: {text}\n | {source}\n | {mark.ljust(column - 1, '.')}{pointer}"


def at(position: int, text: str, expression: str) -> CompileError:
    """Return the error for a problem at a place of the expression."""
    before = expression[:position]
    line, column = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
    return CompileError(f"compilation failed: {located(line, column, text, expression)}")
