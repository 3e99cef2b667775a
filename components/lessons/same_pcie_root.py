"""A GPU and a network card at one PCIe root, from two drivers."""

import pulumi

from components.expectation import ClaimOutcome, ClaimState
from components.lesson import Lesson
from components.lessons.requests import claim_of, exactly, matching
from components.pods import PodArgs
from dra.claim import DeviceClassSpec, selector
from dra.device import Device, DeviceAttribute
from dra.pool import PCIE_ATTRIBUTE

NIC_DRIVER = "dra.net"
"""DRANET's, whose cards these are like (kubernetes-sigs/dranet)."""
PCIE_ROOTS = ("pci0000:00", "pci0000:10", "pci0000:20")
"""Two GPUs are at the first, two at the second, none at the third; a card is at each."""


def nic(index: int, pcie_root: str) -> Device:
    """Return a network card as its driver publishes it."""
    return Device(
        name=f"nic-{index}",
        attributes={
            "ifName": DeviceAttribute(string=f"eth{index + 1}"),
            "rdma": DeviceAttribute(bool_=True),
            PCIE_ATTRIBUTE: DeviceAttribute(string=pcie_root),
        },
    )


class SamePcieRoot(Lesson):
    """A node with four H100 and three network cards, and claims of one of each."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpulab:lessons:SamePcieRoot", name, opts)
        self.device_class(
            NIC_DRIVER, DeviceClassSpec(selectors=[selector(f"device.driver == '{NIC_DRIVER}'")])
        )
        node = self.node("same-pcie-root-node")
        self.gpus(node, "NVIDIA H100 80GB HBM3", 4)
        self.devices(node, [nic(index, root) for index, root in enumerate(PCIE_ROOTS)], NIC_DRIVER)

        both = (
            exactly("gpu"),
            exactly("nic", of=NIC_DRIVER, where=f"device.attributes['{NIC_DRIVER}'].rdma"),
        )
        near = claim_of(*both, constraints=[matching(PCIE_ATTRIBUTE, "gpu", "nic")])
        running = [
            self.running(what, after=[self.pod(what, PodArgs(claims={"both": self.claim(what, near)}))])
            for what in ("near-a", "near-b")
        ]
        for what, spec in {"near-c": near, "anywhere": claim_of(*both)}.items():
            self.pod(what, PodArgs(claims={"both": self.claim(what, spec)}), after=running)
        self.expectations = [
            *[
                ClaimOutcome(
                    step=f"{which} GPU with a card beside it",
                    namespace=name,
                    name=what,
                    state=ClaimState.ALLOCATED,
                    devices=2,
                    same=PCIE_ATTRIBUTE,
                )
                for what, which in {"near-a": "a", "near-b": "another"}.items()
            ],
            ClaimOutcome(
                step="a third, with two GPUs and one card left",
                namespace=name,
                name="near-c",
                state=ClaimState.NO_MATCH,
                because="cannot allocate all claims",
            ),
            ClaimOutcome(
                step="the same without the constraint",
                namespace=name,
                name="anywhere",
                state=ClaimState.ALLOCATED,
                devices=2,
                distinct=PCIE_ATTRIBUTE,
            ),
        ]
        self.register_outputs({"placed": self.placed})
