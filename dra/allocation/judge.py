"""Whether a device is one that a request asks for, whatever else is taken."""

from collections.abc import Mapping
from dataclasses import dataclass

from dra.allocation.candidate import Candidate
from dra.allocation.capacity import lacking
from dra.allocation.held import Held
from dra.allocation.outcome import AllocationError
from dra.allocation.pools import Pool
from dra.allocation.request import Ask
from dra.quantity import Quantity


@dataclass(eq=False)
class Budget:
    """How many steps a search may take before it counts as too long.

    The scheduler gives itself ten seconds for a node (DRASchedulerFilterTimeout).
    """

    steps: int

    def spend(self, steps: int = 1) -> None:
        """Take steps; raises OutOfSteps."""
        self.steps -= steps
        if self.steps < 0:
            raise OutOfSteps


class OutOfSteps(Exception):  # noqa: N818 - not an error of the claim
    """The search was cut short."""


@dataclass(frozen=True, eq=False)
class Spot:
    """A device on a node. Two with the same `likeness` are the same to all requests."""

    pool: Pool
    candidate: Candidate
    here: bool
    likeness: object


class Judge:
    """Puts requests to devices, each once to all devices that are alike to it."""

    def __init__(self, held: Held, *, taints: bool, binding: bool) -> None:
        self.held = held
        self._taints, self._binding = taints, binding
        self._matches: dict[tuple[Ask, object], bool | AllocationError] = {}
        self._takes: dict[tuple[Ask, int], Mapping[str, Quantity] | None] = {}

    def matches(self, ask: Ask, spot: Spot) -> bool | AllocationError:
        """Tell whether a device is one that a request asks for; an error is returned, not raised."""
        key = ask, spot.likeness
        if key not in self._matches:
            self._matches[key] = self._judge(ask, spot)
        return self._matches[key]

    def is_match(self, ask: Ask, spot: Spot) -> bool:
        """Tell the same; raises AllocationError."""
        matches = self.matches(ask, spot)
        if isinstance(matches, AllocationError):
            # The one at hand may have been met on another device, and this one is to be named.
            again = self._judge(ask, spot)
            raise again if isinstance(again, AllocationError) else matches
        return matches

    def _judge(self, ask: Ask, spot: Spot) -> bool | AllocationError:
        if not self._binding and spot.candidate.device.binding_conditions:
            return False
        try:
            if not ask.matches(spot.candidate) or not spot.here:
                return False
            taken = self.takes(ask, spot.candidate)
        except AllocationError as error:
            return error
        return taken is not None and not lacking(taken, spot.candidate.device, {})

    def takes(self, ask: Ask, candidate: Candidate) -> Mapping[str, Quantity] | None:
        """Return what a request takes of each capacity of a device; None if the device does not offer that.

        Raises:
            AllocationError: No device can be asked for such an amount.

        """
        key = ask, candidate.kind
        if key not in self._takes:
            self._takes[key] = ask.consumption(candidate)
        return self._takes[key]

    def keeps_away(self, ask: Ask, candidate: Candidate) -> bool:
        """Tell whether a taint of the device keeps a request away."""
        return self._taints and not all(ask.tolerates(taint) for taint in candidate.taints)
