"""The pages of docs/findings/ say what the checker says. `python -m lab.findings` writes that part anew.

A page has a wrong example, the command and what it prints, and a right example. A test holds all of it to the
catalogue and to the program.
"""

import re
import shlex
import tempfile
from collections.abc import Generator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path

import typer
from typer.testing import CliRunner

from dra import codes
from dra.codes import Code
from lab.check import check

PAGES = Path(__file__).resolve().parent.parent / "docs" / "findings"

_EXAMPLE = r"## {heading}\n\n```yaml\n(.*?)```"
_CONSOLE = re.compile(r"```console\n\$ lab check ([^\n]*)\n(.*?)```", re.DOTALL)
_FILE = "claim.yaml"
_GROUPS = {
    "DRA0": "The input cannot be read",
    "DRA1": "The API server refuses the object",
    "DRA2": "The scheduler fails the pod",
    "DRA3": "The claim stays pending",
    "DRA4": "It works, and will be regretted",
}


def wrong(page: str) -> str:
    """Return the wrong example of a page."""
    return _example(page, "Wrong")


def right(page: str) -> str:
    """Return the right example of a page."""
    return _example(page, "Right")


def arguments(page: str) -> Sequence[str]:
    """Return the arguments of the command on a page."""
    found = _CONSOLE.search(page)
    if found is None:
        raise ValueError("the page has no command")
    return shlex.split(found[1])


def said(example: str, arguments: Sequence[str]) -> str:
    """Return what `lab check` prints for an example that is in its file."""
    app = typer.Typer()
    app.command()(check)
    with _folder_with(example):
        result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "80", "NO_COLOR": "1"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return "".join(f"{line.rstrip()}\n" for line in result.output.splitlines())


def rendered(page: str) -> str:
    """Return a page with what its command prints."""
    output = said(wrong(page), arguments(page))
    return _CONSOLE.sub(lambda found: f"```console\n$ lab check {found[1]}\n{output}```", page)


def index() -> str:
    """Return the list of all pages."""
    lines = [
        "# What `lab check` finds",
        "",
        "A code never changes its meaning. Errors fail a check unless `--fail-on` says otherwise.",
    ]
    for prefix, title in _GROUPS.items():
        lines += ["", f"## {title}", "", "| Code | Severity | What |", "|---|---|---|"]
        lines += [_row(code) for code in codes.catalogue() if code.code.startswith(prefix)]
    return "\n".join(lines) + "\n"


def _row(code: Code) -> str:
    return f"| [{code.code}]({code.code}.md) | {code.severity} | {code.title} |"


def _example(page: str, heading: str) -> str:
    found = re.search(_EXAMPLE.format(heading=heading), page, re.DOTALL)
    if found is None:
        raise ValueError(f"the page has no example under {heading!r}")
    return found[1]


@contextmanager
def _folder_with(example: str) -> Generator[None]:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(_FILE).write_text(example, encoding="utf-8")
        yield


def write() -> None:
    """Write the pages anew, and the list of them."""
    for code in codes.catalogue():
        path = PAGES / f"{code.code}.md"
        path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")
    (PAGES / "README.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    write()
