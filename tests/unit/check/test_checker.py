"""What the checker makes of documents together: verdicts, whose findings they are, what joins in."""

import textwrap

import pytest

from dra.checker import check, read_inventory
from dra.document import Document, parse_documents
from dra.finding import Checked, Verdict
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import Node, ObjectMeta
from dra.pool import GpuPool, Mechanism

POOL = GpuPool(
    name="a100",
    product="NVIDIA A100-SXM4-40GB",
    count=4,
    numa_nodes=2,
    mechanism=Mechanism.CLAIMED,
    nodes=["n1", "n2"],
)
INVENTORY = Inventory.of_pools([POOL])


def claim(name: str = "gpu", count: int = 1, more: str = "", kind: str = "ResourceClaim") -> str:
    spec = textwrap.dedent(f"""\
        devices:
          requests:
          - name: gpu
            exactly: {{deviceClassName: gpu.nvidia.com, count: {count}}}
        """)
    spec += textwrap.indent(textwrap.dedent(more), "  ")
    if kind == "ResourceClaimTemplate":
        spec = "spec:\n" + textwrap.indent(spec, "  ")
    return (
        f"apiVersion: resource.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n"
        + textwrap.indent(spec, "  ")
    )


def pod(name: str, *references: str, node: str | None = None) -> str:
    listed = "\n".join(f"  - {{name: c{index}, {each}}}" for index, each in enumerate(references))
    used = ", ".join(f"{{name: c{index}}}" for index in range(len(references)))
    on = f"  nodeSelector: {{kubernetes.io/hostname: {node}}}\n" if node else ""
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n{on}  resourceClaims:\n{listed}\n"
        f"  containers: [{{name: main, image: pause, resources: {{claims: [{used}]}}}}]\n"
    )


def checked(
    *documents: str, inventory: Inventory | None = INVENTORY, target: Target = Target.V1_37
) -> dict[str, Checked]:
    read = list(parse_documents("file.yaml", "---\n".join(documents)))
    return {f"{each.kind}/{each.name}": each for each in check(read, inventory, target)}


def codes_of(each: Checked) -> list[str]:
    return [finding.code for finding in each.findings]


def test_a_claim_alone_gets_a_consumer_and_a_possible_allocation() -> None:
    said = checked(claim(count=2))["ResourceClaim/gpu"]
    assert said.verdict is Verdict.ALLOCATED
    assert said.devices == ["n1/gpu-0 (gpu)", "n1/gpu-1 (gpu)"]
    assert said.findings == []


def test_without_an_inventory_nothing_is_asked_of_the_scheduler() -> None:
    assert checked(claim(count=9), inventory=None)["ResourceClaim/gpu"].verdict is Verdict.ACCEPTED


def test_a_pending_claim_says_where_and_by_how_much() -> None:
    more = "constraints: [{matchAttribute: resource.kubernetes.io/numaNode}]\n"
    said = checked(claim(count=3, more=more))["ResourceClaim/gpu"]
    assert said.verdict is Verdict.PENDING
    (finding,) = said.findings
    assert (finding.code, finding.path, finding.line) == ("DRA301", "spec.devices.constraints[0]", 9)
    assert "3 were asked" in finding.message


def test_a_template_has_its_own_paths() -> None:
    said = checked(claim(count=5, kind="ResourceClaimTemplate"))["ResourceClaimTemplate/gpu"]
    assert said.verdict is Verdict.PENDING
    assert said.findings[0].path.startswith("spec.spec.devices.requests[0]")


def test_the_claims_of_a_pod_must_fit_on_one_node_together() -> None:
    said = checked(claim("a", 3), claim("b", 3), pod("both", "resourceClaimName: a", "resourceClaimName: b"))
    assert said["Pod/both"].verdict is Verdict.PENDING
    assert {said["ResourceClaim/a"].verdict, said["ResourceClaim/b"].verdict} == {Verdict.PENDING}
    assert len([code for each in said.values() for code in codes_of(each)]) == 1


def test_pods_are_judged_alone() -> None:
    said = checked(claim("a", 4), claim("b", 4), claim("c", 4))
    assert {each.verdict for each in said.values()} == {Verdict.ALLOCATED}


def test_a_shared_claim_is_allocated_once_and_holds_its_second_pod_to_its_node() -> None:
    together = [claim("shared", 3), claim("own", 4, kind="ResourceClaimTemplate")]
    first = pod("first", "resourceClaimName: shared")
    second = pod("second", "resourceClaimName: shared", "resourceClaimTemplateName: own")
    said = checked(*together, first, second)
    assert said["ResourceClaim/shared"].devices[0].startswith("n1/")
    assert said["Pod/first"].verdict is Verdict.ALLOCATED
    # Its own claim would need the GPU of n1 that is left, and three more.
    assert said["Pod/second"].verdict is Verdict.PENDING


def test_a_claim_cannot_be_reserved_twice_for_one_pod() -> None:
    twice = pod("twice", "resourceClaimName: a", "resourceClaimName: a")
    said = checked(claim("a"), twice)
    assert said["ResourceClaim/a"].verdict is Verdict.ERROR
    assert said["Pod/twice"].verdict is Verdict.ERROR
    assert [(each.code, each.path) for each in said["Pod/twice"].findings] == [
        ("DRA204", "spec.resourceClaims[1].resourceClaimName")
    ]
    # The scheduler looks for devices first.
    assert checked(claim("a", 5), twice)["Pod/twice"].verdict is Verdict.PENDING
    assert checked(twice)["Pod/twice"].verdict is Verdict.ACCEPTED
    templates = pod("twice", "resourceClaimTemplateName: a", "resourceClaimTemplateName: a")
    said = checked(claim("a", kind="ResourceClaimTemplate"), templates)
    assert said["Pod/twice"].verdict is Verdict.ALLOCATED


def test_a_pod_with_a_node_selector_gets_devices_of_that_node() -> None:
    said = checked(claim(), pod("p", "resourceClaimName: gpu", node="n2"))
    assert said["ResourceClaim/gpu"].devices == ["n2/gpu-0 (gpu)"]
    assert checked(claim(), pod("p", "resourceClaimName: gpu", node="n3"))["Pod/p"].verdict is Verdict.PENDING


@pytest.mark.parametrize(
    ("nodes", "verdict"),
    [
        ([Node(metadata=ObjectMeta(name="n1", labels={"zone": "east"}))], Verdict.PENDING),
        ([Node(metadata=ObjectMeta(name="n1", labels={"zone": "west"}))], Verdict.ALLOCATED),
        ([], Verdict.ALLOCATED),
        (None, Verdict.ALLOCATED),
    ],
    ids=["another", "the one", "slices only", "a made-up pool"],
)
def test_a_label_counts_as_far_as_it_is_known(nodes: list[Node] | None, verdict: Verdict) -> None:
    known = Inventory(nodes or (), [INVENTORY.slices[0]], INVENTORY.classes)
    selecting = pod("p", "resourceClaimName: gpu", node="n1").replace(
        "kubernetes.io/hostname: n1", "zone: west"
    )
    said = checked(claim(), selecting, inventory=INVENTORY if nodes is None else known)
    assert said["Pod/p"].verdict is verdict


@pytest.mark.parametrize("nodes", [(), [Node(metadata=ObjectMeta(name="n1"), unschedulable=True)]])
def test_where_it_is_the_nodes_nobody_is_told_to_ask_for_less(nodes: list[Node]) -> None:
    said = checked(claim(), inventory=Inventory(nodes, classes=INVENTORY.classes))
    assert [each.remedy for each in said["ResourceClaim/gpu"].findings] == [
        "Look at the nodes: at their number and names, and at what holds the pod to some of them."
    ]


def test_a_pod_of_a_refused_claim_waits() -> None:
    said = checked(claim(count=-1), pod("p", "resourceClaimName: gpu"))
    assert said["ResourceClaim/gpu"].verdict is Verdict.REJECTED
    assert said["Pod/p"].verdict is Verdict.PENDING


def test_a_claim_that_nobody_knows_says_nothing_about_its_pod() -> None:
    assert checked(pod("p", "resourceClaimName: elsewhere"))["Pod/p"].verdict is Verdict.ACCEPTED


def test_what_the_documents_have_joins_the_inventory_and_comes_first() -> None:
    other = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: "device.driver == 'other.example.com'"}}]}
"""
    assert checked(claim(), other)["ResourceClaim/gpu"].verdict is Verdict.PENDING


def test_devices_that_claims_of_the_cluster_hold_are_not_free() -> None:
    held = claim("held") + textwrap.dedent("""\
        status:
          allocation:
            devices:
              results:
              - {request: gpu, driver: gpu.nvidia.com, pool: n1, device: gpu-0}
              - {request: gpu, driver: gpu.nvidia.com, pool: n2, device: gpu-0}
        """)
    documents = [each for each in parse_documents("cluster", held) if isinstance(each, Document)]
    inventory, _, wrong = read_inventory(documents, Target.V1_37)
    assert wrong == []
    full = Inventory(
        nodes=INVENTORY.nodes, slices=INVENTORY.slices, classes=INVENTORY.classes, claims=inventory.claims
    )
    assert checked(claim(count=4), inventory=full)["ResourceClaim/gpu"].verdict is Verdict.PENDING
    assert checked(claim(count=3), inventory=full)["ResourceClaim/gpu"].verdict is Verdict.ALLOCATED


@pytest.mark.parametrize(
    ("selector", "code"),
    [
        ("device.attributes['gpu.nvidia.com'].nothing == 1", "DRA201"),
        ("device.capacity['gpu.nvidia.com'].memory > 1", "DRA106"),
    ],
)
def test_a_selector_that_fails_has_its_code(selector: str, code: str) -> None:
    text = claim().replace("count: 1", f'selectors: [{{cel: {{expression: "{selector}"}}}}]')
    said = checked(text)["ResourceClaim/gpu"]
    assert codes_of(said) == [code]
    assert said.verdict in {Verdict.ERROR, Verdict.REJECTED}


def test_a_missing_class_has_its_code() -> None:
    text = claim().replace("deviceClassName: gpu.nvidia.com", "deviceClassName: none")
    assert codes_of(checked(text)["ResourceClaim/gpu"]) == ["DRA202"]


def test_a_key_given_twice_is_refused() -> None:
    said = checked(claim().replace("count: 1", "count: 1, count: 2"))["ResourceClaim/gpu"]
    assert (said.verdict, codes_of(said)) == (Verdict.REJECTED, ["DRA002"])


def test_a_field_that_the_target_drops_is_a_warning() -> None:
    text = claim().replace("count: 1", "tolerations: [{operator: Exists}]")
    assert codes_of(checked(text, target=Target.V1_34)["ResourceClaim/gpu"]) == ["DRA406"]
    assert codes_of(checked(text)["ResourceClaim/gpu"]) == []


def test_what_is_not_about_claims_passes_by() -> None:
    others = [
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: 1, a: 2}\n",
        "apiVersion: v1\nkind: Node\nmetadata: {name: 5}\nstatus: {allocatable: [1]}\n",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: n1}\n",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: many}\n",
        "apiVersion: [1]\nkind: {}\n",
        "replicas: 1\n",
    ]
    assert checked(*others) == {}


ADMIN = claim().replace("count: 1", "adminAccess: true")
LABELLED = """\
apiVersion: v1
kind: Namespace
metadata: {name: admins, labels: {resource.kubernetes.io/admin-access: "true"}}
"""


def test_admin_access_needs_a_namespace_that_is_known_to_allow_it() -> None:
    assert codes_of(checked(ADMIN)["ResourceClaim/gpu"]) == ["DRA108"]
    named = ADMIN.replace("{name: gpu}", "{name: gpu, namespace: admins}")
    assert checked(LABELLED, named)["ResourceClaim/gpu"].verdict is Verdict.ALLOCATED
    # A file with one namespace is applied to that one.
    assert checked(LABELLED, ADMIN)["ResourceClaim/gpu"].verdict is Verdict.ALLOCATED
    read = list(parse_documents("file.yaml", named))
    labels = {"admins": {"resource.kubernetes.io/admin-access": "true"}}
    assert check(read, INVENTORY, Target.V1_37, labels)[0].verdict is Verdict.ALLOCATED


def test_what_cannot_be_read_keeps_its_place() -> None:
    read = list(parse_documents("file.yaml", f"{claim('a')}---\nb: [\n---\n{claim('c')}"))
    assert [each.verdict.value for each in check(read, INVENTORY, Target.V1_37)] == [
        "allocated",
        "unreadable",
        "allocated",
    ]


def test_an_inventory_that_is_wrong_is_told() -> None:
    slices = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: a.b}\n"
    inventory, _, wrong = read_inventory(list(parse_documents("inventory.yaml", slices)), Target.V1_37)
    assert inventory.slices == []
    assert [each.verdict for each in wrong] == [Verdict.REJECTED]
