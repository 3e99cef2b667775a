"""The closing table."""

import pytest

from components.expectation import Outcome
from lab.report import closing, table, text


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


def test_a_lesson_is_one_line_with_what_came_out_otherwise_below_it() -> None:
    good, bad = outcome("4 counted", ok=True), outcome("none", ok=False)
    seen = [good, *(one.model_copy(update={"lesson": "mig"}) for one in (good, bad, good))]
    lines = [(line.step, line.expected, line.observed, line.ok) for line in closing(seen)]
    assert lines == [
        ("2 GPUs", "4 counted", "4 counted", True),
        ("mig", "3 outcomes", "2 as expected", False),
        ("2 GPUs", "4 counted", "none", False),
    ]


def test_the_lines_of_lessons_do_not_hide_a_failure() -> None:
    seen = [outcome("none", ok=False).model_copy(update={"lesson": "mig"})]
    assert not all(line.ok for line in closing(seen))
