"""For code scanning: SARIF 2.1.0 (OASIS), each code a rule that carries its page."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dra import codes
from dra.codes import Code
from dra.finding import Checked, Finding, Severity
from lab.output import STDIN, from_here, on_one_line, page, sentence, subject

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}
_PAGES = Path(__file__).resolve().parent.parent.parent


def render(results: Sequence[Checked]) -> str:
    """Return the log of one run."""
    found = [(checked, finding) for checked in results for finding in checked.findings]
    used = {finding.code for _, finding in found}
    rules = [code for code in codes.catalogue() if code.code in used]
    index = {code.code: position for position, code in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": "lab check", "rules": [_rule(code) for code in rules]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "Where lab check was started."}}},
        "results": [_result(checked, finding, index[finding.code]) for checked, finding in found],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def _rule(code: Code) -> dict[str, Any]:
    # `helpUri` must be absolute, which a page of a checkout is not; viewers show the page itself.
    markdown = (_PAGES / page(code.code)).read_text(encoding="utf-8")
    return {
        "id": code.code,
        "shortDescription": {"text": code.title},
        "help": {"text": f"See {page(code.code)}.", "markdown": markdown},
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
        "properties": {"page": page(code.code)},
    }


def _result(checked: Checked, finding: Finding, rule: int) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": sentence(finding)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(checked.file),
                    "region": {"startLine": finding.line or checked.line},
                },
                "logicalLocations": [
                    {"fullyQualifiedName": on_one_line(f"{subject(checked)} {finding.path}".strip())}
                ],
            }
        ],
    }


def _artifact(file: str) -> dict[str, str]:
    if file == STDIN:
        return {"uri": "stdin"}
    path = Path(from_here(file))
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(path.as_posix()), "uriBaseId": "SRCROOT"}
