"""The parts of the lessons' pages that are made from the code. Run it to write them anew.

A page marks such a part by `<!-- yaml: Kind/name … -->` or `<!-- outcomes -->` before it and `<!-- end -->`
after it. `PYTHONPATH=. .venv/bin/python tests/unit/lesson_pages.py [lesson …]` fills them in.
"""

# PyYAML's stub has an unknown part in safe_dump.
# pyright: reportUnknownMemberType=false
import asyncio
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml
from recording import record

from components.expectation import Expectation
from components.lessons.course import COURSE, OF_LAB4, lesson

if TYPE_CHECKING:
    from components.lesson import Lesson

PAGES = Path(__file__).resolve().parents[2] / "docs" / "lessons"
FIRST = {
    key: place
    for place, key in enumerate(
        [
            "apiVersion",
            "kind",
            "metadata",
            "name",
            "namespace",
            "labels",
            "spec",
            "driver",
            "nodeName",
            "pool",
            "image",
            "deviceClassName",
            "allocationMode",
            "count",
            "selectors",
            "requests",
            "exactly",
            "firstAvailable",
            "constraints",
            "config",
        ]
    )
}
"""The order in which people write an object's fields; others follow by name."""
FURTHER = [name for name in COURSE if name not in OF_LAB4]
PART = re.compile(
    r"<!-- (?P<what>yaml: (?P<objects>[^\n]+?)|outcomes) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL
)


@cache
def shown_of(name: str) -> "Shown":
    """Return a lesson, built once."""
    return Shown(name)


class Shown:
    """A lesson as its page can show it."""

    def __init__(self, name: str) -> None:
        made: list[Lesson] = []
        recording = record(lambda: made.append(lesson(name)(name, None)))
        self.lesson = made[0]
        self.objects = {
            f"{found.inputs['kind']}/{found.inputs['metadata']['name']}": found.inputs
            for found in recording.below(recording.one(f"gpulab:lessons:{type(made[0]).__name__}").urn)
            if found.request.custom
        }


def filled(page: str, shown: Shown) -> str:
    """Return a page with its marked parts as the code has them."""

    def part(found: re.Match[str]) -> str:
        body = (
            _yaml([_manifest(shown.objects[name]) for name in found["objects"].split()])
            if found["objects"]
            else _outcomes(shown.lesson.expectations)
        )
        return f"<!-- {found['what']} -->\n{body}<!-- end -->"

    return PART.sub(part, page)


def _yaml(manifests: Sequence[dict[str, Any]]) -> str:
    text = "---\n".join(
        yaml.dump(_ordered(one), Dumper=_Dumper, sort_keys=False, width=100) for one in manifests
    )
    return f"```yaml\n{text}```\n"


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as such, and not with its line ends escaped."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _ordered(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a value as people write it: the wire keeps no order of keys."""
    if isinstance(value, list):
        return [_ordered(one) for one in cast("list[Any]", value)]
    if isinstance(value, float) and value.is_integer():
        # The engine's wire has no whole numbers.
        return int(value)
    if not isinstance(value, dict):
        return value
    keys = sorted(cast("dict[str, Any]", value), key=lambda key: (key not in FIRST, FIRST.get(key, 0), key))
    return {key: _ordered(value[key]) for key in keys}


def _manifest(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return an object as one would write it for kubectl: without what only Pulumi reads."""
    metadata = dict(inputs["metadata"])
    annotations = {
        key: value for key, value in metadata.pop("annotations", {}).items() if "pulumi.com" not in key
    }
    metadata |= {"annotations": annotations} if annotations else {}
    return {"apiVersion": inputs["apiVersion"], "kind": inputs["kind"], "metadata": metadata} | {
        key: value for key, value in inputs.items() if key not in {"apiVersion", "kind", "metadata"}
    }


def _outcomes(expectations: Sequence[Expectation]) -> str:
    rows = [f"| {one.title} | {one.expected} |" for one in expectations]
    return "\n".join(["| what | comes to |", "|---|---|", *rows]) + "\n"


def main() -> None:
    """Write the marked parts of the pages of some lessons, or of all."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    for name in sys.argv[1:] or FURTHER:
        page = PAGES / f"{name}.md"
        page.write_text(filled(page.read_text(encoding="utf-8"), Shown(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
