"""The pages of docs/findings/ and the catalogue say the same, and the examples do what the pages say."""

import json
import re

import pytest

from dra import codes
from dra.codes import Code
from lab import findings

CODES = codes.catalogue()


def page(code: Code) -> str:
    return (findings.PAGES / f"{code.code}.md").read_text(encoding="utf-8")


def found(example: str, code: Code) -> set[str]:
    said = findings.said(example, [*findings.arguments(page(code)), "--output", "json"])
    return {finding["code"] for each in json.loads(said) for finding in each["findings"]}


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {path.stem for path in findings.PAGES.glob("*.md")} == {"README", *(code.code for code in CODES)}
    assert len({code.code for code in CODES}) == len(CODES)


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.code)
def test_a_page_begins_with_title_and_severity_of_its_code(code: Code) -> None:
    assert page(code).startswith(f"# {code.code}: {code.title}\n\nSeverity: {code.severity}.\n")
    assert re.search(r"^Source: \S", page(code), re.MULTILINE)


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.code)
def test_the_wrong_example_gives_the_code_and_the_right_one_does_not(code: Code) -> None:
    assert code.code in found(findings.wrong(page(code)), code)
    assert found(findings.right(page(code)), code) == set()


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.code)
def test_a_page_shows_what_the_program_says(code: Code) -> None:
    assert findings.rendered(page(code)) == page(code)


def test_the_list_of_pages_is_that_of_the_catalogue() -> None:
    assert (findings.PAGES / "README.md").read_text(encoding="utf-8") == findings.index()
