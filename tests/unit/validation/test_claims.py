"""What holds of claims, templates and classes, in the words of a 1.37.2 API server."""

from typing import Any

import pytest
from admitting import (
    EMPTY,
    IDENTIFIER,
    LABEL,
    SUBDOMAIN,
    Document,
    admission,
    claim,
    device_class,
    exactly,
    of_kind,
    problems,
    remedies,
)

from dra.gates import Target
from dra.objects import ResourceClaim, ResourceClaimTemplate
from dra.validation import admit

REQUESTS = "spec.devices.requests"
EXACT = f"{REQUESTS}[0].exactly"
CONSTRAINT = "spec.devices.constraints[0]"
CONFIG = "spec.devices.config[0]"
NO_SUCH_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
NOT_BOTH = "exactly one of `exactly` or `firstAvailable` is required"
NET: Document = {
    "name": "nic",
    "firstAvailable": [{"name": "x", "deviceClassName": "a"}, {"name": "z", "deviceClassName": "b"}],
}


def constrained(**constraint: object) -> Document:
    return claim(exactly(), NET, constraints=[constraint])


def configured(**entry: object) -> Document:
    return claim(exactly(), config=[entry])


def opaque(**fields: object) -> Document:
    return configured(opaque={"driver": "gpu.nvidia.com", "parameters": EMPTY} | fields)


def tolerating(**toleration: object) -> Document:
    return claim(exactly(tolerations=[toleration]))


def many(count: int, **fields: object) -> list[Document]:
    return [{"name": f"r{index}"} | fields for index in range(count)]


EXACTLY: Document = {"deviceClassName": "c"}
DUPLICATE = (
    '{"name":"gpu","exactly":{"deviceClassName":"gpu.nvidia.com","allocationMode":"ExactCount","count":1}}'
)
REFUSED: list[tuple[Document, str]] = [
    (claim({"name": "gpu"}), f"{REQUESTS}[0]: Required value: {NOT_BOTH}"),
    (
        claim(exactly() | {"firstAvailable": [{"name": "a", "deviceClassName": "c"}]}),
        f"{REQUESTS}[0]: Invalid value: null: {NOT_BOTH}, but multiple fields are set",
    ),
    (claim({"name": "gpu", "exactly": EMPTY}), f"{EXACT}.deviceClassName: Required value"),
    (
        claim(exactly(deviceClassName="nvidia.com/gpu")),
        f'{EXACT}.deviceClassName: Invalid value: "nvidia.com/gpu": {SUBDOMAIN}',
    ),
    (claim(exactly() | {"name": "GPU_1"}), f'{REQUESTS}[0].name: Invalid value: "GPU_1": {LABEL}'),
    (claim(exactly() | {"name": "g.u"}), f'{REQUESTS}[0].name: Invalid value: "g.u": must not contain dots'),
    (claim(exactly(), exactly()), f"{REQUESTS}[1]: Duplicate value: {DUPLICATE}"),
    (
        claim(NET | {"firstAvailable": [{"name": "x", "deviceClassName": "a"}] * 2}),
        (
            f'{REQUESTS}[0].firstAvailable[1]: Duplicate value: {{"name":"x","deviceClassName":"a",'
            '"allocationMode":"ExactCount","count":1}'
        ),
    ),
    (claim(*many(33, exactly=EXACTLY)), f"{REQUESTS}: Too many: 33: must have at most 32 items"),
    (
        claim(exactly(selectors=[{"cel": {"expression": "true"}}] * 33)),
        f"{EXACT}.selectors: Too many: 33: must have at most 32 items",
    ),
    (
        claim(exactly(), constraints=[{"matchAttribute": "a.b/c"}] * 33),
        "spec.devices.constraints: Too many: 33: must have at most 32 items",
    ),
    (
        claim(exactly(), config=[{"opaque": {"driver": "a.b", "parameters": EMPTY}}] * 33),
        "spec.devices.config: Too many: 33: must have at most 32 items",
    ),
    (
        claim({"name": "gpu", "firstAvailable": many(9, deviceClassName="c")}),
        f"{REQUESTS}[0].firstAvailable: Too many: 9: must have at most 8 items",
    ),
    (claim(exactly(count=-1)), f"{EXACT}.count: Invalid value: -1: must be greater than zero"),
    (
        claim(exactly(allocationMode="All", count=2)),
        f"{EXACT}.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
    ),
    (
        claim(exactly(allocationMode="all")),
        f'{EXACT}.allocationMode: Unsupported value: "all": supported values: "All", "ExactCount"',
    ),
    (claim(exactly(selectors=[EMPTY])), f"{EXACT}.selectors[0].cel: Required value"),
    (
        claim(exactly(selectors=[{"cel": {"expression": f"true{' ' * 10240}"}}])),
        f"{EXACT}.selectors[0].cel.expression: Too long: may not be more than 10240 bytes",
    ),
    (
        constrained(),
        (
            f'{CONSTRAINT}: Required value: exactly one of "matchAttribute" or "distinctAttribute" is '
            "required, but multiple fields are set"
        ),
    ),
    (
        constrained(matchAttribute="numaNode"),
        (
            f'{CONSTRAINT}.matchAttribute: Invalid value: "numaNode": '
            "a fully qualified name must be a domain and a name separated by a slash"
        ),
    ),
    (
        constrained(matchAttribute="a.b/c-d"),
        f'{CONSTRAINT}.matchAttribute: Invalid value: "c-d": {IDENTIFIER}',
    ),
    (
        constrained(matchAttribute=f"a.b/{'c' * 33}"),
        f"{CONSTRAINT}.matchAttribute: Too long: may not be more than 32 bytes",
    ),
    (
        constrained(distinctAttribute="A.b/c"),
        f'{CONSTRAINT}.distinctAttribute: Invalid value: "A.b": prefix: {SUBDOMAIN}',
    ),
    *[
        (
            constrained(requests=[name], matchAttribute="a.b/c"),
            f'{CONSTRAINT}.requests[0]: Invalid value: "{name}": {NO_SUCH_REQUEST}',
        )
        for name in ("gpus", "nic/y", "gpu/x", "x", "a/b/c")
    ],
    (
        constrained(requests=["gpu", "gpu"], matchAttribute="a.b/c"),
        f'{CONSTRAINT}.requests[1]: Duplicate value: "gpu"',
    ),
    (configured(), f"{CONFIG}.opaque: Required value"),
    (opaque(parameters=None), f"{CONFIG}.opaque.parameters: Required value"),
    (
        opaque(parameters="a"),
        f'{CONFIG}.opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
    ),
    (
        opaque(parameters={"a": "x" * 10240}),
        f"{CONFIG}.opaque.parameters: Too long: may not be more than 10240 bytes",
    ),
    (opaque(driver=""), f"{CONFIG}.opaque.driver: Required value"),
    (
        opaque(driver="d" * 64),
        f"{CONFIG}.opaque.driver: Too long: may not be more than 63 characters",
    ),
    (
        opaque(driver="nvidia.com/gpu"),
        f'{CONFIG}.opaque.driver: Invalid value: "nvidia.com/gpu": '
        + SUBDOMAIN.replace("a lowercase RFC", "an RFC")
        .replace("of lower case", "of")
        .replace("'example.com'", "'Example.com'"),
    ),
    (
        tolerating(operator="Exists", value="x"),
        f'{EXACT}.tolerations[0].value: Invalid value: "x": must be empty for operator `Exists`',
    ),
    (
        tolerating(key="a", effect="PreferNoSchedule"),
        (
            f'{EXACT}.tolerations[0].effect: Unsupported value: "PreferNoSchedule": '
            'supported values: "NoExecute", "NoSchedule", "None"'
        ),
    ),
    (
        tolerating(key="a", operator="Lt"),
        f'{EXACT}.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists"',
    ),
    (
        tolerating(key="a/"),
        f'{EXACT}.tolerations[0].key: Invalid value: "a/": name part must be non-empty',
    ),
    *[
        (
            device_class(extendedResourceName=name),
            f'spec.extendedResourceName: Invalid value: "{name}": {why}',
        )
        for name, why in (
            ("gpu", "a name must be a domain-prefixed path, such as 'example.com/my-prop'"),
            ("foo.kubernetes.io/gpu", 'must not have "kubernetes.io/" domain'),
            ("requests.a.b/x", 'must not have "requests." prefix'),
            ("deviceclass.resource.kubernetes.io/x", 'must not have "kubernetes.io/" domain'),
        )
    ],
    (device_class(selectors=[EMPTY]), "spec.selectors[0].cel: Required value"),
    (device_class(config=[EMPTY]), "spec.config[0].opaque: Required value"),
]

ACCEPTED: list[Document] = [
    claim(exactly(count=0)),
    claim(exactly(count=33)),
    claim(),
    of_kind("ResourceClaim", None),
    claim(exactly(tolerations=[{"key": f"k{index}"} for index in range(17)])),
    tolerating(key="", operator="Equal", value="v"),
    tolerating(key="a", effect="None"),
    claim(exactly(capacity={"requests": {"bad name!": -1}})),
    constrained(matchAttribute="a.b/c", distinctAttribute="a.b/d"),
    constrained(matchAttribute="a.b/c/d"),
    constrained(requests=["nic/x", "gpu"], matchAttribute="a.b/c"),
    constrained(requests=["nic"], matchAttribute="a.b/c"),
    opaque(parameters={"apiVersion": "whatever", "kind": "Wrong"}),
    opaque(driver="GPU.nvidia.com"),
    claim(exactly(adminAccess=True)),
    device_class(),
    device_class(extendedResourceName="nvidia.com/gpu"),
]


@pytest.mark.parametrize(("document", "expected"), REFUSED)
def test_a_claim_or_class_is_refused_in_the_api_server_s_words(document: Document, expected: str) -> None:
    assert expected in problems(document)


@pytest.mark.parametrize("document", ACCEPTED)
def test_what_the_api_server_does_not_look_at_is_let_in(document: Document) -> None:
    assert problems(document) == []


@pytest.mark.parametrize(
    ("document", "expected"), [row for row in REFUSED if row[0]["kind"] == "ResourceClaim"]
)
def test_a_template_is_held_to_what_a_claim_is(document: Document, expected: str) -> None:
    template = document | {"kind": "ResourceClaimTemplate", "spec": {"spec": document["spec"]}}
    assert f"spec.{expected}" in problems(template)


def test_every_problem_of_a_claim_is_told_in_the_api_server_s_order() -> None:
    document = claim(exactly(count=-1) | {"name": "A"}, {"name": "b"}, config=[EMPTY])
    assert [text.split(": ")[0] for text in problems(document)] == [
        f"{REQUESTS}[0].name",
        f"{EXACT}.count",
        f"{REQUESTS}[1]",
        f"{CONFIG}.opaque",
    ]


def test_every_remedy_is_a_sentence() -> None:
    for document, _ in REFUSED:
        for remedy in remedies(document):
            assert remedy.endswith(".")
            assert remedy[0].isupper()


def test_defaults_are_filled_in() -> None:
    found = admission(claim(exactly(tolerations=[{"key": "a"}]), NET)).object
    assert isinstance(found, ResourceClaim)
    assert found.spec.devices.requests
    first, second = found.spec.devices.requests
    assert first.exactly
    assert (first.exactly.allocation_mode, first.exactly.count) == ("ExactCount", 1)
    assert [one.operator for one in first.exactly.tolerations or ()] == ["Equal"]
    assert [one.count for one in second.first_available or ()] == [1, 1]


def test_all_devices_have_no_count() -> None:
    found = admission(claim(exactly(allocationMode="All"))).object
    assert isinstance(found, ResourceClaim)
    assert found.spec.devices.requests
    exact = found.spec.devices.requests[0].exactly
    assert exact
    assert not exact.count


@pytest.mark.parametrize(
    ("labels", "refused"),
    [
        (None, False),
        ({"resource.kubernetes.io/admin-access": "true"}, False),
        ({}, True),
        ({"resource.kubernetes.io/admin-access": "yes"}, True),
        ({"resource.k8s.io/admin-access": "true"}, True),
    ],
)
def test_admin_access_needs_the_namespace_s_label_where_its_labels_are_known(
    *, labels: dict[str, str] | None, refused: bool
) -> None:
    document = claim(exactly(adminAccess=True), exactly(adminAccess=True) | {"name": "b"})
    said = [problem.message for problem in admission(document, labels=labels).problems]
    text = (
        "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label "
        "on the containing namespace"
    )
    assert said == ([text] if refused else [])


def test_a_template_may_give_labels_and_nothing_else_to_its_claims() -> None:
    spec: dict[str, Any] = {"metadata": {"labels": {"a": "b"}, "name": "n"}, "spec": {"devices": EMPTY}}
    assert problems(of_kind("ResourceClaimTemplate", spec)) == [
        "spec.metadata.name: Forbidden: cannot be set"
    ]
    del spec["metadata"]["name"]
    found = admission(of_kind("ResourceClaimTemplate", spec)).object
    assert isinstance(found, ResourceClaimTemplate)
    assert found.claim_metadata.labels == {"a": "b"}


def test_before_1_37_a_name_s_domain_may_have_capitals_and_the_repeated_name_is_shown_alone() -> None:
    document = constrained(matchAttribute="A.b/c")
    assert [bool(problems(document, target)) for target in Target] == [False, False, False, True]
    twice = f'{REQUESTS}[1]: Duplicate value: "gpu"'
    assert problems(claim(exactly(), exactly()), Target.V1_36) == [twice]


def test_a_reference_s_remedy_names_the_requests() -> None:
    assert remedies(constrained(requests=["x"], matchAttribute="a.b/c")) == [
        "Name one of the claim's requests: gpu, nic, nic/x, nic/z."
    ]


def test_the_lesson_s_numa_attribute_is_answered_with_the_standard_one() -> None:
    document = constrained(matchAttribute="gpu.nvidia.com/numa-node")
    assert "resource.kubernetes.io/numaNode" in remedies(document)[0]


def test_an_allocated_claim_keeps_what_it_holds() -> None:
    result = {
        "request": "gpu",
        "driver": "d.x",
        "pool": "p",
        "device": "g",
        "shareID": "s",
        "consumedCapacity": {"m": 1},
    }
    document = claim(exactly()) | {"status": {"allocation": {"devices": {"results": [result]}}}}
    found = admission(document).object
    assert isinstance(found, ResourceClaim)
    assert found.allocated
    assert [(one.pool, one.device, one.share_id, dict(one.consumed_capacity)) for one in found.allocated] == [
        ("p", "g", "s", {"m": "1"})
    ]


def test_what_is_not_about_dra_is_none_of_our_business() -> None:
    assert admit({"apiVersion": "v1", "kind": "ConfigMap"}, Target.V1_37) is None
    assert admit({"apiVersion": 1, "kind": None}, Target.V1_37) is None
    assert admit({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": []}}, Target.V1_37) is None
