"""What the checker found, for people and for the programs that show it: one module a form."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dra.finding import Checked, Finding, Severity, Verdict

STDIN = "-"
_WORST_FIRST = [Severity.ERROR, Severity.WARNING, Severity.ADVICE]
_NOT_SHOWN = {"Cc", "Cf", "Cs"}
"""Controls, formats (which can turn the direction of a line) and lone surrogates."""
_NO_CHARACTERS = "\ufffe\uffff"
"""Not even in XML."""


def page(code: str) -> str:
    """Return the page that explains a code."""
    return f"docs/findings/{code}.md"


def reaches(finding: Finding, level: Severity) -> bool:
    """Tell whether a finding is as bad as a level, or worse."""
    return _WORST_FIRST.index(finding.severity) <= _WORST_FIRST.index(level)


def subject(checked: Checked) -> str:
    """Return what an object is called: kind, namespace and name."""
    name = f"{checked.namespace}/{checked.name}" if checked.namespace else checked.name
    return on_one_line(f"{checked.kind} {name}".strip())


def sentence(finding: Finding) -> str:
    """Return a finding in one line: where in the object, what, and what to do."""
    where = f"{finding.path}: " if finding.path else ""
    # The API server's own words do not end as sentences do.
    stop = "" if finding.message.endswith((".", "?", "!")) else "."
    return printable(f"{on_one_line(where)}{finding.message}{stop} {finding.remedy}".strip())


def from_here(file: str) -> str:
    """Return a file's path from where the checker was started, if it is below there."""
    path = Path(file)
    inside = path.is_absolute() and path.is_relative_to(Path.cwd())
    return path.relative_to(Path.cwd()).as_posix() if inside else path.as_posix()


def on_one_line(text: str) -> str:
    """Return a name as a part of a line."""
    return printable(text).replace("\n", "\\n")


def printable(text: str) -> str:
    """Return a text without what a terminal would take as a command. Names come from anywhere."""
    return "".join(
        character if _is_printable(character) else f"\\x{ord(character):02x}" for character in text
    )


def _is_printable(character: str) -> bool:
    if character in "\n\t":
        return True
    return unicodedata.category(character) not in _NOT_SHOWN and character not in _NO_CHARACTERS


def closing(results: Sequence[Checked]) -> str:
    """Return the line that sums up: how many objects came to what, and how many findings there are."""
    if not results:
        return "Nothing about DRA was found."
    verdicts = Counter(checked.verdict for checked in results)
    severities = Counter(finding.severity for checked in results for finding in checked.findings)
    words = {Verdict.ERROR: "in error"}
    objects = ", ".join(
        f"{verdicts[verdict]} {words.get(verdict, verdict)}" for verdict in Verdict if verdicts[verdict]
    )
    findings = ", ".join(
        (
            f"{severities[severity]} advice"
            if severity is Severity.ADVICE
            else _plural(severities[severity], severity)
        )
        for severity in Severity
        if severities[severity]
    )
    return f"{_plural(len(results), 'object')}: {objects}. {findings.capitalize() or 'No findings'}."


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
