"""Kubernetes objects out of what the engine shows."""

from typing import Any

import pytest
from harness import UNKNOWN, Resource, from_the_wire
from pulumi_policy import PolicyResource, StackValidationArgs

from policies.objects import KubernetesObject, objects_of, plain
from policies.stack import Session

CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "gpu", "namespace": "team"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": 2}}]}},
}


def objects(resource: Resource) -> list[KubernetesObject]:
    return list(objects_of(resource.type, from_the_wire(resource.inputs), resource.urn))


def test_an_object_is_what_the_program_says_with_whole_numbers_whole() -> None:
    (found,) = objects(Resource(CLAIM))
    assert found.document == CLAIM
    count = found.document["spec"]["devices"]["requests"][0]["exactly"]["count"]
    assert isinstance(count, int)
    assert (found.kind, found.key, found.group) == ("ResourceClaim", "team/gpu", "resource.k8s.io")


def test_what_is_unknown_is_left_out_and_named() -> None:
    props = {"metadata": {"namespace": UNKNOWN}, "spec": {"a": [{"b": UNKNOWN}, UNKNOWN, 1]}, "x": UNKNOWN}
    document, unknown = plain(from_the_wire(props))
    assert document == {"metadata": {}, "spec": {"a": [{}, None, 1]}}
    assert sorted(unknown) == ["metadata.namespace", "spec.a[0].b", "spec.a[1]", "x"]


def test_the_token_stands_in_for_what_a_program_left_out() -> None:
    (found,) = objects(Resource({"spec": {}}, type_="kubernetes:core/v1:Pod", name="mine"))
    assert found.document == {"apiVersion": "v1", "kind": "Pod", "spec": {}, "metadata": {"name": "mine"}}
    assert found.made_up_name


def test_each_item_of_a_list_is_an_object_with_its_place() -> None:
    item = {"metadata": {"name": "a"}, "spec": {"devices": UNKNOWN}}
    typed = Resource(
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimList", "items": [item, CLAIM]}
    )
    first, second = objects(typed)
    assert (first.kind, first.key, first.at, list(first.unknown)) == (
        "ResourceClaim",
        "a",
        "items[0].",
        ["spec.devices"],
    )
    assert second.document == CLAIM
    plain_list = Resource({"apiVersion": "v1", "kind": "List", "items": [CLAIM, None]})
    assert [found.kind for found in objects(plain_list)] == ["ResourceClaim", ""]


@pytest.mark.parametrize(
    "props",
    [
        {"kind": "ResourceClaim", "metadata": None},
        {"kind": "ResourceClaim", "metadata": "text", "spec": [1]},
        {"kind": "ResourceClaimList", "items": "text"},
        {"kind": None, "apiVersion": 1},
    ],
)
def test_odd_properties_make_no_traceback(props: dict[str, Any]) -> None:
    odd = Resource(props, type_="kubernetes:resource.k8s.io/v1:ResourceClaim")
    for found in objects(odd):
        assert isinstance(found.key, str)


def test_patches_components_and_other_providers_are_no_objects() -> None:
    for type_ in (
        "kubernetes:resource.k8s.io/v1:ResourceClaimPatch",
        "pulumi:pulumi:Stack",
        "a:kubernetes:v1:C",
    ):
        assert objects(Resource(CLAIM, type_=type_)) == []


def stack_of(resources: list[Resource], *, shown_before: bool) -> list[KubernetesObject]:
    session = Session()
    made = dict[str, PolicyResource]()
    for each in resources:
        if shown_before:
            session.record(each.args())
        made[each.urn] = each.in_stack(outputs_known=False, parents=made)
    return list(session.stack(StackValidationArgs(list(made.values()))).objects)


NAMESPACE = Resource({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}, name="ns")
UNKNOWN_NAMESPACE = Resource(
    CLAIM | {"metadata": {"name": "gpu", "namespace": UNKNOWN}},
    name="claim",
    depends={"metadata": [NAMESPACE]},
)


def test_a_stack_shows_inputs_where_outputs_are_still_to_come() -> None:
    _, claim = stack_of([NAMESPACE, UNKNOWN_NAMESPACE], shown_before=True)
    assert claim.document["spec"] == CLAIM["spec"]


def test_without_inputs_nothing_is_known() -> None:
    (namespace,) = stack_of([NAMESPACE], shown_before=False)
    assert set(namespace.unknown) == {"metadata", "spec"}


def test_an_unknown_namespace_is_the_one_that_the_metadata_depends_on() -> None:
    _, claim = stack_of([NAMESPACE, UNKNOWN_NAMESPACE], shown_before=True)
    assert (claim.key, list(claim.unknown)) == ("team/gpu", [])


def test_an_unknown_claim_of_a_pod_is_the_one_that_its_spec_depends_on() -> None:
    reference = {"name": "device", "resourceClaimName": UNKNOWN}
    pod = Resource(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p"},
            "spec": {"resourceClaims": [reference, {"name": "x", "resourceClaimTemplateName": UNKNOWN}]},
        },
        depends={"spec": [UNKNOWN_NAMESPACE]},
    )
    *_, found = stack_of([NAMESPACE, UNKNOWN_NAMESPACE, pod], shown_before=True)
    assert found.document["spec"]["resourceClaims"][0] == {"name": "device", "resourceClaimName": "gpu"}
    assert list(found.unknown) == ["spec.resourceClaims[1].resourceClaimTemplateName"]
