"""Whatever comes in, there is an answer: a list of results, and never a traceback."""

import json
import re
import string
from pathlib import Path
from typing import Any, cast

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from dra.checker import check
from dra.document import parse_documents
from dra.finding import Checked, Severity
from dra.gates import Target
from dra.inventory import Inventory
from dra.pool import GpuPool, Mechanism
from lab.output import github, junit, sarif, structured

POOL = GpuPool(name="t4", product="NVIDIA T4", count=2, mechanism=Mechanism.CLAIMED, nodes=["n1"])
INVENTORY = Inventory.of_pools([POOL])
TEXTS = [
    text
    for page in sorted((Path(__file__).resolve().parents[3] / "docs" / "findings").glob("DRA*.md"))
    for text in page.read_text(encoding="utf-8").split("```yaml\n")[1:]
]
EXAMPLES: list[Any] = [
    value
    for text in TEXTS
    if "{{" not in text
    for value in yaml.safe_load_all(text.partition("```")[0])
    if value is not None
]

PIECES = some.sampled_from(
    [
        "a: ",
        "- ",
        "\n",
        "  ",
        "? ",
        "&a ",
        "*a",
        "<<: ",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "|\n",
        ">",
        "---\n",
        "!x ",
        "%",
        "#",
    ]
)
YAML_LIKE = some.lists(PIECES | some.text(max_size=4), max_size=40).map("".join)
VALUES = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(2**70), 2**70)
    | some.floats()
    | some.text(string.printable, max_size=8)
    | some.sampled_from(
        ["All", "gpu", "gpu.nvidia.com", "40Gi", "1.2.3", "a/b", "true", "device.driver == 'a'"]
    ),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FEW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answers(text: str, target: Target = Target.V1_37) -> list[Checked]:
    results = check(list(parse_documents("file.yaml", text)), INVENTORY, target)
    json.loads(structured.render(results))
    json.loads(sarif.render(results))
    github.render(results)
    junit.render(results, Severity.ERROR)
    return results


@FEW
@given(YAML_LIKE)
def test_any_text_has_an_answer(text: str) -> None:
    # YAML knows more line breaks than most editors.
    last = len(re.findall("\r\n|[\r\n\x85\u2028\u2029]", text)) + 1
    assert all(each.line <= last for each in answers(text))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - any JSON value
    found = [path]
    items = cast("dict[Any, Any]", value).items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = enumerate(cast("list[Any]", value))
    for key, item in items:
        found += places(item, (*path, key))
    return found


def mutated(value: Any, path: tuple[Any, ...], new: Any, key: str | None) -> Any:  # noqa: ANN401 - any JSON value
    if not path:
        return {**cast("dict[Any, Any]", value), key: new} if key and isinstance(value, dict) else new
    copy: Any = value.copy()
    copy[path[0]] = mutated(copy[path[0]], path[1:], new, key)
    return copy


@FEW
@given(some.data())
def test_any_change_of_a_claim_has_an_answer(data: some.DataObject) -> None:
    value = data.draw(some.sampled_from(EXAMPLES))
    for _ in range(data.draw(some.integers(1, 3))):
        path = data.draw(some.sampled_from(places(value)))
        key = data.draw(some.none() | some.text(max_size=6))
        value = mutated(value, path, data.draw(VALUES), key)
    text = "---\n".join(f"{json.dumps(each)}\n" for each in (value, *EXAMPLES[:3]))
    answers(text, data.draw(some.sampled_from(list(Target))))


EXPRESSIONS = some.lists(
    some.sampled_from(
        [
            "device",
            ".",
            "attributes",
            "['gpu.nvidia.com']",
            "type",
            "==",
            "'gpu'",
            "&&",
            "||",
            "(",
            ")",
            "!",
            "quantity",
            "1",
            "memory",
        ]
    )
    | some.text(max_size=3),
    max_size=12,
).map(" ".join)


@FEW
@given(EXPRESSIONS)
def test_any_expression_has_an_answer(expression: str) -> None:
    request = {
        "name": "gpu",
        "exactly": {"deviceClassName": "gpu.nvidia.com", "selectors": [{"cel": {"expression": expression}}]},
    }
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpu"},
        "spec": {"devices": {"requests": [request]}},
    }
    (result,) = answers(json.dumps(claim))
    assert result.kind == "ResourceClaim"
