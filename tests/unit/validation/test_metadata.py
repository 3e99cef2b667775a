"""What holds of every object's metadata."""

import pytest
from admitting import EMPTY, LABEL, SUBDOMAIN, Document, admission, of_kind, problems
from test_slices import KEY_FORM


def named(kind: str = "ResourceClaim", **metadata: object) -> Document:
    return of_kind(kind, EMPTY) | {"metadata": metadata}


VALUE_FORM = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u"}
REFUSED: list[tuple[Document, str]] = [
    (named(), "metadata.name: Required value: name or generateName is required"),
    (named(name="A_b"), f'metadata.name: Invalid value: "A_b": {SUBDOMAIN}'),
    (
        named(name="a" * 254),
        f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters',
    ),
    (
        named("DeviceClass", name="a" * 254),
        f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 bytes',
    ),
    (named(generateName="Ab-", name="x"), f'metadata.generateName: Invalid value: "Ab-": {SUBDOMAIN}'),
    (named(name="x", namespace="a.b"), 'metadata.namespace: Invalid value: "a.b": must not contain dots'),
    (named(name="x", namespace="A"), f'metadata.namespace: Invalid value: "A": {LABEL}'),
    (named(name="x", labels={"-": "v"}), f'metadata.labels: Invalid value: "-": {KEY_FORM}'),
    (named(name="x", labels={"k": "-"}), f'metadata.labels: Invalid value: "-": {VALUE_FORM}'),
    (
        named(name="x", labels={"k": "v" * 64}),
        f'metadata.labels: Invalid value: "{"v" * 64}": must be no more than 63 bytes',
    ),
    (
        named(name="x", labels={"A.b/k": "v"}),
        f'metadata.labels: Invalid value: "A.b/k": prefix part {SUBDOMAIN}',
    ),
    (
        named(name="x", labels={"a/b/c": "v"}),
        (
            'metadata.labels: Invalid value: "a/b/c": a valid label key '
            f"{KEY_FORM.removeprefix('name part ')} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ),
    ),
    (named(name="x", annotations={"-": "v"}), f'metadata.annotations: Invalid value: "-": {KEY_FORM}'),
    (
        named(name="x", annotations={"k": "v" * 256 * 1024}),
        "metadata.annotations: Too long: may not be more than 262144 bytes",
    ),
    (named(name="x", finalizers=["-"]), f'metadata.finalizers: Invalid value: "-": {KEY_FORM}'),
    (
        named(name="x", finalizers=["orphan", "a"]),
        (
            'metadata.finalizers[1]: Invalid value: "a": name is neither a standard finalizer name nor is it '
            "fully qualified"
        ),
    ),
    (
        named(name="x", ownerReferences=[OWNER, OWNER | {"uid": ""}]),
        "metadata.ownerReferences[1].uid: Required value: must not be empty",
    ),
    (
        named(name="x", ownerReferences=[OWNER | {"apiVersion": "a/b/c"}]),
        (
            'metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or '
            "<version>"
        ),
    ),
]
ACCEPTED: list[Document] = [
    named(generateName="a-"),
    named(generateName="a", annotations={"A.b/K": "any text, \n whatever"}),
    named(name="a.b", labels={"a.b/k": "", "k": "V.1_2"}, finalizers=["a.b/c"]),
    named("DeviceClass", name="a", namespace="ignored"),
    named(name="x", ownerReferences=[OWNER | {"controller": True}, OWNER]),
]


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        ([{"controller": True}, {"controller": True}], "Only one reference can have Controller set to true."),
        ([{"apiVersion": "v1", "kind": "Event"}], "/v1, Kind=Event is disallowed from being an owner"),
    ],
)
def test_not_every_owner_is_let_in(owners: list[Document], expected: str) -> None:
    (problem,) = problems(named(name="x", ownerReferences=[OWNER | owner for owner in owners]))
    assert problem.startswith("metadata.ownerReferences")
    assert expected in problem


@pytest.mark.parametrize(("document", "expected"), REFUSED)
def test_metadata_is_refused_in_the_api_server_s_words(document: Document, expected: str) -> None:
    assert expected in problems(document)


@pytest.mark.parametrize("document", ACCEPTED)
def test_good_metadata_is_let_in(document: Document) -> None:
    assert problems(document) == []


def test_an_object_is_in_the_namespace_default_if_it_names_none() -> None:
    found = admission(named(name="x")).object
    assert found
    assert found.metadata.namespace == "default"
    found = admission(named(name="x", namespace="y")).object
    assert found
    assert found.metadata.namespace == "y"
