"""The cases that a real API server has judged: the same verdict, and the same words."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dra.document import Document, read_documents
from dra.gates import Target
from dra.validation import Problem, admit

CASES = Path(__file__).parents[2] / "cases"
VERDICTS: Mapping[str, Mapping[str, Any]] = json.loads((CASES / "verdicts.json").read_text())
FRAME = re.compile(r'The \w+ "[^"]*" is invalid: |.*strict decoding error: ')


def answers(name: str) -> list[str]:
    """Return what we say of each document, as the API server puts it after its frame."""
    values = [each.value for each in read_documents([str(CASES / name)]) if isinstance(each, Document)]
    labels: dict[str, str] = {}
    for value in values:
        if value["kind"] == "Namespace":
            labels = value["metadata"]["labels"]
    admissions = [admit(value, Target.V1_37, labels) for value in values]
    return [said(problem) for each in admissions if each for problem in each.problems]


def said(problem: Problem) -> str:
    strict = problem.message.startswith("unknown field")
    return problem.message if strict else f"{problem.path}: {problem.message}"


@pytest.mark.parametrize("name", [name for name in VERDICTS if VERDICTS[name]["verdict"] == "rejected"])
def test_what_the_api_server_refused_is_refused_in_its_words(name: str) -> None:
    expected = FRAME.sub("", VERDICTS[name]["message"], count=1)
    assert answers(f"inputs/{name}.yaml") == [expected]


@pytest.mark.parametrize("name", [name for name in VERDICTS if VERDICTS[name]["verdict"] != "rejected"])
def test_what_the_api_server_let_in_is_let_in(name: str) -> None:
    assert answers(f"inputs/{name}.yaml") == []


@pytest.mark.parametrize("target", Target)
def test_the_inventory_of_the_cases_is_let_in_on_every_target(target: Target) -> None:
    documents = [
        each for each in read_documents([str(CASES / "inventory.yaml")]) if isinstance(each, Document)
    ]
    assert documents
    for document in documents:
        found = admit(document.value, target)
        assert found is not None
        assert found.problems == []
