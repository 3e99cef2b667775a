"""For people: compact, in colour on a terminal, each place as `file:line`."""

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from dra.finding import Checked, Finding, Severity, Verdict
from lab.output import closing, on_one_line, page, printable, subject

_SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.ADVICE: "bold cyan"}
_VERDICT_STYLES = {
    Verdict.UNREADABLE: "red",
    Verdict.REJECTED: "red",
    Verdict.ERROR: "red",
    Verdict.PENDING: "yellow",
    Verdict.ALLOCATED: "green",
    Verdict.ACCEPTED: "green",
}
_DEVICES_SHOWN = 8
_PAGES_SHOWN = 2


def write(results: Sequence[Checked], console: Console) -> None:
    """Print the results. An object that is merely accepted, without a finding, needs no line."""
    for checked in results:
        if checked.findings or checked.verdict is not Verdict.ACCEPTED:
            _object(checked, console)
    console.print(closing(results), highlight=False, markup=False)
    pages = sorted({page(finding.code) for checked in results for finding in checked.findings})
    if pages:
        console.print(f"See {_listed(pages)}.", highlight=False, markup=False)


def _listed(pages: Sequence[str]) -> str:
    if len(pages) > _PAGES_SHOWN:
        return f"the pages of these codes in {pages[0].rpartition('/')[0]}"
    return " and ".join(pages)


def _object(checked: Checked, console: Console) -> None:
    line = Text.assemble(
        (f"{on_one_line(checked.file)}:{checked.line}", "bold"),
        f" {subject(checked)} ".replace("  ", " "),
        (checked.verdict.value, _VERDICT_STYLES[checked.verdict]),
    )
    # Not wrapped: a terminal makes a link only of a whole `file:line`.
    console.print(line, soft_wrap=True, highlight=False)
    if checked.devices:
        more = len(checked.devices) - _DEVICES_SHOWN
        shown = ", ".join(on_one_line(device) for device in checked.devices[:_DEVICES_SHOWN])
        _below(Text(shown + (f" and {more} more" if more > 0 else "")), console)
    for finding in checked.findings:
        _finding(checked, finding, console)


def _finding(checked: Checked, finding: Finding, console: Console) -> None:
    head = Text.assemble(
        "  ",
        (f"{finding.severity} {finding.code}", _SEVERITY_STYLES[finding.severity]),
        f" {on_one_line(checked.file)}:{finding.line or checked.line}",
        (f" {on_one_line(finding.path)}" if finding.path else "", "dim"),
    )
    console.print(head, soft_wrap=True, highlight=False)
    _below(Text(printable(finding.message)), console)
    _below(Text(printable(f"→ {finding.remedy}"), style="dim"), console)


def _below(text: Text, console: Console) -> None:
    console.print(Padding(text, (0, 0, 0, 4), expand=False), highlight=False)
