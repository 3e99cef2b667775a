"""The pack as a whole: its names, its settings, its page, and what it may import."""

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import from_config
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy
from resources import claim

from policies.judge import AnyRule, policies_of
from policies.pack import RULES, make_policies
from policies.settings import read, schema_of

REPO = Path(__file__).resolve().parents[2]
PACK = REPO / "policies"
PAGE = (REPO / "docs" / "policies.md").read_text()
LEVELS = {level.value for level in EnforcementLevel}


def table(page: str, heading: str) -> dict[str, str]:
    """The first table with this first column, by the names in it."""
    rows = page.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return {re.findall(r"`([^`]+)`", row)[0]: row for row in rows}


def test_the_page_has_every_policy_with_its_settings_and_level() -> None:
    rows = table(PAGE, "policy")
    assert sorted(rows) == sorted(rule.name for rule in RULES)
    for rule in RULES:
        shared = {"unknownValues", "intended"}
        settings = {field.alias or name for name, field in rule.settings.model_fields.items()} - shared
        assert set(re.findall(r"`([^`]+)`", rows[rule.name].split("|")[3])) == settings, rule.name
    advisory = [policy.name for policy in make_policies() if policy.enforcement_level]
    assert advisory == [name for name, row in rows.items() if "(advisory)" in row]


def test_the_page_has_every_setting() -> None:
    names = {field.alias or name for rule in RULES for name, field in rule.settings.model_fields.items()}
    assert set(table(PAGE, "setting")) == names


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_engine_is_given_a_schema_that_stands_alone(rule: AnyRule) -> None:
    schema = schema_of(rule.settings)
    assert "$ref" not in json.dumps(schema.properties)
    assert schema.properties["unknownValues"]["enum"] == ["fail", "warn"]
    # What the engine fills in by default is what the pack takes for default.
    defaults = {name: about["default"] for name, about in schema.properties.items() if "default" in about}
    assert read(rule.settings, from_config(defaults)).document() == read(rule.settings, {}).document()


@pytest.mark.parametrize("file", sorted(PACK.glob("*.json")), ids=lambda file: file.name)
def test_the_settings_of_the_labs_stacks_are_right(file: Path) -> None:
    rules = {rule.name: rule for rule in RULES}
    settings: dict[str, Any] = json.loads(file.read_text())
    for name, config in settings.items():
        own = {key: value for key, value in config.items() if key != "enforcementLevel"}
        assert config.get("enforcementLevel", "mandatory") in LEVELS
        read(rules[name].settings, from_config(own))


def test_every_settings_file_on_the_page_is_right() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    rules = {rule.name: rule for rule in RULES}
    settings: dict[str, Any] = json.loads(example)
    for name, config in settings.items():
        own = dict[str, Any]() if isinstance(config, str) else dict[str, Any](config)
        assert own.pop("enforcementLevel", "mandatory") in LEVELS
        read(rules[name].settings, from_config(own))


def test_remediation_with_wrong_settings_changes_nothing() -> None:
    for policy in policies_of(RULES):
        if isinstance(policy, ResourceValidationPolicy):
            assert policy.remediate(claim().args({"nonsense": 1})) is None


def test_a_pack_imports_the_checker_and_nothing_else_of_this_repository() -> None:
    allowed = {"dra", "policies", "pulumi_policy", "pydantic"} | sys.stdlib_module_names
    for module in PACK.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= allowed, module.name


def test_no_module_hides_one_that_python_or_pulumi_imports() -> None:
    """Pulumi starts a pack in its own folder, which then comes first on the path."""
    names = {module.stem for module in PACK.glob("*.py")} - {"__init__", "__main__"}
    assert names & (set(sys.stdlib_module_names) | set(sys.modules) - {"policies"}) == set()
