"""What the devices of a claim must have in common, or must not.

Source: `structured/internal/incubating/{allocator_incubating,constraint}.go` of
`k8s.io/dynamic-resource-allocation` 0.37.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dra.allocation.candidate import LIST, Candidate, Value
from dra.allocation.request import Ask


@dataclass(eq=False)
class Constraint:
    """One constraint of a claim with the values of the devices chosen so far.

    A device without the attribute never satisfies it. A constraint with both attributes given is one on the
    `matchAttribute`: the API server lets it pass, and the allocator looks no further.
    """

    path: str
    attribute: str
    distinct: bool
    requests: Sequence[str]
    chosen: list[Value] = field(default_factory=list[Value])

    def concerns(self, ask: Ask) -> bool:
        """Tell whether it is about a request; the name of a request with alternatives stands for them all."""
        return not self.requests or ask.request in self.requests or ask.full_name in self.requests

    def admits(self, candidate: Candidate) -> bool:
        """Tell whether a device goes with those chosen so far."""
        value = candidate.attribute(self.attribute)
        if value is None:
            return False
        if not self.chosen:
            return True
        if value.type_ == LIST:
            return False
        return (value in self.chosen) is not self.distinct

    def add(self, candidate: Candidate) -> None:
        """Choose a device that it admits."""
        value = candidate.attribute(self.attribute)
        if value is not None:
            self.chosen.append(value)
