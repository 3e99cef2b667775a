"""Advice beyond the pages' examples: when it is given, and when it is not."""

import pytest

from dra.checker import check
from dra.document import parse_documents
from dra.finding import Checked
from dra.gates import Target
from dra.inventory import Inventory
from dra.pool import GpuPool, Mechanism

POOL = GpuPool(
    name="a100", product="NVIDIA A100-SXM4-40GB", count=2, mechanism=Mechanism.CLAIMED, nodes=["n1"]
)
INVENTORY = Inventory.of_pools([POOL])
A = "device.attributes['gpu.nvidia.com']"
C = "device.capacity['gpu.nvidia.com']"


GPU_CLASS = (
    "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.nvidia.com}\n"
    "spec: {selectors: [{cel: {expression: \"device.driver == 'gpu.nvidia.com'\"}}]}\n---\n"
)


def check_all(text: str, inventory: Inventory | None = None) -> list[Checked]:
    return check(list(parse_documents("file.yaml", text)), inventory, Target.V1_37)


def codes(text: str, inventory: Inventory | None = None) -> list[str]:
    return [finding.code for each in check_all(text, inventory) for finding in each.findings]


def selecting(expression: str) -> str:
    return (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: gpu}\nspec:\n  devices:\n"
        "    requests:\n    - name: gpu\n      exactly:\n        deviceClassName: gpu.nvidia.com\n"
        f'        selectors: [{{cel: {{expression: "{expression}"}}}}]\n'
    )


@pytest.mark.parametrize(
    ("expression", "with_inventory", "without"),
    [
        (f"{A}.type == 'gpu'", [], []),
        (f"{A}.architecture == 'Ampere'", [], ["DRA402"]),
        (f"has({A}.architecture) && {A}.architecture == 'Ampere'", [], []),
        (f"{A}.?architecture.orValue('') == 'Ampere'", [], []),
        (f"'architecture' in {A} && {A}.architecture == 'Ampere'", [], []),
        ("device.attributes['resource.kubernetes.io'].numaNode == 0", [], ["DRA402"]),
        # It fails today; what it may do one day goes without saying.
        (f"{A}.index == 0", ["DRA201"], ["DRA402"]),
    ],
)
def test_a_key_wants_a_guard_unless_all_devices_have_it(
    expression: str, with_inventory: list[str], without: list[str]
) -> None:
    assert codes(selecting(expression), INVENTORY) == with_inventory
    assert codes(selecting(expression)) == without


def test_what_a_driver_always_publishes_wants_no_guard_where_it_has_no_device() -> None:
    network = (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: e}\nspec: {driver: dra.net, "
        "nodeName: n1, pool: {name: e, generation: 1, resourceSliceCount: 1}, devices: [{name: eth0}]}\n---\n"
    )
    assert codes(network + GPU_CLASS + selecting(f"{A}.type == 'gpu'")) == ["DRA301"]
    assert codes(network + GPU_CLASS + selecting(f"{A}.architecture == 'Ampere'")) == ["DRA301", "DRA402"]


PARTITIONED = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: partitions}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com' && KEYS.type == 'mig'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: gpus}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: gpus, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu, attributes: {type: {string: gpu}, index: {int: 0}}}
  - {name: mig, attributes: {type: {string: mig}, profile: {string: 1g.5gb}}}
---
""".replace("KEYS", A)


@pytest.mark.parametrize(
    ("class_name", "selectors", "is_told"),
    [
        ("partitions", [f"{A}.profile == '1g.5gb'"], False),
        ("partitions", [f"{A}.?profile.hasValue()", f"{A}.profile == '1g.5gb'"], False),
        ("partitions", ["device.allowMultipleAllocations", f"{A}.profile == '1g.5gb'"], True),
        ("partitions", [f"{A}.index == 0"], True),
    ],
)
def test_a_key_wants_no_guard_where_what_comes_before_lets_only_devices_with_it_through(
    class_name: str,
    selectors: list[str],
    is_told: bool,  # noqa: FBT001 - a column of the table
) -> None:
    several = ", ".join(f'{{cel: {{expression: "{each}"}}}}' for each in selectors)
    claim = selecting("true").replace('{cel: {expression: "true"}}', several)
    claim = claim.replace("deviceClassName: gpu.nvidia.com", f"deviceClassName: {class_name}")
    assert ("DRA402" in codes(PARTITIONED + claim) or "DRA201" in codes(PARTITIONED + claim)) is is_told


def test_a_partition_has_a_profile_where_nothing_is_known_of_the_devices() -> None:
    claim = selecting(f"{A}.profile == '1g.5gb'")
    assert codes(claim) == ["DRA402"]
    assert codes(claim.replace("deviceClassName: gpu.nvidia.com", "deviceClassName: mig.nvidia.com")) == []
    assert codes(
        claim.replace("deviceClassName: gpu.nvidia.com", "deviceClassName: mig.nvidia.com"), INVENTORY
    ) == ["DRA202"]


@pytest.mark.parametrize(
    ("expression", "is_strict"),
    [
        (f"{C}.memory.isGreaterThan(quantity('40Gi'))", True),
        (f"{C}.memory.isGreaterThan(quantity('40960Mi'))", True),
        (f"{C}.memory.compareTo(quantity('40Gi')) > 0", True),
        (f"{C}.memory.isLessThan(quantity('40Gi'))", True),
        (f"{A}.cudaComputeCapability.isGreaterThan(semver('8.0.0'))", True),
        (f"{C}.memory.compareTo(quantity('40Gi')) >= 0", False),
        (f"{C}.memory.isGreaterThan(quantity('39Gi'))", False),
        (f"!{C}.memory.isLessThan(quantity('41Gi'))", False),
    ],
)
def test_a_strict_comparison_is_told_where_devices_have_just_that(expression: str, is_strict: bool) -> None:  # noqa: FBT001 - a column of the table
    assert ("DRA404" in codes(selecting(expression), INVENTORY)) is is_strict


def test_a_strict_comparison_says_how_many_devices_it_leaves_out() -> None:
    (said,) = check_all(selecting(f"{C}.memory.isGreaterThan(quantity('40Gi'))"), INVENTORY)
    (finding,) = [finding for finding in said.findings if finding.code == "DRA404"]
    assert "2 devices have exactly that" in finding.message
    assert ">= 0" in finding.remedy


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        ("NVIDIA-A100-SXM4-40GB", True),
        ("nvidia a100-sxm4-40gb", True),
        ("H100", True),
        ("NVIDIA A100-SXM4-40GB", False),
        ("Some Other GPU", False),
        ("NVIDIA H100 PCIe", False),
    ],
)
@pytest.mark.parametrize("form", ["{A}.productName == '{name}'", "{A}.productName in ['x', '{name}']"])
def test_a_product_in_another_spelling_is_told(name: str, form: str, is_told: bool) -> None:  # noqa: FBT001 - a column of the table
    assert ("DRA410" in codes(selecting(form.format(A=A, name=name)))) is is_told


def test_other_capitals_are_fine_where_they_do_not_count() -> None:
    assert "DRA410" not in codes(selecting(f"{A}.productName.lowerAscii() == 'nvidia a100-sxm4-40gb'"))


COUNTS = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: gpu}}
spec:
  devices:
    requests:
    - name: a
      exactly: {{deviceClassName: gpu.nvidia.com, count: {exact}}}
    - name: b
      firstAvailable:
      - {{name: large, deviceClassName: gpu.nvidia.com, count: 30}}
      - {{name: small, deviceClassName: gpu.nvidia.com, count: 2}}
"""


def test_the_sum_of_the_least_counts_is_held_to_the_limit_without_an_inventory_too() -> None:
    assert codes(COUNTS.format(exact=30)) == []
    assert codes(COUNTS.format(exact=31)) == ["DRA203"]


def device_class(expression: str) -> str:
    return (
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.nvidia.com}\n"
        f'spec: {{selectors: [{{cel: {{expression: "{expression}"}}}}]}}\n'
    )


@pytest.mark.parametrize(
    "expression",
    [
        "device.driver == 'gpu.nvidia.com'",
        f"device.driver == 'gpu.nvidia.com' && {A}.type == 'gpu'",
        f"  (device.driver=='gpu.nvidia.com') && {A}.type == 'gpu'",
        f"'gpu.nvidia.com' == device.driver && {A}.type == 'gpu'",
    ],
)
def test_a_class_that_begins_with_its_driver_is_fine(expression: str) -> None:
    assert codes(device_class(expression)) == []


@pytest.mark.parametrize("expression", [f"{A}.type == 'gpu' && device.driver == 'gpu.nvidia.com'", "true"])
def test_a_class_that_does_not_is_told(expression: str) -> None:
    assert codes(device_class(expression)) == ["DRA403"]


def workload(kind: str, replicas: str) -> str:
    return (
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w}}\nspec:\n  {replicas}\n"
        "  template:\n    spec:\n"
        "      resourceClaims: [{name: gpu, resourceClaimName: one}]\n"
        "      containers: [{name: main, image: pause, resources: {claims: [{name: gpu}]}}]\n"
    )


def test_one_claim_is_shared_by_replicas_and_by_the_pods_of_all_nodes() -> None:
    assert codes(workload("Deployment", "replicas: 1")) == []
    assert codes(workload("StatefulSet", "replicas: 2")) == ["DRA407"]
    assert codes(workload("DaemonSet", "updateStrategy: {}")) == ["DRA407"]


def test_slices_of_an_older_generation_do_not_count() -> None:
    def one(name: str, generation: int) -> str:
        return (
            f"apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: {name}}}\nspec:\n"
            f"  driver: gpu.nvidia.com\n  nodeName: n1\n  devices: [{{name: gpu-0}}]\n"
            f"  pool: {{name: n1, generation: {generation}, resourceSliceCount: 1}}\n"
        )

    assert codes(f"{one('old', 1)}---\n{one('new', 2)}") == []
    assert codes(f"{one('one', 2)}---\n{one('other', 2)}") == ["DRA415", "DRA414"] * 2


def test_another_vendors_counter_is_no_second_mechanism() -> None:
    node = "apiVersion: v1\nkind: Node\nmetadata: {{name: n1}}\nstatus: {{allocatable: {{{resource}: 1}}}}\n"
    assert codes(node.format(resource="amd.com/gpu"), INVENTORY) == []
    assert codes(node.format(resource="nvidia.com/gpu"), INVENTORY) == ["DRA408"]
