"""MIG partitions of an A100 as devices that draw on the counters of their GPU.

Profiles, their ids and where they may start are NVIDIA's (MIG user guide, A100-SXM4-40GB); names and counters
are those of its DRA driver with DynamicMIG (kubernetes-sigs/dra-driver-nvidia-gpu, partitions.go).
"""

import uuid

from dra.device import (
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
)
from dra.model import Model

PRODUCT = "NVIDIA A100-SXM4-40GB"
MEMORY_SLICES = 8
MULTIPROCESSORS = 98
_PER_COMPUTE_SLICE = 14


class MigProfile(Model):
    """`compute` of 7 slices and `memory` of 8, at one of the memory slices `starts`."""

    name: str
    id: int
    compute: int
    memory: int
    capacity: str
    starts: tuple[int, ...]


A100_PROFILES = (
    MigProfile(name="1g.5gb", id=19, compute=1, memory=1, capacity="4864Mi", starts=tuple(range(7))),
    MigProfile(name="2g.10gb", id=14, compute=2, memory=2, capacity="9856Mi", starts=(0, 2, 4)),
    MigProfile(name="3g.20gb", id=9, compute=3, memory=4, capacity="19968Mi", starts=(0, 4)),
    MigProfile(name="4g.20gb", id=5, compute=4, memory=4, capacity="19968Mi", starts=(0,)),
    MigProfile(name="7g.40gb", id=0, compute=7, memory=8, capacity="40192Mi", starts=(0,)),
)


def counter_set(gpu: int) -> CounterSet:
    """Return what the partitions of a GPU draw on."""
    slices = {f"memory-slice-{index}": Counter(value="1") for index in range(MEMORY_SLICES)}
    return CounterSet(
        name=f"gpu-{gpu}-counter-set",
        counters={"multiprocessors": Counter(value=str(MULTIPROCESSORS)), **slices},
    )


def partitioned(gpu: Device, index: int, node: str) -> list[Device]:
    """Return a GPU as a whole and all its possible partitions: any of them, as long as counters last."""
    whole = gpu.model_copy(
        update={"consumes_counters": [_consumption(index, MULTIPROCESSORS, range(MEMORY_SLICES))]}
    )
    parent = f"GPU-{uuid.uuid5(uuid.NAMESPACE_URL, f'{node}/{gpu.name}')}"
    return [
        whole,
        *[
            _partition(gpu, index, parent, profile, start)
            for profile in A100_PROFILES
            for start in profile.starts
        ],
    ]


def _partition(gpu: Device, index: int, parent: str, profile: MigProfile, start: int) -> Device:
    processors = profile.compute * _PER_COMPUTE_SLICE
    return Device(
        name=f"{gpu.name}-mig-{profile.name.replace('.', '')}-{profile.id}-{start}",
        attributes=dict(gpu.attributes)
        | {
            "type": DeviceAttribute(string="mig"),
            "profile": DeviceAttribute(string=profile.name),
            "parentUUID": DeviceAttribute(string=parent),
        },
        capacity={
            "memory": DeviceCapacity(value=profile.capacity),
            "multiprocessors": DeviceCapacity(value=str(processors)),
        },
        consumes_counters=[_consumption(index, processors, range(start, start + profile.memory))],
    )


def _consumption(gpu: int, processors: int, slices: range) -> DeviceCounterConsumption:
    taken = {f"memory-slice-{index}": Counter(value="1") for index in slices}
    return DeviceCounterConsumption(
        counter_set=f"gpu-{gpu}-counter-set",
        counters={"multiprocessors": Counter(value=str(processors)), **taken},
    )
