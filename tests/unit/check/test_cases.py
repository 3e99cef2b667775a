"""The recorded cases, from file to verdict: what a real API server and scheduler said of each."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dra.checker import check, read_inventory
from dra.document import read_documents
from dra.gates import Target
from dra.inventory import Inventory

CASES = Path(__file__).resolve().parents[2] / "cases"
VERDICTS: Mapping[str, Mapping[str, Any]] = json.loads((CASES / "verdicts.json").read_text())
WORST_FIRST = ["unreadable", "rejected", "error", "pending", "allocated", "accepted"]


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    read, _, wrong = read_inventory(list(read_documents([str(CASES / "inventory.yaml")])), Target.V1_37)
    assert wrong == []
    return read


@pytest.mark.parametrize("case", sorted(VERDICTS))
def test_a_case_has_the_verdict_of_the_control_plane(case: str, inventory: Inventory) -> None:
    documents = list(read_documents([str(CASES / "inputs" / f"{case}.yaml")]))
    said = check(documents, inventory, Target.V1_37)
    verdicts = [each.verdict.value for each in said]
    assert min(verdicts, key=WORST_FIRST.index) == VERDICTS[case]["verdict"]
    errors = [finding for each in said for finding in each.findings if finding.severity == "error"]
    assert bool(errors) is (VERDICTS[case]["verdict"] != "allocated")
