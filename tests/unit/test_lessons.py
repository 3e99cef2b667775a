"""What holds for every lesson of the course, and for its page."""

import json
import re

import pytest
from lesson_pages import FURTHER, PAGES, PART, Shown, filled, shown_of

from components.lessons.course import COURSE
from components.pods import LESSON_LABEL

CLUSTER_WIDE = {
    "Namespace",
    "Node",
    "ResourceSlice",
    "DeviceClass",
    "DeviceTaintRule",
    "PriorityClass",
    "Stage",
    "ResourceFlavor",
    "ClusterQueue",
}


@pytest.fixture(params=FURTHER)
def shown(request: pytest.FixtureRequest) -> Shown:
    return shown_of(request.param)


def test_a_lesson_s_objects_are_in_its_namespace_and_what_is_in_none_has_its_name(shown: Shown) -> None:
    name = shown.lesson.lesson
    for key, found in shown.objects.items():
        kind, own_name = key.split("/", 1)
        if kind in CLUSTER_WIDE:
            assert own_name.startswith(name) or kind == "DeviceClass", key
        else:
            assert found["metadata"]["namespace"] == name, key


def test_a_lesson_s_pods_stay_on_its_nodes_and_its_nodes_take_no_others(shown: Shown) -> None:
    name = shown.lesson.lesson
    nodes = {key.split("/")[1]: found for key, found in shown.objects.items() if key.startswith("Node/")}
    for node in nodes.values():
        assert node["metadata"]["labels"][LESSON_LABEL] == name
        assert node["spec"]["taints"] == [{"key": LESSON_LABEL, "value": name, "effect": "NoSchedule"}]
    for key, found in shown.objects.items():
        if not key.startswith(("Pod/", "Deployment/", "Job/")):
            continue
        spec = found["spec"] if key.startswith("Pod/") else found["spec"]["template"]["spec"]
        selector = spec["nodeSelector"]
        assert selector == {LESSON_LABEL: name} or selector["kubernetes.io/hostname"] in nodes, key


def test_a_slice_has_no_empty_map_which_would_be_a_difference_at_each_up(shown: Shown) -> None:
    for key, found in shown.objects.items():
        if key.startswith("ResourceSlice/"):
            assert "{}" not in json.dumps(found["spec"])


def test_a_lesson_says_what_to_see_and_each_step_once(shown: Shown) -> None:
    titles = [one.title for one in shown.lesson.expectations]
    assert titles
    assert len(titles) == len(set(titles))
    assert all(one.expected for one in shown.lesson.expectations)


def test_a_page_shows_the_objects_and_outcomes_of_the_code(shown: Shown) -> None:
    page = (PAGES / f"{shown.lesson.lesson}.md").read_text(encoding="utf-8")
    parts = [found["what"] for found in PART.finditer(page)]
    assert "outcomes" in parts
    assert any(part.startswith("yaml: ") for part in parts)
    assert page == filled(page, shown), "write it anew with tests/unit/lesson_pages.py"


def test_a_page_has_no_yaml_that_the_code_does_not_have(shown: Shown) -> None:
    page = (PAGES / f"{shown.lesson.lesson}.md").read_text(encoding="utf-8")
    assert "```yaml" not in PART.sub("", page)


@pytest.mark.parametrize("name", COURSE)
def test_every_lesson_has_a_page_with_its_title(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {name}: ")
    for heading in ("What you see", "Why", "What to try next"):
        assert f"\n## {heading}\n" in page


def test_the_course_lists_the_lessons_in_their_order() -> None:
    course = (PAGES / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| \[([a-z0-9-]+)\]\(\1\.md\) \| (.+?) \|", course, re.MULTILINE)
    assert rows == list(COURSE.items())
