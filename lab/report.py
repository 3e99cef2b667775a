"""The closing table: each step, what was expected, what was observed."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from components.expectation import Outcome

LONGEST = 240
"""Some messages of the API server are pages long; the stack output has them whole."""


def table(outcomes: Sequence[Outcome]) -> Table:
    """Return the table of the outcomes."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("step", max_width=24)
    made.add_column("expected", ratio=2, overflow="fold")
    made.add_column("observed", ratio=3, overflow="fold")
    made.add_column("ok", no_wrap=True)
    for outcome in outcomes:
        observed = (
            outcome.observed if len(outcome.observed) <= LONGEST else outcome.observed[: LONGEST - 1] + "…"
        )
        made.add_row(outcome.step, outcome.expected, observed, "yes" if outcome.ok else "NO")
    return made


def closing(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the steps of Lab 4, then a line for each lesson, and what of it came out otherwise in full."""
    lines = [outcome for outcome in outcomes if outcome.lesson is None]
    for lesson in dict.fromkeys(outcome.lesson for outcome in outcomes if outcome.lesson):
        its = [outcome for outcome in outcomes if outcome.lesson == lesson]
        wrong = [outcome for outcome in its if not outcome.ok]
        lines.append(
            Outcome(
                step=lesson,
                expected=f"{len(its)} outcomes",
                observed=f"{len(its) - len(wrong)} as expected",
                ok=not wrong,
            )
        )
        lines += wrong
    return lines


def text(outcomes: Sequence[Outcome], width: int = 110) -> str:
    """Return the table as plain text, as README shows it."""
    console = Console(width=width, no_color=True, force_terminal=False)
    with console.capture() as capture:
        console.print(table(outcomes))
    return capture.get()
