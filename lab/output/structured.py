"""For programs: JSON, one object for each that was checked."""

import json
from collections.abc import Sequence

from dra.finding import Checked


def render(results: Sequence[Checked]) -> str:
    """Return the results as a JSON list."""
    return json.dumps([_object(checked) for checked in results], indent=1, ensure_ascii=False)


def _object(checked: Checked) -> dict[str, object]:
    return {
        "file": checked.file,
        "line": checked.line,
        "apiVersion": checked.api_version,
        "kind": checked.kind,
        "namespace": checked.namespace,
        "name": checked.name,
        "verdict": checked.verdict.value,
        "findings": [
            {
                "code": finding.code,
                "severity": finding.severity.value,
                "path": finding.path,
                "message": finding.message,
                "remedy": finding.remedy,
            }
            for finding in checked.findings
        ],
    }
