"""How many devices a claim can get."""

import pytest

from dra.claim import DeviceClaim, DeviceRequest, ResourceClaimSpec
from dra.demand import asks_for_admin_access, devices_asked


def claim(*requests: dict[str, object]) -> ResourceClaimSpec:
    made = [
        DeviceRequest.model_validate({"name": f"r{number}"} | request, strict=False)
        for number, request in enumerate(requests)
    ]
    return ResourceClaimSpec(devices=DeviceClaim(requests=made))


GPU = {"deviceClassName": "gpu"}
ALTERNATIVES = [{"name": "big", **GPU, "count": 1}, {"name": "small", "deviceClassName": "mig", "count": 4}]


@pytest.mark.parametrize(
    ("requests", "most"),
    [
        ([], 0),
        ([{"exactly": GPU}], 1),
        ([{"exactly": GPU | {"count": 2}}, {"exactly": GPU | {"count": 3}}], 5),
        ([{"exactly": GPU | {"allocationMode": "All"}}], None),
        ([{"exactly": {"deviceClassName": "nic", "allocationMode": "All"}}, {"exactly": GPU}], 1),
        ([{"firstAvailable": ALTERNATIVES}], 4),
        ([{"exactly": GPU | {"adminAccess": True, "allocationMode": "All"}}], 0),
    ],
)
def test_the_most_that_a_claim_can_get(requests: list[dict[str, object]], most: int | None) -> None:
    assert devices_asked(claim(*requests), lambda name: name != "nic") == most


def test_admin_access_of_any_request_is_admin_access() -> None:
    assert asks_for_admin_access(claim({"exactly": GPU}, {"exactly": GPU | {"adminAccess": True}}))
    assert not asks_for_admin_access(claim({"exactly": GPU | {"adminAccess": False}}, {"firstAvailable": []}))
