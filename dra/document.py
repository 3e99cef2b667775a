"""The documents of files, folders and streams, each with its place; what cannot be read becomes a finding.

Time and memory are bounded whatever the input: by the size of a file here, and by `dra.kubernetes_yaml`.
"""

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from dra import codes
from dra.finding import Checked, Finding, Verdict
from dra.kubernetes_yaml import MAX_VALUES, Parsed, UnreadableError, parse

STDIN = "-"
MAX_BYTES = 20 * 2**20
"""A cluster's 8,000 GPUs take half of it. The API server itself takes objects of 3 MiB at most."""

_SUFFIXES = {".yaml", ".yml", ".json"}
_NOT_ENTERED = {"node_modules", "venv", "__pycache__"}
_SEPARATOR = re.compile(r"^(?=---(?:[ \t\r\n]|$))", re.MULTILINE)
_INDEX_OR_KEY = re.compile(r"\[([^\]]*)\]")
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
"""How JSON may escape a character beyond 16 bits. YAML has another way for it, and no pairs."""
_JSON_OBJECT = re.compile(r'\s*\{\s*["}]')
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}]')
_VALUES_OF_A_DOCUMENT = 10
"""What it costs to begin one, in values."""
_SPLIT = "Split the file."
_NAME_ONE = "Name a file or folder that is there."
_RENDER = "Render the chart first: helm template CHART | lab check -"


_NO_OBJECT = UnreadableError("It holds text and no object.", 1)


class Lines(Mapping[str, int]):
    """The line of each field of a document, found only when one is asked for."""

    def __init__(self, whole: Callable[[], Mapping[str, int]], below: str = "") -> None:
        self._whole = whole
        self._below = below

    def __getitem__(self, path: str) -> int:
        return self._whole()[self._below + path]

    def __iter__(self) -> Iterator[str]:
        return (path.removeprefix(self._below) for path in self._whole() if path.startswith(self._below))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Document:
    """One object. `line`: where it starts. `lines`: of its fields. `findings`: what reading it showed."""

    file: str
    line: int
    value: Mapping[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    findings: Sequence[Finding] = ()

    def line_of(self, path: str) -> int:
        """Return the line of a field, or of the nearest field around it that is there."""
        path = _INDEX_OR_KEY.sub(lambda part: part[0] if part[1].isdigit() else f".{part[1]}", path)
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.line


def read_documents(paths: Iterable[str]) -> Iterator[Document | Checked]:
    """Yield the documents of files, of folders' YAML and JSON files, and of standard input (`-`)."""
    for path in paths:
        if path == STDIN:
            yield from _read(path, _standard_input)
        elif not path:
            # Python would take it for the current folder; a shell leaves it where a variable is empty.
            yield unreadable(path, "An empty name is no file's.", _NAME_ONE)
        elif os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises OSError for a name that is too long
            yield from _folder(Path(path))
        else:
            yield from _file(Path(path))


def parse_documents(file: str, text: str) -> Iterator[Document | Checked]:
    """Yield the documents of a YAML or JSON stream. A piece that cannot be read does not hide the others."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    starts = [0, *(found.start() for found in _SEPARATOR.finditer(text) if found.start())]
    before, values = 0, 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = _SURROGATES.sub(_joined, text[start:end])
        values += _VALUES_OF_A_DOCUMENT
        if any(line.strip() not in ("", "---") and line[0] not in "#%" for line in piece.splitlines()):
            try:
                parsed = parse(piece)
                values += parsed.count
                yield from _documents(file, piece, before, parsed)
            except UnreadableError as error:
                if (stream := _with_separators(piece)) is not None:
                    yield from parse_documents(file, "\n" * before + stream)
                else:
                    yield unreadable(file, *_why(error, piece), before + error.line)
            if values > MAX_VALUES:
                yield unreadable(file, "It has too many documents and values to go on.", _SPLIT, before + 1)
                return
        before += piece.count("\n")


def _with_separators(text: str) -> str | None:
    """Return a stream of JSON objects, each on lines of its own, as one of YAML; None if it is none.

    kubectl reads such a stream too, and jq writes it.
    """
    if not _JSON_OBJECT.match(text):
        return None
    depth, starts = 0, list[int]()
    for found in _JSON_TOKEN.finditer(text):
        if found[0] == "{":
            if depth == 0:
                starts.append(found.start())
            depth += 1
        elif found[0] == "}":
            depth -= 1
    following = starts[1:]
    if not following or any(text[text.rfind("\n", 0, start) + 1 : start].strip() for start in following):
        return None
    parts = zip(following, [*following[1:], len(text)], strict=True)
    return text[: following[0]] + "".join(f"--- {text[start:end]}" for start, end in parts)


def _joined(pair: re.Match[str]) -> str:
    high, low = int(pair[2], 16), int(pair[3], 16)
    return f"{pair[1]}\\U{0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00:08x}"


def _why(error: UnreadableError, text: str) -> tuple[str, str]:
    """Return the message and the remedy."""
    if "{{" in text:
        return f"This is a template that is not rendered. {error}", _RENDER
    return str(error), "Mend it; nothing of this document was checked."


def unreadable(file: str, message: str, remedy: str, line: int = 1) -> Checked:
    """Return the verdict on an input that cannot be read."""
    code = codes.UNREADABLE
    finding = Finding(
        code=code.code, severity=code.severity, path="", message=message, remedy=remedy, line=line
    )
    return Checked(
        file=file,
        line=line,
        api_version="",
        kind="",
        namespace="",
        name="",
        verdict=Verdict.UNREADABLE,
        findings=[finding],
    )


def _folder(folder: Path) -> Iterator[Document | Checked]:
    closed: list[OSError] = []
    for root, folders, files in os.walk(folder, onerror=closed.append):
        is_chart = "Chart.yaml" in files
        folders[:] = sorted(
            name
            for name in folders
            # A chart's templates are no YAML before Helm has rendered them.
            if not name.startswith(".")
            and name not in _NOT_ENTERED
            and not (is_chart and name == "templates")
        )
        for name in sorted(files):
            if Path(name).suffix in _SUFFIXES and not name.startswith("."):
                yield from _file(Path(root, name), of_folder=True)
    for error in closed:
        yield _closed(str(error.filename), error)


def _file(path: Path, *, of_folder: bool = False) -> Iterator[Document | Checked]:
    def read() -> bytes:
        if of_folder and not stat.S_ISREG(path.stat().st_mode):
            return b""  # Nobody may ever write to a pipe that nobody named.
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)

    return _read(str(path), read)


def _closed(name: str, error: OSError) -> Checked:
    return unreadable(name, f"It cannot be read: {error.strerror}.", _NAME_ONE)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def _read(name: str, read: Callable[[], bytes]) -> Iterator[Document | Checked]:
    try:
        content = read()
    except OSError as error:
        yield _closed(name, error)
        return
    if len(content) > MAX_BYTES:
        yield unreadable(name, f"It is larger than {MAX_BYTES >> 20} MiB, the most that is read.", _SPLIT)
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        yield unreadable(
            name, f"Byte {error.start} is {byte:#04x}, which is not UTF-8.", "Save it as UTF-8.", line
        )
        return
    yield from parse_documents(name, text)


def _documents(file: str, text: str, before: int, parsed: Parsed) -> Iterator[Document | Checked]:
    value = cast("Mapping[str, Any]", parsed.value)
    if isinstance(parsed.value, str):
        yield unreadable(file, *_why(_NO_OBJECT, text), before + parsed.lines[""])
    if not isinstance(parsed.value, dict):
        return  # Nothing, or another tool's list.

    @cache
    def whole() -> Mapping[str, int]:
        return {path: before + line for path, line in parse(text, all_lines=True).lines.items()}

    duplicates = [(path, before + line) for path, line in parsed.duplicates]
    for below, item in _items(value, ""):
        yield Document(
            file=file,
            line=before + parsed.lines.get(below.removesuffix("."), parsed.lines[""]),
            value=item,
            lines=Lines(whole, below),
            findings=[
                _duplicate(path.removeprefix(below), line)
                for path, line in duplicates
                if path.startswith(below)
            ],
        )


def _duplicate(path: str, line: int) -> Finding:
    code = codes.DUPLICATE_KEY
    return Finding(
        code=code.code,
        severity=code.severity,
        path=path,
        message=f"The key {path.rpartition('.')[2]!r} is given twice, and only the last one would count.",
        remedy="Keep one of the two.",
        line=line,
    )


def _items(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield an object, or those of a List (`kubectl get -o yaml`), each with what its paths begin with."""
    kind, items = value.get("kind"), value.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)) or "spec" in value:
        yield path, value
        return
    # A typed list, such as ResourceClaimList, need not repeat the kind in its items.
    common = {"apiVersion": value.get("apiVersion"), "kind": kind[:-4]} if kind != "List" else {}
    for index, item in enumerate(cast("list[Any]", items)):
        if isinstance(item, dict):
            yield from _items(common | cast("dict[str, Any]", item), f"{path}items[{index}].")
