"""Pools, devices and claims as plain values, spelt as the API spells them."""

from typing import Any

import pytest
from pydantic import ValidationError

from dra.claim import DeviceClassSpec, DeviceRequest, ExactDeviceRequest, ResourceClaimSpec, selector
from dra.device import DeviceAttribute
from dra.pool import GpuPool, Mechanism
from dra.product import PRODUCTS

NUMA = "resource.kubernetes.io/numaNode"
PCIE = "resource.kubernetes.io/pcieRoot"


def pool(**values: Any) -> GpuPool:  # noqa: ANN401 - the fields of GpuPool
    plain: dict[str, Any] = {"name": "p", "product": "NVIDIA T4", "count": 4, "nodes": ["n"]}
    return GpuPool(**(plain | values))


def test_a_device_is_what_the_driver_would_publish() -> None:
    device = pool(product="NVIDIA H100 80GB HBM3", count=1).devices()[0].document()
    assert device == {
        "name": "gpu-0",
        "attributes": {
            "type": {"string": "gpu"},
            "productName": {"string": "NVIDIA H100 80GB HBM3"},
            "brand": {"string": "Nvidia"},
            "architecture": {"string": "Hopper"},
            "cudaComputeCapability": {"version": "9.0.0"},
            "driverVersion": {"version": "580.126.20"},
            "cudaDriverVersion": {"version": "13.0.0"},
            NUMA: {"int": 0},
            PCIE: {"string": "pci0000:00"},
        },
        "capacity": {"memory": {"value": "80Gi"}},
    }


@pytest.mark.parametrize(
    ("numa_nodes", "expected"), [(1, [0, 0, 0, 0]), (2, [0, 0, 1, 1]), (4, [0, 1, 2, 3])]
)
def test_gpus_share_out_over_numa_nodes_in_order(numa_nodes: int, expected: list[int]) -> None:
    devices = pool(numa_nodes=numa_nodes).devices()
    assert [device.attributes[NUMA].int_ for device in devices] == expected


def test_two_gpus_share_a_pcie_root_and_each_has_its_name() -> None:
    devices = pool().devices()
    roots = [device.attributes[PCIE].string for device in devices]
    assert roots == ["pci0000:00", "pci0000:00", "pci0000:10", "pci0000:10"]
    assert [device.name for device in devices] == ["gpu-0", "gpu-1", "gpu-2", "gpu-3"]


@pytest.mark.parametrize(("memory", "mib"), [(None, 16 * 1024), ("8Gi", 8192), ("512Mi", 512)])
def test_memory_is_the_product_s_unless_the_pool_says_otherwise(memory: str | None, mib: int) -> None:
    one = pool(memory=memory)
    assert one.gpu_memory_mib == mib
    assert one.devices()[0].capacity["memory"].value == (memory or "16Gi")


@pytest.mark.parametrize("product", sorted(PRODUCTS))
def test_every_product_makes_devices(product: str) -> None:
    one = pool(product=product, count=128)
    assert len({device.name for device in one.devices()}) == 128
    assert one.gpu_memory_mib > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 0},
        {"count": 129},
        {"count": True},
        {"count": "4"},
        {"numa_nodes": 3},
        {"memory": "0Gi"},
        {"memory": "16GB"},
        {"product": "NVIDIA-T4"},
        {"mechanism": "both"},
        {"nodes": []},
        {"nodes": ["a.b"]},
        {"name": "x" * 64},
        {"colour": "red"},
    ],
)
def test_a_wrong_pool_cannot_be_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        pool(**wrong)


def test_a_pool_is_counted_unless_it_says_otherwise_and_does_not_change() -> None:
    one = pool()
    assert one.mechanism is Mechanism.COUNTED
    assert pool(mechanism="claimed").mechanism is Mechanism.CLAIMED
    with pytest.raises(ValidationError, match="frozen"):
        one.count = 5  # pyright: ignore[reportAttributeAccessIssue] - that is the point


@pytest.mark.parametrize("value", [{"int": 0}, {"bool": False}, {"string": ""}, {"version": "1.0.0"}])
def test_an_attribute_s_empty_values_are_values(value: dict[str, Any]) -> None:
    assert DeviceAttribute.model_validate(value).document() == value


def test_a_claim_is_read_and_written_in_the_api_s_spelling() -> None:
    document = {
        "devices": {
            "requests": [
                {
                    "name": "gpu",
                    "exactly": {
                        "deviceClassName": "c",
                        "selectors": [{"cel": {"expression": "true"}}],
                        "allocationMode": "All",
                    },
                }
            ],
            "constraints": [{"requests": ["gpu"], "matchAttribute": "a/b"}],
        }
    }
    assert ResourceClaimSpec.model_validate(document).document() == document


def test_what_is_not_set_is_left_out() -> None:
    request = DeviceRequest(name="gpu", exactly=ExactDeviceRequest(device_class_name="c"))
    assert request.document() == {"name": "gpu", "exactly": {"deviceClassName": "c"}}
    spec = DeviceClassSpec(selectors=[selector("x")], extended_resource_name="e.com/gpu")
    assert spec.document() == {
        "selectors": [{"cel": {"expression": "x"}}],
        "extendedResourceName": "e.com/gpu",
    }
