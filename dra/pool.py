"""Node pools of simulated GPUs: the one description that the chart, the nodes and a checker start from."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from dra.device import Device, DeviceAttribute, DeviceCapacity
from dra.model import Model
from dra.product import PRODUCTS

POOL_LABEL = "run.ai/simulated-gpu-node-pool"
"""The node label that gives a node the GPUs of a pool (fake-gpu-operator, topology.nodePoolLabelKey)."""

GPU_DRIVER = "gpu.nvidia.com"
GPU_RESOURCE = "nvidia.com/gpu"
NUMA_ATTRIBUTE = "resource.kubernetes.io/numaNode"
PCIE_ATTRIBUTE = "resource.kubernetes.io/pcieRoot"

MAX_DEVICES = 128
"""Devices that one ResourceSlice may hold (API reference of resource.k8s.io/v1)."""

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_GPUS_PER_PCIE_ROOT = 2
_MIB = {"Mi": 1, "Gi": 1024}


class Mechanism(StrEnum):
    """How a pool's GPUs are given out. Both on one node would sell every GPU twice."""

    COUNTED = "counted"
    """By the device plugin's counter, `nvidia.com/gpu` in the node's status."""
    CLAIMED = "claimed"
    """By Dynamic Resource Allocation, from the node's ResourceSlice."""


class GpuPool(Model):
    """GPUs of one product on each of a pool's nodes. `memory` is one GPU's, such as `40Gi`."""

    name: str
    product: str
    count: Annotated[int, Field(ge=1, le=MAX_DEVICES)]
    mechanism: Annotated[Mechanism, Field(strict=False)] = Mechanism.COUNTED
    memory: str | None = None
    numa_nodes: Annotated[int, Field(ge=1, le=64)] = 1
    nodes: Annotated[Sequence[str], Field(min_length=1)]

    @field_validator("name")
    @classmethod
    def _name_is_a_label(cls, name: str) -> str:
        return _dns_label(name)

    @field_validator("memory")
    @classmethod
    def _memory_is_a_quantity(cls, memory: str | None) -> str | None:
        if memory is not None and not re.fullmatch(r"[1-9][0-9]*(Mi|Gi)", memory):
            raise ValueError("it should be a whole number of Mi or Gi, such as 40Gi")
        return memory

    @field_validator("nodes")
    @classmethod
    def _nodes_are_labels(cls, nodes: Sequence[str]) -> Sequence[str]:
        return [_dns_label(node) for node in nodes]

    @field_validator("product")
    @classmethod
    def _product_is_known(cls, product: str) -> str:
        if product not in PRODUCTS:
            raise ValueError(f"the known products are: {', '.join(sorted(PRODUCTS))}")
        return product

    @model_validator(mode="after")
    def _numa_nodes_share_evenly(self) -> Self:
        if self.count % self.numa_nodes:
            raise ValueError(f"{self.count} GPUs do not share out evenly over {self.numa_nodes} NUMA nodes")
        return self

    @property
    def gpu_memory(self) -> str:
        """One GPU's memory as a quantity."""
        return self.memory or PRODUCTS[self.product].memory

    @property
    def gpu_memory_mib(self) -> int:
        """One GPU's memory in MiB."""
        return int(self.gpu_memory[:-2]) * _MIB[self.gpu_memory[-2:]]

    def devices(self) -> list[Device]:
        """Return one node's devices as NVIDIA's DRA driver names them, without the node's own `uuid`."""
        return [self._device(index) for index in range(self.count)]

    def _device(self, index: int) -> Device:
        product = PRODUCTS[self.product]
        root = index // _GPUS_PER_PCIE_ROOT
        return Device(
            name=f"gpu-{index}",
            attributes={
                "type": DeviceAttribute(string="gpu"),
                "productName": DeviceAttribute(string=self.product),
                "brand": DeviceAttribute(string="Nvidia"),
                "architecture": DeviceAttribute(string=product.architecture),
                "cudaComputeCapability": DeviceAttribute(version=product.compute_capability),
                "driverVersion": DeviceAttribute(version=product.driver),
                "cudaDriverVersion": DeviceAttribute(version=product.cuda),
                NUMA_ATTRIBUTE: DeviceAttribute(int_=index * self.numa_nodes // self.count),
                PCIE_ATTRIBUTE: DeviceAttribute(string=f"pci{root // 16:04x}:{root % 16 * 16:02x}"),
            },
            capacity={"memory": DeviceCapacity(value=self.gpu_memory)},
        )


def _dns_label(name: str) -> str:
    if not _DNS_LABEL.fullmatch(name):
        raise ValueError("a name has 1 to 63 lower-case letters, digits and '-', and no '-' at its ends")
    return name
