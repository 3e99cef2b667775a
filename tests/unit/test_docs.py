"""README and the pages beside it say what is so."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from components.expectation import Outcome
from components.lessons.course import COURSE
from components.pods import LESSON_LABEL
from dra.pool import GpuPool
from dra.product import PRODUCTS
from lab.report import text

REPO = Path(__file__).resolve().parents[2]
README = (REPO / "README.md").read_text()
PAGES = [REPO / "README.md", REPO / "CONTRIBUTING.md", *sorted((REPO / "docs").rglob("*.md"))]


def block(page: str, name: str) -> str:
    found = re.search(rf"<!-- {name}: begin -->\n(.*?)<!-- {name}: end -->", page, re.DOTALL)
    assert found is not None, f"no block {name!r}"
    return found[1]


def lines(shown: str) -> list[str]:
    """Editors strip blanks at line ends, and the table has an empty line on either side."""
    return [line.rstrip() for line in shown.splitlines() if line.strip()]


def paths(page: Path) -> list[str]:
    """The paths in the first column of a layout table."""
    rows = block(page.read_text(), "layout").splitlines()[2:]
    return [path for row in rows for path in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_the_closing_table_is_that_of_the_recorded_outcomes() -> None:
    recorded = json.loads((REPO / "docs" / "outcomes-dev.json").read_text())
    outcomes = TypeAdapter(list[Outcome]).validate_python(recorded)
    assert all(outcome.ok for outcome in outcomes)
    assert lines(block(README, "outcomes").replace("```text", "").replace("```", "")) == lines(text(outcomes))


def test_what_the_checker_says_of_the_example() -> None:
    [command] = re.findall(r"^\.venv/bin/python (-m lab check docs/examples/.*)$", README, re.MULTILINE)
    said = subprocess.run(  # noqa: S603 - README's own command
        [sys.executable, *shlex.split(command)],
        cwd=REPO,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 1, said.stderr
    assert lines(block(README, "check").replace("```text", "").replace("```", "")) == lines(said.stdout)


def test_the_course_s_pod_can_run_where_its_lesson_s_pods_do() -> None:
    course = (REPO / "docs" / "lessons" / "README.md").read_text()
    shown = re.search(r"<<'EOF'\n(.*?)^EOF$", course, re.DOTALL | re.MULTILINE)
    assert shown is not None
    pod = yaml.safe_load(shown[1])
    lesson = pod["metadata"]["namespace"]
    assert lesson in COURSE
    assert pod["spec"]["nodeSelector"] == {LESSON_LABEL: lesson}
    assert pod["spec"]["tolerations"] == [{"key": LESSON_LABEL, "operator": "Exists"}]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (REPO / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"(?:^|`|STACK=\w+ )make ([a-z]+)", page.read_text(), re.MULTILINE)
    assert set(named) <= targets


def test_every_config_key_is_explained() -> None:
    project = yaml.safe_load((REPO / "Pulumi.yaml").read_text())
    keys = {*project["config"], "pools"}
    assert set(re.findall(r"^\| `lab:(\w+)` \|", README, re.MULTILINE)) == keys


def test_every_pool_key_and_product_is_explained() -> None:
    for key in [field.alias or name for name, field in GpuPool.model_fields.items()]:
        assert f"\n| `{key}` |" in README
    for product in PRODUCTS:
        assert f"`{product}`" in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_resolve(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    relative = [link.split("#")[0] for link in links if "://" not in link and not link.startswith("#")]
    assert [link for link in relative if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", [REPO / "README.md", REPO / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_path_of_the_layout_exists(page: Path) -> None:
    found = paths(page)
    assert found
    assert [path for path in found if not (REPO / path).exists()] == []
