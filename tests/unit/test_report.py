"""The closing table."""

import pytest

from components.expectation import Outcome
from lab.report import table, text


def outcome(observed: str, *, ok: bool) -> Outcome:
    return Outcome(step="2 GPUs", expected="4 counted", observed=observed, ok=ok)


def test_each_step_is_a_row_with_its_verdict() -> None:
    made = table([outcome("4 counted", ok=True), outcome("none", ok=False)])
    assert [column.header for column in made.columns] == ["step", "expected", "observed", "ok"]
    assert [list(column.cells) for column in made.columns] == [
        ["2 GPUs", "2 GPUs"],
        ["4 counted", "4 counted"],
        ["4 counted", "none"],
        ["yes", "NO"],
    ]


@pytest.mark.parametrize(("length", "shown"), [(240, "x" * 240), (241, "x" * 239 + "…")])
def test_a_page_of_a_message_is_cut(length: int, shown: str) -> None:
    made = table([outcome("x" * length, ok=False)])
    assert list(made.columns[2].cells) == [shown]


@pytest.mark.parametrize("width", [80, 110])
def test_the_text_is_plain_and_keeps_to_its_width(width: int) -> None:
    lines = text([outcome("message " * 30, ok=False)], width).splitlines()
    assert max(len(line) for line in lines) <= width
    assert "\x1b" not in "".join(lines)
    assert any("2 GPUs" in line and line.rstrip().endswith("NO") for line in lines)
