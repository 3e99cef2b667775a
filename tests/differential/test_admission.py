"""What our validation says of an object, against what the API server's own code says of it."""

import copy
from collections.abc import Iterable
from typing import cast

from hypothesis import given, seed
from inventories import Document
from judging import SEED, TARGET, cases
from mutations import DOCUMENTS, NAMESPACE_LABELS
from referee import Referee

from dra.objects import DraObject, Workload
from dra.validation import admit


@seed(SEED)
@cases(3, 10)
@given(document=DOCUMENTS, labels=NAMESPACE_LABELS)
def test_a_document_is_let_in_and_stored_or_refused_for_the_same_fields(
    referee: Referee, document: Document, labels: dict[str, str]
) -> None:
    theirs = referee.ask("admit", document=document, namespaceLabels=labels)
    ours = admit(document, TARGET, labels)
    if ours is None:  # a workload that lost its claims
        assert document["kind"] in {"Pod", "Deployment"}
        return
    assert bool(ours.problems) == bool(theirs["errors"]), (ours.problems, theirs["errors"])
    if causes := theirs.get("causes"):
        fields = {problem.path for problem in ours.problems}
        theirs_of = {cause["field"] for cause in causes}
        # Of a list that is too long, 1.37 looks at the items by its declared rules all the same.
        too_long = {problem.path for problem in ours.problems if problem.message.startswith("Too many")}
        assert fields == {field for field in theirs_of if field in fields or not _below(field, too_long)}
    if not theirs["errors"] and "generateName" not in document["metadata"]:
        again = admit(_as_given(theirs["object"]), TARGET, labels)
        if again is None:  # a pod whose lists of claims are empty: the API leaves them out
            assert isinstance(ours.object, Workload)
            assert not ours.object.claims.resource_claims
            return
        assert _filled(ours.object) == _filled(again.object)


def _below(field: str, lists: Iterable[str]) -> bool:
    return any(field.startswith(f"{each}[") for each in lists)


def _as_given(stored: Document) -> Document:
    """Return a stored object without what only the API server sets."""
    given_again = copy.deepcopy(stored)
    given_again.pop("status", None)
    for field in ("uid", "creationTimestamp", "generation"):
        given_again["metadata"].pop(field, None)
    return given_again


def _filled(stored: DraObject | None) -> object:
    """Return the document of an object without what is empty, which the API leaves out, and times it sets."""
    assert stored is not None
    return _without_empty(stored.document())


def _without_empty(value: object) -> object:
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        inner = {key: _without_empty(of) for key, of in items if key != "timeAdded"}
        return {key: of for key, of in inner.items() if of not in ("", [], {}, None)}
    if isinstance(value, list):
        return [_without_empty(each) for each in cast("list[object]", value)]
    return value
