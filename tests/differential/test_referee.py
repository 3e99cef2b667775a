"""The referee, against what a real cluster said of the cases in tests/cases, to the word."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from inventories import Document
from referee import Referee

CASES = Path(__file__).parents[1] / "cases"
VERDICTS: Mapping[str, Mapping[str, str]] = json.loads((CASES / "verdicts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_the_referee_says_what_a_cluster_said(referee: Referee, name: str) -> None:
    documents = _documents(CASES / "inputs" / f"{name}.yaml")
    said = VERDICTS[name]
    labels: dict[str, str] = next(
        (each["metadata"]["labels"] for each in documents if each["kind"] == "Namespace"), dict[str, str]()
    )
    answers = [referee.ask("admit", document=each, namespaceLabels=labels) for each in documents]
    if refusals := [answer for answer in answers if answer["errors"]]:
        assert said["verdict"] == "rejected"
        assert all(error in said["message"] for error in refusals[0]["errors"])
        return
    found = _scheduled(referee, [*documents, *_documents(CASES / "inventory.yaml")])
    assert found["verdict"] == said["verdict"]
    if found["verdict"] != "allocated":
        # The namespace of each case was named after it.
        namespaced = said["message"].replace(f"claim c-{name.replace('_', '-')}/", "claim default/")
        assert any(outcome.get("message", "-") in namespaced for outcome in found["nodes"].values())


def _documents(file: Path) -> list[Document]:
    loaded = yaml.safe_load_all(file.read_text(encoding="utf-8"))
    return [cast("Document", each) for each in loaded if each]


def _scheduled(referee: Referee, documents: Sequence[Document]) -> Mapping[str, Any]:
    def of_kind(kind: str) -> list[Document]:
        return [each for each in documents if each["kind"] == kind]

    made = [
        each | {"kind": "ResourceClaim", "spec": each["spec"]["spec"]}
        for each in of_kind("ResourceClaimTemplate")
    ]
    return referee.ask(
        "allocate",
        nodes=of_kind("Node"),
        slices=of_kind("ResourceSlice"),
        classes=of_kind("DeviceClass"),
        claims=[each | {"metadata": {"name": each["metadata"]["name"]}} for each in of_kind("ResourceClaim")]
        + made,
    )
