"""What our validation says of an object, against what the API server's own code says of it."""

import copy
from typing import Any

from hypothesis import given, seed
from inventories import Document
from judging import SEED, TARGET, cases
from mutations import DOCUMENTS, NAMESPACE_LABELS
from referee import Referee

from dra.objects import DraObject
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
        assert {problem.path for problem in ours.problems} == {cause["field"] for cause in causes}
    if not theirs["errors"] and "generateName" not in document["metadata"]:
        again = admit(_as_given(theirs["object"]), TARGET, labels)
        assert again is not None
        assert _filled(ours.object) == _filled(again.object)


def _as_given(stored: Document) -> Document:
    """Return a stored object without what only the API server sets."""
    given_again = copy.deepcopy(stored)
    given_again.pop("status", None)
    for field in ("uid", "creationTimestamp", "generation"):
        given_again["metadata"].pop(field, None)
    return given_again


def _filled(stored: DraObject | None) -> Any:  # noqa: ANN401 - any JSON value
    """Return the document of an object without what is empty, which the API leaves out, and times it sets."""

    def filled(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, dict):
            inner = {key: filled(of) for key, of in value.items() if key != "timeAdded"}
            return {key: of for key, of in inner.items() if of not in ("", [], {}, None)}
        return [filled(each) for each in value] if isinstance(value, list) else value

    assert stored is not None
    return filled(stored.document())
