"""For GitHub Actions: workflow commands, which become annotations on the lines of a pull request's diff.

GitHub shows ten of each level for a step, and the log has all; SARIF knows no such limit.
Source: "Workflow commands for GitHub Actions", and its toolkit's escaping (`core/src/command.ts`).
"""

from collections.abc import Sequence

from dra.finding import Checked, Finding, Severity
from lab.output import STDIN, closing, from_here, on_one_line, page, sentence, subject

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def render(results: Sequence[Checked]) -> str:
    """Return the commands, and the summary as a plain line of the log."""
    commands = [_command(checked, finding) for checked in results for finding in checked.findings]
    return "\n".join([*commands, _data(closing(results))])


def _command(checked: Checked, finding: Finding) -> str:
    properties = {"title": f"{finding.code} {subject(checked)}".strip()}
    if checked.file != STDIN:
        properties = {
            "file": on_one_line(from_here(checked.file)),
            "line": str(finding.line or checked.line),
            **properties,
        }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = f"{sentence(finding)}\nSee {page(finding.code)}."
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
