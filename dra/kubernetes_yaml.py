"""YAML as Kubernetes reads it, within bounds, and with the line of every field.

`kubectl` turns YAML into JSON by `sigs.k8s.io/yaml`, which reads YAML 1.1 as `go.yaml.in/yaml/v2` does: `yes`
and `on` are booleans, `010` is eight, a date stays a string, and `1.0` is the number 1. The events come from
libyaml; what is made of them is made here, without recursion, so that no input can exhaust memory or stack.
"""

import re
from typing import Any, cast

import yaml

MAX_DEPTH = 200
"""Far deeper than any Kubernetes object."""
MAX_VALUES = 1_500_000
"""About four seconds' work, and four times what a cluster's 8,000 GPUs are."""
MAX_ALIASED_VALUES = 100_000
"""What the aliases of one document may stand for, all together. A bomb of a few lines stands for billions."""
_LINES_ALWAYS_KEPT = 2
"""Down to `items[0]` of a List each line is kept at once; of deeper fields few are ever asked for."""

_WORDS = (
    dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True)
    | dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False)
    | dict.fromkeys(["", "~", "null", "Null", "NULL"])
    | dict.fromkeys([".nan", ".NaN", ".NAN"], float("nan"))
    | {sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")}
)
_NUMBER_STARTS = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASES = {"x": 16, "b": 2, "o": 8}
_LARGEST = 2**64
_TAG = "tag:yaml.org,2002:"
_RESOLVED_TAGS = frozenset(_TAG + kind for kind in ("bool", "int", "float", "null"))

_NO_KEY = object()
_MERGE_KEY = object()


class UnreadableError(ValueError):
    """Why a text is not a YAML document, and on which of its lines (from 1)."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Parsed:
    """One document: its value, the lines of its fields, the keys given twice, and how many values it has."""

    def __init__(self) -> None:
        self.value: Any = None
        self.duplicates: list[tuple[str, int]] = []
        self.lines: dict[str, int] = {}
        self.count = 0


def parse(text: str, *, all_lines: bool = False) -> Parsed:
    """Parse one YAML document; raise UnreadableError for what is none."""
    builder = _Builder(MAX_DEPTH if all_lines else _LINES_ALWAYS_KEPT)
    try:
        for event in yaml.parse(text, yaml.CSafeLoader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, text) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UnreadableError(f"This is not YAML: {error.reason}.", line) from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise UnreadableError("A lone surrogate is not a character.", line) from None
    return builder.parsed


def scalar(text: str) -> Any:  # noqa: ANN401 - a JSON value of any type
    """Return what an unquoted scalar stands for."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    plain = text.replace("_", "")
    if _INTEGER.fullmatch(plain):
        digits = plain.lstrip("+-")
        octal = digits[0] == "0" and digits != "0"
        base = _BASES.get(digits[1].lower(), 8) if octal else 10
        # Python refuses to read very long decimals; such a one is a float like all beyond 64 bits.
        if len(digits) <= _LARGEST.bit_length() + 2 and abs(value := int(plain, base)) < _LARGEST:
            return value
    if _FLOAT.fullmatch(plain):
        number = float(plain)
        # JSON has one kind of number: Go writes 1.0 as 1.
        if number in (float("inf"), float("-inf")):
            return text
        return int(number) if number.is_integer() else number
    return text


def _not_yaml(error: yaml.MarkedYAMLError, text: str) -> UnreadableError:
    problem, context = error.problem_mark, error.context_mark
    # What is never closed is seen at the end, and mended where it begins.
    mark = context if context and "end of stream" in (error.problem or "") else problem or context
    # What is missing at the end of the text is missing on its last line.
    line = min(mark.line if mark else 0, text.rstrip().count("\n")) + 1
    if problem and "cannot start any token" in (error.problem or ""):
        found = text[problem.index : problem.index + 1]
        if found == "\t":
            return UnreadableError("This is not YAML: a tab indents the line, and only blanks may.", line)
        return UnreadableError(
            f"This is not YAML: no value starts with {found!r}, unless it is quoted.", line
        )
    why = ", ".join(part for part in (error.context, error.problem) if part)
    return UnreadableError(f"This is not YAML: {why}.", line)


class _Frame:
    """A mapping or sequence that is being filled. `key` is the mapping's next key, once it is known."""

    __slots__ = ("begin", "container", "key", "merged", "path", "since")

    def __init__(self, begin: yaml.CollectionStartEvent, path: str, since: int) -> None:
        self.begin = begin
        self.container: dict[str, Any] | list[Any] = {} if isinstance(begin, yaml.MappingStartEvent) else []
        self.path = path
        self.since = since
        self.key: Any = _NO_KEY
        self.merged: set[str] = set()

    def next_path(self) -> str:
        """Return the path of the value that comes next."""
        if isinstance(self.container, list):
            return f"{self.path}[{len(self.container)}]"
        key = "<<" if self.key is _MERGE_KEY else self.key
        return f"{self.path}.{key}" if self.path else str(key)


class _Builder:
    """Makes the value of one document from its events."""

    def __init__(self, lines_to_depth: int) -> None:
        self.parsed = Parsed()
        self._lines_to_depth = lines_to_depth
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        """Each anchor's value, and how many values it stands for when all aliases are written out."""
        self._aliased = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Take the next event of the stream."""
        if isinstance(event, yaml.ScalarEvent):
            value = _value(event)
            self._count(1, event)
            if event.anchor is not None:
                self._anchors[event.anchor] = (value, 1)
            self._begin(event)
            self._add(value, event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self._frames.pop()
            if frame.begin.anchor is not None:
                self._anchors[frame.begin.anchor] = (frame.container, self.parsed.count - frame.since)
            self._add(frame.container, frame.begin)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                # kubectl splits a stream at lines of `---`, and reads the first document of each piece.
                raise UnreadableError("A document after `...` has no `---` before it.", _line(event))

    def _count(self, more: int, event: yaml.Event) -> None:
        self.parsed.count += more
        if self.parsed.count > MAX_VALUES:
            raise UnreadableError(f"This document has more than {MAX_VALUES:,} values.", _line(event))

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._frames) >= MAX_DEPTH:
            raise UnreadableError(f"This is nested more than {MAX_DEPTH} levels deep.", _line(event))
        self._begin(event)
        path = self._frames[-1].next_path() if self._frames else ""
        self._frames.append(_Frame(event, path, self.parsed.count))
        self._count(1, event)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            is_open = any(frame.begin.anchor == event.anchor for frame in self._frames)
            why = "contains itself" if is_open else "is not defined above this line"
            raise UnreadableError(f"The anchor {event.anchor!r} {why}.", _line(event))
        value, size = self._anchors[event.anchor]
        self._count(size, event)
        self._aliased += size
        if self._aliased > MAX_ALIASED_VALUES:
            raise UnreadableError(
                f"The aliases of this document stand for more than {MAX_ALIASED_VALUES} values.", _line(event)
            )
        self._begin(event)
        self._add(value, event)

    def _begin(self, event: yaml.NodeEvent) -> None:
        """Keep the line where a value begins; that of a key is the line of its value."""
        if not self._frames:
            self.parsed.lines[""] = _line(event)
        elif isinstance(self._frames[-1].container, list):
            self._keep_line(self._frames[-1], event)

    def _add(self, value: Any, event: yaml.NodeEvent) -> None:  # noqa: ANN401 - any JSON value
        if not self._frames:
            self.parsed.value = value
            return
        frame = self._frames[-1]
        if isinstance(frame.container, list):
            frame.container.append(value)
        elif frame.key is _NO_KEY:
            frame.key = _key(value, event)
            self._keep_line(frame, event)
            if frame.key in frame.container and frame.key not in frame.merged:
                self.parsed.duplicates.append((frame.next_path(), _line(event)))
        else:
            if frame.key is _MERGE_KEY:
                _merge(frame, value, event)
            else:
                frame.container[frame.key] = value
                frame.merged.discard(frame.key)
            frame.key = _NO_KEY

    def _keep_line(self, frame: _Frame, event: yaml.NodeEvent) -> None:
        if len(self._frames) <= self._lines_to_depth:
            self.parsed.lines.setdefault(frame.next_path(), _line(event))


def _value(event: yaml.ScalarEvent) -> Any:  # noqa: ANN401 - any JSON scalar
    is_plain = event.implicit[0] if event.tag is None else event.tag in _RESOLVED_TAGS
    return scalar(event.value) if is_plain else event.value


def _merge(frame: _Frame, value: Any, event: yaml.NodeEvent) -> None:  # noqa: ANN401 - any JSON value
    container = cast("dict[str, Any]", frame.container)
    parts = cast("list[Any]", [value] if isinstance(value, dict) else value)
    if not isinstance(value, dict | list) or not all(isinstance(part, dict) for part in parts):
        raise UnreadableError(
            "`<<` merges a mapping or a list of mappings, and here is neither.", _line(event)
        )
    for part in reversed(cast("list[dict[str, Any]]", parts)):
        frame.merged |= part.keys() - container.keys()
        container.update(part)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _key(value: Any, event: yaml.NodeEvent) -> Any:  # noqa: ANN401 - a string, or the merge key
    if isinstance(value, str):
        is_merge = value == "<<" and isinstance(event, yaml.ScalarEvent) and event.implicit[0]
        return _MERGE_KEY if is_merge else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, dict | list):
        kind = "null" if value is None else "a mapping" if isinstance(value, dict) else "a list"
        raise UnreadableError(f"A key is {kind}, and keys are strings.", _line(event))
    return str(value)
