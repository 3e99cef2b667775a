"""What holds of pods, and of templates of pods, as far as claims and extended resources go."""

import pytest
from admitting import EMPTY, LABEL, SUBDOMAIN, Document, admission, pod, problems

from dra.gates import Target
from dra.objects import Workload
from dra.validation import admit

CLAIM = {"name": "gpu", "resourceClaimName": "c"}
LISTED = "must be one of the names in pod.spec.resourceClaims"
RESOURCES = "spec.containers[0].resources"


def using(*claims: object) -> Document:
    return pod(CLAIM, resources={"claims": list(claims)})


def asking(**amounts: object) -> Document:
    return pod(resources=amounts)


GPU = "nvidia.com/gpu"
REFUSED: list[tuple[Document, str]] = [
    (
        pod({"name": "g"}),
        (
            'spec.resourceClaims[0]: Invalid value: {"Name":"g","ResourceClaimName":null,'
            '"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, '
            "`resourceClaimTemplateName`"
        ),
    ),
    (
        pod({"name": "g", "resourceClaimName": "c", "resourceClaimTemplateName": "t"}),
        (
            'spec.resourceClaims[0]: Invalid value: {"Name":"g","ResourceClaimName":"c",'
            '"ResourceClaimTemplateName":"t"}: at most one of `resourceClaimName` or '
            "`resourceClaimTemplateName` may be specified"
        ),
    ),
    (pod({"resourceClaimName": "c"}), "spec.resourceClaims[0].name: Required value"),
    (pod(CLAIM, CLAIM), 'spec.resourceClaims[1].name: Duplicate value: "gpu"'),
    (pod(CLAIM | {"name": "G"}), f'spec.resourceClaims[0].name: Invalid value: "G": {LABEL}'),
    (
        pod({"name": "g", "resourceClaimName": ""}),
        f'spec.resourceClaims[0].resourceClaimName: Invalid value: "": {SUBDOMAIN}',
    ),
    (
        pod({"name": "g", "resourceClaimTemplateName": "A"}),
        f'spec.resourceClaims[0].resourceClaimTemplateName: Invalid value: "A": {SUBDOMAIN}',
    ),
    (using({"name": "t"}), f'{RESOURCES}.claims[0]: Not found: "t": {LISTED}: gpu'),
    (using({"name": ""}), f"{RESOURCES}.claims[0]: Required value"),
    (
        pod(resources={"claims": [{"name": "t"}]}),
        f'{RESOURCES}.claims[0]: Not found: "t": {LISTED} which is empty',
    ),
    (
        using({"name": "gpu", "request": "r0/x"}),
        f'{RESOURCES}.claims[0].request: Invalid value: "r0/x": {LABEL}',
    ),
    (using({"name": "gpu"}, {"name": "gpu"}), f'{RESOURCES}.claims[1]: Duplicate value: "gpu"'),
    (
        using({"name": "gpu"}, {"name": "gpu", "request": "r0"}),
        f'{RESOURCES}.claims[1]: Duplicate value: "gpu"',
    ),
    (
        using({"name": "gpu", "request": "r0"}, {"name": "gpu"}),
        f'{RESOURCES}.claims[1]: Duplicate value: "gpu"',
    ),
    (
        using({"name": "gpu", "request": "r0"}, {"name": "gpu", "request": "r0"}),
        f'{RESOURCES}.claims[1]: Duplicate value: "gpu/r0"',
    ),
    (
        asking(requests={GPU: 1}),
        f"{RESOURCES}.limits: Required value: Limit must be set for non overcommitable resources",
    ),
    (
        asking(requests={GPU: 1}, limits={GPU: 2}),
        f'{RESOURCES}.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 2',
    ),
    (
        asking(requests={"cpu": 2}, limits={"cpu": 1, GPU: 1}),
        f'{RESOURCES}.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ),
    (
        asking(limits={GPU: "500m"}),
        f'{RESOURCES}.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer',
    ),
    (
        asking(limits={GPU: -1}),
        f'{RESOURCES}.limits[nvidia.com/gpu]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    (
        asking(limits={GPU: 1, "gpu": 1}),
        f'{RESOURCES}.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
    ),
    (
        asking(limits={GPU: 1, "requests.a.b/x": 1}),
        (
            f'{RESOURCES}.limits[requests.a.b/x]: Invalid value: "requests.a.b/x": '
            "doesn't follow extended resource name standard"
        ),
    ),
    (
        pod(CLAIM, resources={"claims": [{"name": "gpu"}]}) | {"metadata": {"name": "P"}},
        f'metadata.name: Invalid value: "P": {SUBDOMAIN}',
    ),
]

ACCEPTED: list[Document] = [
    pod(CLAIM),
    using({"name": "gpu"}),
    using({"name": "gpu", "request": "r0"}, {"name": "gpu", "request": "r1"}),
    using({"name": "gpu", "request": "a-request-that-no-claim-has"}),
    asking(limits={GPU: 1}),
    asking(limits={GPU: "2"}, requests={GPU: 2.0}),
    asking(limits={"deviceclass.resource.kubernetes.io/gpu": 1, GPU: 1}),
]


@pytest.mark.parametrize(("document", "expected"), REFUSED)
def test_a_pod_is_refused_in_the_api_server_s_words(document: Document, expected: str) -> None:
    assert expected in problems(document)


@pytest.mark.parametrize("document", ACCEPTED)
def test_a_pod_that_uses_claims_rightly_is_let_in(document: Document) -> None:
    assert problems(document) == []


def test_claims_of_a_whole_pod_are_refused() -> None:
    expected = "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level"
    assert problems(pod(CLAIM, resources=None) | {}) == []
    document = pod(CLAIM)
    document["spec"]["resources"] = {"claims": [{"name": "gpu"}]}
    assert problems(document) == [expected]


TEMPLATED = [
    ("apps/v1", "Deployment", "spec.template.spec"),
    ("apps/v1", "StatefulSet", "spec.template.spec"),
    ("apps/v1", "DaemonSet", "spec.template.spec"),
    ("apps/v1", "ReplicaSet", "spec.template.spec"),
    ("batch/v1", "Job", "spec.template.spec"),
    ("v1", "ReplicationController", "spec.template.spec"),
    ("batch/v1", "CronJob", "spec.jobTemplate.spec.template.spec"),
]


def templated(version: str, kind: str, pod_spec: object, **spec: object) -> Document:
    inner: Document = {"template": {"spec": pod_spec}} | spec
    outer: Document = {"jobTemplate": {"spec": inner}} if kind == "CronJob" else inner
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "w"}, "spec": outer}


@pytest.mark.parametrize(("version", "kind", "path"), TEMPLATED)
def test_a_template_of_pods_is_held_to_the_same(version: str, kind: str, path: str) -> None:
    document = templated(version, kind, using({"name": "t"})["spec"])
    expected = f'{path}.containers[0].resources.claims[0]: Not found: "t": {LISTED}: gpu'
    assert problems(document) == [expected]


@pytest.mark.parametrize(("version", "kind", "path"), TEMPLATED)
def test_a_workload_keeps_what_the_scheduler_asks_about(version: str, kind: str, path: str) -> None:
    del path
    spec = using({"name": "gpu", "request": "r0"})["spec"] | {"nodeSelector": {"a": "b"}}
    workload = admission(templated(version, kind, spec)).object
    assert isinstance(workload, Workload)
    assert (workload.kind, workload.replicas, workload.node_selector) == (kind, 1, {"a": "b"})
    assert [claim.resource_claim_name for claim in workload.claims.resource_claims] == ["c"]
    ((container, uses),) = workload.claims.containers
    assert (container, [(use.name, use.request) for use in uses]) == ("m", [("gpu", "r0")])


@pytest.mark.parametrize(
    ("version", "kind", "spec", "replicas"),
    [
        ("apps/v1", "Deployment", {"replicas": 3}, 3),
        ("apps/v1", "Deployment", {"replicas": 0}, 0),
        ("batch/v1", "Job", {"parallelism": 4}, 4),
        ("batch/v1", "Job", {"parallelism": 4, "completions": 2}, 2),
        ("batch/v1", "CronJob", {"parallelism": 2}, 2),
    ],
)
def test_a_workload_has_as_many_pods_as_it_runs_at_a_time(
    version: str, kind: str, spec: Document, replicas: int
) -> None:
    workload = admission(templated(version, kind, pod(CLAIM)["spec"], **spec)).object
    assert isinstance(workload, Workload)
    assert workload.replicas == replicas


def test_requests_and_limits_are_each_container_s() -> None:
    workload = admission(asking(limits={GPU: 1}, requests={"memory": "1024Mi"})).object
    assert isinstance(workload, Workload)
    assert {name: dict(asked.requests or {}) for name, asked in workload.limits.items()} == {"m": {GPU: "1"}}
    assert {name: dict(asked.requests or {}) for name, asked in workload.requests.items()} == {
        "m": {"memory": "1Gi"}
    }


@pytest.mark.parametrize("version", ["extensions/v1beta1", "apps/v1beta2"])
def test_workloads_of_other_groups_and_versions_are_none_of_our_business(version: str) -> None:
    assert admit(templated(version, "Deployment", pod(CLAIM)["spec"]), Target.V1_37) is None


@pytest.mark.parametrize("spec", [EMPTY, None, "x", {"containers": ["x"]}, {"containers": {"a": "b"}}])
def test_a_workload_without_claims_is_none_of_our_business(spec: object) -> None:
    assert admit({"apiVersion": "v1", "kind": "Pod", "spec": spec}, Target.V1_37) is None


def test_a_misspelt_list_of_claims_is_an_unknown_field() -> None:
    document = pod(resourceClaim=[CLAIM])
    assert admission(document).problems[0].message == 'unknown field "spec.resourceClaim"'
    assert "Did you mean resourceClaims?" in admission(document).problems[0].remedy
