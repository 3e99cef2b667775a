"""For test reports: JUnit's XML, a suite for each file and a case for each object.

Source: the schema of the Ant JUnit task, as Jenkins, GitLab and Azure DevOps read it.
"""

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from dra.finding import Checked, Finding, Severity, Verdict
from lab.output import on_one_line, page, reaches, sentence, subject


def render(results: Sequence[Checked], fail_on: Severity) -> str:
    """Return the report. Findings below the level are output of a case that passes."""
    root = ET.Element("testsuites", name="lab check")
    for file, group in groupby(results, key=lambda checked: checked.file):
        suite = ET.SubElement(root, "testsuite", name=on_one_line(file))
        cases = [_case(suite, checked, fail_on) for checked in group]
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(cases.count("failure")))
        suite.set("errors", str(cases.count("error")))
        suite.set("skipped", "0")
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _case(suite: ET.Element, checked: Checked, fail_on: Severity) -> str:
    name = subject(checked) or "the file"
    case = ET.SubElement(
        suite, "testcase", classname=on_one_line(checked.file), name=f"{name}:{checked.line}"
    )
    failing = [finding for finding in checked.findings if reaches(finding, fail_on)]
    passing = [finding for finding in checked.findings if finding not in failing]
    outcome = "error" if checked.verdict is Verdict.UNREADABLE else "failure"
    if failing:
        element = ET.SubElement(case, outcome, type=failing[0].code, message=sentence(failing[0]))
        element.text = "\n".join(_line(checked, finding) for finding in failing)
    if passing:
        ET.SubElement(case, "system-out").text = "\n".join(_line(checked, finding) for finding in passing)
    return outcome if failing else "passed"


def _line(checked: Checked, finding: Finding) -> str:
    where = f"{on_one_line(checked.file)}:{finding.line or checked.line}"
    return f"{where}: {finding.severity} {finding.code}: {sentence(finding)} See {page(finding.code)}."
