"""What our CEL makes of a selector, against Kubernetes' own compiler."""

from expressions import EXPRESSIONS
from hypothesis import given, seed
from inventories import DEVICES, Document
from judging import SEED, TARGET, admitted_device, cases
from referee import Referee

from dra.cel import CompileError, EvaluationError, compile_selector


@seed(SEED)
@cases(3, 10)
@given(expression=EXPRESSIONS, where=DEVICES)
def test_a_selector_compiles_and_selects_as_in_the_control_plane(
    referee: Referee, expression: str, where: tuple[str, Document]
) -> None:
    driver, device = where
    compiled = referee.ask("cel", expression=expression)
    try:
        selector = compile_selector(expression, TARGET)
    except CompileError as error:
        assert compiled["error"] is not None, error
        assert error.forbidden == (compiled["kind"] == "forbidden"), compiled["error"]
        return
    assert compiled["error"] is None
    evaluated = referee.ask("evaluate", expression=expression, driver=driver, device=device)
    try:
        selected = selector.matches(driver, admitted_device(driver, device))
    except EvaluationError as error:
        assert "error" in evaluated, error
        return
    assert selected == evaluated.get("result"), evaluated
