"""A figure: several readings of one thing, their median and spread, and what it must reach."""

import time
from collections.abc import Callable, Sequence
from statistics import median

from rich import box
from rich.table import Table

from dra.model import Model


class BenchError(Exception):
    """A command that is measured failed; the text is what it said."""


class Figure(Model):
    """Readings in seconds. `limit` is what the median must not exceed; None for what is only compared."""

    what: str
    readings: Sequence[float]
    limit: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the median keeps to the limit."""
        return self.limit is None or median(self.readings) <= self.limit


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    begun = time.monotonic()
    action()
    return time.monotonic() - begun


def table(figures: Sequence[Figure]) -> Table:
    """Return the figures as a table, in seconds."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("seconds", "median", "from", "to", "readings", "at most", "ok"):
        made.add_column(column, justify="left" if column == "seconds" else "right")
    for figure in figures:
        made.add_row(
            figure.what,
            f"{median(figure.readings):.1f}",
            f"{min(figure.readings):.1f}",
            f"{max(figure.readings):.1f}",
            str(len(figure.readings)),
            "" if figure.limit is None else f"{figure.limit:g}",
            "" if figure.limit is None else "yes" if figure.ok else "NO",
        )
    return made
