"""The five forms of a result."""

import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dra import codes
from dra.finding import Checked, Severity, Verdict
from lab.output import closing, github, junit, sarif, structured, text

NASTY = "a,b:c%\n::error::\x1b[31m<&>\ufffe"


def checked(verdict: Verdict = Verdict.PENDING, **fields: Any) -> Checked:  # noqa: ANN401 - any field of it
    made: dict[str, Any] = {
        "file": "claims/a b.yaml",
        "line": 3,
        "api_version": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "namespace": "team",
        "name": "gpu",
        "verdict": verdict,
        "findings": [
            codes.UNSATISFIED.at("spec.devices", "Nothing matches.", "Ask for less.", 7),
            codes.UNGUARDED_KEY.at("", "A key is read.", "Guard it."),
        ],
    }
    return Checked(**(made | fields))


RESULTS = [
    checked(),
    checked(Verdict.ALLOCATED, findings=[], devices=["n/gpu-0 (gpu)"]),
    checked(Verdict.ACCEPTED, findings=[], file="accepted.yaml"),
    checked(
        Verdict.UNREADABLE,
        kind="",
        name="",
        namespace="",
        file="-",
        findings=[codes.UNREADABLE.at("", "No.", "Mend.")],
    ),
    checked(Verdict.REJECTED, name=NASTY, file=NASTY, findings=[codes.REQUIRED.at(NASTY, NASTY, NASTY)]),
]


def shown(results: list[Checked], width: int = 80) -> str:
    stream = io.StringIO()
    text.write(results, Console(file=stream, width=width))
    return stream.getvalue()


def test_text_names_the_place_the_code_the_sentence_and_the_remedy() -> None:
    lines = shown([RESULTS[0]]).splitlines()
    assert lines[0] == "claims/a b.yaml:3 ResourceClaim team/gpu pending"
    assert lines[1] == "  error DRA301 claims/a b.yaml:7 spec.devices"
    assert [line.strip() for line in lines[2:4]] == ["Nothing matches.", "→ Ask for less."]
    assert lines[-2:] == [
        "1 object: 1 pending. 1 error, 1 advice.",
        "See docs/findings/DRA301.md and docs/findings/DRA402.md.",
    ]
    assert shown(RESULTS).splitlines()[-1] == "See the pages of these codes in docs/findings."


def test_text_shows_an_allocation_and_leaves_out_what_is_merely_accepted() -> None:
    out = shown(RESULTS)
    assert "ResourceClaim team/gpu allocated\n    n/gpu-0 (gpu)" in out
    assert "accepted.yaml" not in out


def test_text_keeps_to_80_columns_except_for_places() -> None:
    long = checked(findings=[codes.UNSATISFIED.at("spec", "many words " * 30, "more words " * 30)])
    assert all(len(line) <= 80 for line in shown([long]).splitlines())


@pytest.mark.parametrize("render", [shown, github.render], ids=["text", "github"])
def test_names_cannot_command_the_terminal(render: Callable[[list[Checked]], str]) -> None:
    out = render(RESULTS)
    assert "\x1b" not in out
    assert not any(line.startswith("::error::") for line in out.splitlines())


def test_json_has_what_was_agreed_and_no_more() -> None:
    first, *_ = json.loads(structured.render(RESULTS))
    assert first == {
        "file": "claims/a b.yaml",
        "line": 3,
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "namespace": "team",
        "name": "gpu",
        "verdict": "pending",
        "findings": [
            {
                "code": "DRA301",
                "severity": "error",
                "path": "spec.devices",
                "message": "Nothing matches.",
                "remedy": "Ask for less.",
            },
            {
                "code": "DRA402",
                "severity": "advice",
                "path": "",
                "message": "A key is read.",
                "remedy": "Guard it.",
            },
        ],
    }


def test_github_annotates_the_line_and_escapes_the_rest() -> None:
    lines = github.render(RESULTS).splitlines()
    assert lines[0] == (
        "::error file=claims/a b.yaml,line=7,title=DRA301 ResourceClaim team/gpu::"
        "spec.devices: Nothing matches. Ask for less.%0ASee docs/findings/DRA301.md."
    )
    assert lines[1].startswith("::notice file=claims/a b.yaml,line=3,title=DRA402 ")
    # Standard input is no file of the pull request.
    assert lines[2].startswith("::error title=DRA001::")
    assert "title=DRA104 ResourceClaim team/a%2Cb%3Ac%25\\n" in lines[3]
    assert len(lines) == 5


def test_junit_has_a_case_for_each_object_and_fails_by_level() -> None:
    root = ET.fromstring(junit.render(RESULTS, Severity.ERROR))  # noqa: S314 - our own
    suites = root.findall("testsuite")
    assert [suite.get("tests") for suite in suites] == ["2", "1", "1", "1"]
    assert [suite.get("failures") for suite in suites] == ["1", "0", "0", "1"]
    assert [suite.get("errors") for suite in suites] == ["0", "0", "1", "0"]
    case = suites[0].findall("testcase")[0]
    assert case.find("failure") is not None
    output = case.find("system-out")
    assert output is not None
    assert "DRA402" in (output.text or "")


def test_junit_below_the_level_passes() -> None:
    advice = checked(findings=[codes.UNGUARDED_KEY.at("", "A key is read.", "Guard it.")])
    root = ET.fromstring(junit.render([advice], Severity.WARNING))  # noqa: S314 - our own
    assert root.find("testsuite/testcase/failure") is None
    root = ET.fromstring(junit.render([advice], Severity.ADVICE))  # noqa: S314 - our own
    assert root.find("testsuite/testcase/failure") is not None


def test_sarif_has_rules_results_and_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    inside = checked(file=str(tmp_path / "in.yaml"))
    outside = checked(file="/elsewhere/out.yaml")
    (run,) = json.loads(sarif.render([*RESULTS, inside, outside]))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["DRA001", "DRA104", "DRA301", "DRA402"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["region"]["startLine"] >= 1
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run["results"]]
    assert places[0] == {"uri": "claims/a%20b.yaml", "uriBaseId": "SRCROOT"}
    assert places[2] == {"uri": "stdin"}
    assert places[4] == {"uri": "in.yaml", "uriBaseId": "SRCROOT"}
    assert places[6] == {"uri": "file:///elsewhere/out.yaml"}
    assert [result["level"] for result in run["results"]][:2] == ["error", "note"]


def test_the_closing_line_counts() -> None:
    assert closing([]) == "Nothing about DRA was found."
    assert closing(RESULTS) == (
        "5 objects: 1 unreadable, 1 rejected, 1 pending, 1 allocated, 1 accepted. 3 errors, 1 advice."
    )
    assert closing([RESULTS[2]]) == "1 object: 1 accepted. No findings."
