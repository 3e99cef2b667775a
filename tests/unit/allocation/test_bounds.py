"""The search ends, and soon, whatever it is asked."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from scenes import (
    DRIVER,
    NUMA,
    alternatives,
    claim,
    device,
    devices_of,
    gpus,
    outcome,
    request,
    slice_of,
    why,
)

from dra.allocation import Allocated, Failed, Unsatisfied, allocate
from dra.device import DeviceAttribute
from dra.gates import Target
from dra.inventory import Inventory
from dra.objects import ResourceSlice
from dra.pool import GpuPool, Mechanism

PRODUCT = 'device.attributes["gpu.nvidia.com"].productName'


@contextmanager
def within(seconds: float) -> Generator[None]:
    """Fail if more of this process's own time goes by: other load on the machine does not count."""
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


def with_uuids(each: ResourceSlice) -> ResourceSlice:
    devices = [
        one.model_copy(
            update={
                "attributes": {
                    **one.attributes,
                    "uuid": DeviceAttribute(string=f"GPU-{each.metadata.name}-{one.name}"),
                }
            }
        )
        for one in each.spec.devices or ()
    ]
    return each.model_copy(update={"spec": each.spec.model_copy(update={"devices": devices})})


def simulated(nodes: int, count: int) -> Inventory:
    pool = GpuPool(
        name="pool",
        product="NVIDIA H100 80GB HBM3",
        count=count,
        numa_nodes=2,
        mechanism=Mechanism.CLAIMED,
        nodes=[f"node-{number}" for number in range(nodes)],
    )
    plain = Inventory.of_pools([pool])
    return Inventory(plain.nodes, [with_uuids(each) for each in plain.slices], plain.classes)


def test_a_hundred_claims_against_eight_thousand_devices_take_three_seconds() -> None:
    inventory = simulated(1000, 8)
    match = [{"matchAttribute": NUMA}]
    asked = [request(cls="gpu.nvidia.com", count=1 + n % 9, cel=[f'{PRODUCT} != "{n}"']) for n in range(100)]
    with within(3):
        results = [
            allocate([claim(each, constraints=match if n % 2 else ())], inventory, Target.V1_37)
            for n, each in enumerate(asked)
        ]
    assert {type(each) for each in results} == {Allocated, Unsatisfied}


def test_a_thousand_claims_against_twelve_devices_take_a_second() -> None:
    inventory = simulated(1, 12)
    claims = [
        claim(request(cls="gpu.nvidia.com", count=1 + n % 14, cel=[f'{PRODUCT} != "{n % 50}"']))
        for n in range(1000)
    ]
    with within(1):
        results = [allocate([each], inventory, Target.V1_37) for each in claims]
    assert {type(each) for each in results} == {Allocated, Unsatisfied}


def test_devices_that_are_alike_are_not_tried_in_every_order() -> None:
    there = slice_of("node", [device(f"gpu-{i}", {"group": i % 7, "serial": i}) for i in range(60)])
    with within(1):
        result = outcome(
            claim(request(count=8), constraints=[{"distinctAttribute": f"{DRIVER}/group"}]), there
        )
    assert why(result) == (
        f"node: 60 devices are of class any, there are 7 different {DRIVER}/group, 8 were asked"
    )


def test_a_claim_that_fails_alone_is_not_looked_for_beside_all_choices_for_others() -> None:
    there = slice_of("node", [device(f"gpu-{i}", {"serial": i, NUMA: i % 4}) for i in range(40)])
    claims = [
        claim(request(count=8), name="easy", constraints=[{"distinctAttribute": f"{DRIVER}/serial"}]),
        claim(request(count=11), name="hard", constraints=[{"matchAttribute": NUMA}]),
    ]
    with within(1):
        result = outcome(claims, there)
    assert isinstance(result, Unsatisfied)
    assert result.claim == "hard"


def test_a_search_that_takes_too_long_ends_as_the_schedulers_does() -> None:
    # 32 requests for devices that differ, and 31 devices: the scheduler's search is cut short after 10 s.
    there = slice_of("node", [device(f"gpu-{i}", {"serial": i}) for i in range(31)])
    requests = [request(f"gpu-{i}") for i in range(32)]
    with within(5):
        result = outcome(claim(*requests, constraints=[{"distinctAttribute": f"{DRIVER}/serial"}]), there)
    assert result == Failed(
        "claim", "", "node node: timed out trying to allocate devices", possible_otherwise=True
    )


def test_many_alternatives_end() -> None:
    each = [alternatives(f"r{i}", *({"name": f"a{j}", "count": 4} for j in range(8))) for i in range(8)]
    with within(5):
        assert isinstance(outcome(claim(*each), slice_of("node", gpus(31))), Failed)


def test_a_pod_with_more_claims_than_python_has_stack_gets_its_devices() -> None:
    claims = [claim(request(count=32), name=f"claim-{i}") for i in range(40)]
    parts = [gpus(1280)[start : start + 128] for start in range(0, 1280, 128)]
    slices = [slice_of("node", part, name=f"part-{i:02}", count=len(parts)) for i, part in enumerate(parts)]
    with within(5):
        result = outcome(claims, *slices)
    assert devices_of(result, "claim-39")[-1] == "gpu-1279"
