"""Limits on GPUs, and admin access."""

import pytest
from harness import ADVISORY, UNKNOWN, Resource, run
from resources import TEMPLATE, claim, deployment, namespace, pod, pod_spec, template

from policies.admin import ADMIN_ACCESS
from policies.limits import GPUS_PER_CLAIM, GPUS_PER_STACK

FOUR = {"maximum": 4}


def test_without_a_maximum_there_is_no_limit() -> None:
    assert run(GPUS_PER_CLAIM, [claim(count=32)]) == []
    assert run(GPUS_PER_STACK, [claim(count=32)]) == []
    assert run(GPUS_PER_CLAIM, [claim(count=UNKNOWN)]) == run(GPUS_PER_STACK, [claim(count=UNKNOWN)]) == []


def test_a_claim_up_to_the_maximum_passes_and_one_above_is_told() -> None:
    assert run(GPUS_PER_CLAIM, [claim(count=4)], FOUR) == []
    (said,) = run(GPUS_PER_CLAIM, [claim(count=5)], FOUR)
    assert said.startswith(
        "ResourceClaim team/gpu: spec.devices.requests: asks for 5 devices, and a claim may have 4."
    )


def test_all_is_no_number() -> None:
    (said,) = run(GPUS_PER_CLAIM, [claim(allocationMode="All")], FOUR)
    assert "asks for all devices that match, which nothing bounds" in said


def test_only_the_classes_of_the_settings_count() -> None:
    nics = claim(count=8, deviceClassName="nic.example.com")
    assert run(GPUS_PER_CLAIM, [nics], FOUR | {"deviceClasses": ["gpu.*", "mig.*"]}) == []
    assert len(run(GPUS_PER_CLAIM, [nics], FOUR)) == 1


def test_an_unknown_count_is_not_taken_for_one() -> None:
    (said,) = run(GPUS_PER_CLAIM, [claim(count=UNKNOWN)], FOUR)
    assert "exactly.count is not known before the update" in said
    (note,) = run(GPUS_PER_STACK, [claim(count=UNKNOWN)], FOUR | {"unknownValues": "warn"})
    assert note.startswith(ADVISORY)


@pytest.mark.parametrize("maximum", [-1, "4", 4.5, True])
def test_a_maximum_is_a_whole_number(maximum: object) -> None:
    (said,) = run(GPUS_PER_CLAIM, [claim()], {"maximum": maximum})
    assert said.startswith("The settings of this policy are wrong, so nothing is judged. maximum is ")


def test_a_stack_counts_claims_once_templates_by_pod_and_counted_gpus() -> None:
    resources = [
        claim("shared", count=2),
        template("each", count=1),
        deployment(pod_spec({"nvidia.com/gpu": "1"}, a="shared", b=f"{TEMPLATE}each"), replicas=3),
        template("unused", count=8),
    ]
    # 2 shared, 3 pods with a claim of 1 each, 3 pods with 1 counted GPU each.
    assert run(GPUS_PER_STACK, resources, {"maximum": 8}) == []
    (said,) = run(GPUS_PER_STACK, resources, {"maximum": 7})
    assert said == (
        "The stack asks for 8 GPUs, and a stack may have 7. Ask for fewer, or have the limit raised."
    )


def test_unknown_replicas_are_not_taken_for_one() -> None:
    (said,) = run(GPUS_PER_STACK, [deployment(pod_spec({"nvidia.com/gpu": 1}), replicas=UNKNOWN)], FOUR)
    assert "Deployment team/work: cannot be judged at preview: spec.replicas is not known" in said


ADMIN = claim("monitor", adminAccess=True, allocationMode="All", namespace="ops")
LABEL = {"resource.kubernetes.io/admin-access": "true"}
OPS = {"namespaces": ["ops"]}


def test_admin_access_is_allowed_nowhere_by_default() -> None:
    (said,) = run(ADMIN_ACCESS, [ADMIN, namespace("ops", LABEL)])
    assert "admin access is not allowed in namespace ops; where it is: none" in said


def test_admin_access_in_a_labelled_namespace_of_the_list_passes() -> None:
    assert run(ADMIN_ACCESS, [ADMIN, namespace("ops", LABEL)], OPS) == []


def test_a_namespace_of_the_list_needs_its_label() -> None:
    (said,) = run(ADMIN_ACCESS, [ADMIN, namespace("ops")], OPS)
    assert "admin-access: true` label" in said
    (said,) = run(ADMIN_ACCESS, [ADMIN], OPS)
    assert "namespace ops is not in the stack, which hides its label" in said


def test_claims_without_admin_access_may_be_anywhere() -> None:
    assert run(ADMIN_ACCESS, [claim(), claim("no", adminAccess=False), pod()]) == []


def test_an_unknown_namespace_or_label_does_not_pass() -> None:
    nowhere = claim("monitor", adminAccess=True, namespace=UNKNOWN)
    (said,) = run(ADMIN_ACCESS, [nowhere], OPS)
    assert "metadata.namespace is not known before the update" in said
    labels = namespace("ops", {"resource.kubernetes.io/admin-access": UNKNOWN})
    assert "cannot be judged" in run(ADMIN_ACCESS, [ADMIN, labels], OPS)[0]


def test_a_namespace_of_the_stack_is_found_by_dependency() -> None:
    ops = namespace("ops", LABEL)
    monitor = Resource(
        ADMIN.inputs | {"metadata": {"name": "monitor", "namespace": UNKNOWN}}, depends={"metadata": [ops]}
    )
    assert run(ADMIN_ACCESS, [ops, monitor], OPS) == []
