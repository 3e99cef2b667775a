"""What our CEL makes of a selector, against Kubernetes' own compiler."""

from expressions import EXPRESSIONS
from hypothesis import given, seed
from inventories import DEVICES, Document
from judging import SEED, TARGET, admitted_device, cases
from referee import Referee

from dra.cel import CompileError, EvaluationError, Selector, compile_selector


@seed(SEED)
@cases(3, 10)
@given(expression=EXPRESSIONS, where=DEVICES)
def test_a_selector_compiles_and_selects_as_in_the_control_plane(
    referee: Referee, expression: str, where: tuple[str, Document]
) -> None:
    theirs = referee.ask("cel", expression=expression)
    ours = _compiled(expression)
    if isinstance(ours, CompileError):
        assert theirs["error"] is not None, ours
        assert ours.forbidden == (theirs["kind"] == "forbidden"), (ours, theirs)
        return
    assert theirs["error"] is None, theirs
    driver, device = where
    found = referee.ask("evaluate", expression=expression, driver=driver, device=device)
    assert _selected(ours, driver, device) == found.get("result"), found


def _compiled(expression: str) -> Selector | CompileError:
    try:
        return compile_selector(expression, TARGET)
    except CompileError as error:
        return error


def _selected(selector: Selector, driver: str, device: Document) -> bool | None:
    """Return whether the selector selects the device, or None if it fails on it."""
    try:
        return selector.matches(driver, admitted_device(driver, device))
    except EvaluationError:
        return None
