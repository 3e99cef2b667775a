"""The cases whose verdict the scheduler gave, each against the inventory that it was measured on."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from dra.allocation import Allocated, Failed, Unsatisfied, allocate
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import DraObject, ObjectMeta, ResourceClaim, ResourceClaimTemplate, Workload
from dra.validation import admit

CASES = Path(__file__).parents[2] / "cases"
VERDICTS: Mapping[str, Mapping[str, Any]] = json.loads((CASES / "verdicts.json").read_text())
OUTCOMES: Mapping[str, type[Allocated | Unsatisfied | Failed]] = {
    "allocated": Allocated,
    "error": Failed,
    "pending": Unsatisfied,
}
SCHEDULED = [name for name, verdict in VERDICTS.items() if verdict["verdict"] in OUTCOMES]


def admitted(path: Path, namespace: str) -> Iterator[DraObject]:
    documents = cast("list[dict[str, Any]]", [*yaml.safe_load_all(path.read_text())])
    namespaces = [each["metadata"] for each in documents if each["kind"] == "Namespace"]
    labels = cast("dict[str, str]", namespaces[0]["labels"]) if namespaces else {}
    for each in documents:
        each["metadata"].setdefault("namespace", namespace)
        admission = admit(each, Target.V1_37, labels)
        assert admission is not None
        assert not admission.problems
        assert admission.object is not None
        yield admission.object


def pods(objects: Sequence[DraObject]) -> Iterator[list[ResourceClaim]]:
    """Yield the claims of each pod; claims and templates that no pod uses have a consumer each."""
    claims = {each.metadata.name: each for each in objects if isinstance(each, ResourceClaim)}
    unused = dict(claims)
    for each in objects:
        if isinstance(each, Workload):
            names = [str(one.resource_claim_name) for one in each.claims.resource_claims]
            yield [claims[name] for name in names]
            for name in names:
                unused.pop(name, None)
        elif isinstance(each, ResourceClaimTemplate):
            yield [ResourceClaim(metadata=ObjectMeta(name=each.metadata.name), spec=each.spec)]
    yield from ([claim] for claim in unused.values())


def anywhere(message: str) -> str:
    """Return a message without the node: which of them fails first is up to the scheduler."""
    return re.sub("node-[ah]", "node", message)


@pytest.fixture(scope="module")
def inventory() -> list[DraObject]:
    return list(admitted(CASES / "inventory.yaml", ""))


@pytest.mark.parametrize("name", SCHEDULED)
def test_each_pod_gets_the_schedulers_verdict(name: str, inventory: list[DraObject]) -> None:
    objects = list(admitted(CASES / "inputs" / f"{name}.yaml", f"c-{name.replace('_', '-')}"))
    expected = VERDICTS[name]
    for claims in pods(objects):
        result = allocate(claims, Inventory.of([*inventory, *objects]), Target.V1_37)
        assert isinstance(result, OUTCOMES[expected["verdict"]]), result
        if isinstance(result, Failed):
            assert anywhere(result.message) in anywhere(expected["message"])
        if isinstance(result, Allocated):
            asked = [claim.metadata.name for claim in claims]
            assert [len(result.devices[each]) for each in asked] == [
                len(expected["devices"][each]) for each in asked
            ]
