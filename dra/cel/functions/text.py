"""Strings and regular expressions.

Regular expressions are those of RE2, in Google's runtime: Python's own would never end on some, and differ.
Source: `ext/strings.go` of cel-go 0.29 (version 2), `k8s.io/apiserver/pkg/cel/library/regex.go`.
"""

from functools import cache
from typing import TYPE_CHECKING

from dra.cel.errors import EvaluationError
from dra.cel.functions import function
from dra.cel.values import Value

if TYPE_CHECKING:
    from cel_expr_python.cel import Env, Expression

_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
"""What Go takes for white space."""


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


@function("contains(string, string)")
def _contains(text: str, part: str) -> bool:
    return part in text


@function("startsWith(string, string)")
def _starts_with(text: str, part: str) -> bool:
    return text.startswith(part)


@function("endsWith(string, string)")
def _ends_with(text: str, part: str) -> bool:
    return text.endswith(part)


@function("charAt(string, int)")
def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


@function("indexOf(string, string)")
@function("indexOf(string, string, int)")
def _index_of(text: str, part: str, offset: int = 0) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    return min(offset, len(text)) if not part else text.find(part, offset)


@function("lastIndexOf(string, string)")
def _last_index_of(text: str, part: str) -> int:
    return text.rfind(part)


@function("lastIndexOf(string, string, int)")
def _last_index_of_until(text: str, part: str, offset: int) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


@function("lowerAscii(string)")
def _lower(text: str) -> str:
    return text.translate(str.maketrans(_UPPER, _LOWER))


@function("upperAscii(string)")
def _upper(text: str) -> str:
    return text.translate(str.maketrans(_LOWER, _UPPER))


@function("trim(string)")
def _trim(text: str) -> str:
    return text.strip(_SPACE)


@function("replace(string, string, string)")
def _replace(text: str, old: str, new: str) -> str:
    return text.replace(old, new)


@function("replace(string, string, string, int)")
def _replace_some(text: str, old: str, new: str, count: int) -> str:
    return text.replace(old, new, max(count, -1))


@function("split(string, string)")
def _split(text: str, separator: str) -> list[str]:
    return text.split(separator) if separator else list(text)


@function("split(string, string, int)")
def _split_some(text: str, separator: str, count: int) -> list[str]:
    if count < 0:
        return _split(text, separator)
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1)
    parts = list(text)
    return [*parts[: count - 1], "".join(parts[count - 1 :])] if len(parts) > count else parts


@function("substring(string, int)")
def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


@function("substring(string, int, int)")
def _substring_until(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


@function("join(list)")
@function("join(list, string)")
def _join(texts: list[Value], separator: str = "") -> str:
    if not all(isinstance(text, str) for text in texts):
        raise EvaluationError("join: invalid input: must be a list of strings")
    return separator.join(texts)


_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


@function("strings.quote(string)")
def _quote(text: str) -> str:
    escapes = _ESCAPES | {"\\": "\\\\", '"': '\\"'}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'


@function("matches(string, string)")
def _matches(text: str, pattern: str) -> bool:
    return _run("text.matches(pattern)", text=text, pattern=pattern)


@function("find(string, string)")
def _find(text: str, pattern: str) -> str:
    return next(iter(_find_all(text, pattern)), "")


@function("findAll(string, string)")
@function("findAll(string, string, int)")
def _find_all(text: str, pattern: str, count: int = -1) -> list[str]:
    found = _run("regex.extractAll(text, pattern)", text=text, pattern=f"({_uncaptured(pattern)})")
    return found if count < 0 else found[:count]


def is_pattern(pattern: str) -> bool:
    """Tell whether a text is a regular expression."""
    try:
        _run("text.matches(pattern)", text="", pattern=pattern)
    except EvaluationError:
        return False
    return True


def _uncaptured(pattern: str) -> str:
    """Return a pattern whose groups capture nothing, so that only a group around it does."""
    parts: list[str] = []
    position, in_class = 0, False
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            if pattern.startswith("\\Q", position):
                end = pattern.find("\\E", position)
                end = len(pattern) if end < 0 else end + 2
                parts.append(pattern[position:end])
                position = end
                continue
            parts.append(pattern[position : position + 2])
            position += 2
            continue
        if in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
            # A bracket right at the start of a class stands for itself.
            start = pattern[position : position + 3]
            character = start if start == "[^]" else start[:2] if start.startswith("[]") else character
        elif character == "(":
            character = "(?:" if not pattern.startswith("(?", position) else _group(pattern, position)
        parts.append(character or "")
        position += len(character) if character != "(?:" or pattern.startswith("(?:", position) else 1
    return "".join(parts)


def _group(pattern: str, position: int) -> str:
    return "(?:" if pattern.startswith("(?:", position) else pattern[position]


@cache
def _environment() -> "Env":
    # Loaded late, as in dra.cel.environment.
    from cel_expr_python import cel  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs] - it has none

    config = "name: text\nextensions:\n- name: optional\n- name: regex\n"
    variables = {"text": cel.Type.STRING, "pattern": cel.Type.STRING}
    return cel.NewEnv(config=cel.NewEnvConfigFromYaml(config), variables=variables)


@cache
def _expression(source: str) -> "Expression":
    return _environment().compile(source)


def _run(source: str, **data: Value) -> Value:
    """Return what Google's runtime makes of a call."""
    try:
        value = _expression(source).eval(data=data)
    except (RuntimeError, TypeError, ValueError) as error:
        raise EvaluationError(str(error)) from None
    result = value.plain_value()
    if value.type().name() == "ERROR":
        raise EvaluationError(str(result))
    return result
