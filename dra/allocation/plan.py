"""What is looked for: the requests and the constraints of a claim that is not allocated yet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dra.allocation.constraint import Constraint
from dra.allocation.held import full_name
from dra.allocation.outcome import AllocationError
from dra.allocation.request import Ask, asks_of
from dra.gates import Target
from dra.objects import DeviceClass, ResourceClaim


@dataclass(frozen=True, eq=False)
class ClaimPlan:
    """What is looked for: for each request of a claim its alternatives, and the claim's constraints."""

    index: int
    name: str
    requests: Sequence[Sequence[Ask]]
    constraints: Sequence[Constraint]

    def fresh(self) -> "ClaimPlan":
        """Return the same plan with nothing chosen yet."""
        return replace(self, constraints=[replace(each, chosen=[]) for each in self.constraints])


def plan_of(
    index: int, claim: ResourceClaim, classes: Mapping[str, DeviceClass], target: Target
) -> ClaimPlan:
    """Return the plan for one claim of a pod; raises AllocationError."""
    return ClaimPlan(
        index, full_name(claim), asks_of(index, claim, classes, target), list(_constraints(index, claim))
    )


def _constraints(index: int, claim: ResourceClaim) -> Iterator[Constraint]:
    for position, each in enumerate(claim.spec.devices.constraints or ()):
        path, requests = f"spec.devices.constraints[{position}]", each.requests or ()
        if each.match_attribute is not None:
            yield Constraint(path, each.match_attribute, distinct=False, requests=requests)
        elif each.distinct_attribute is not None:
            yield Constraint(path, each.distinct_attribute, distinct=True, requests=requests)
        else:
            raise AllocationError(
                index,
                path,
                f"claim {full_name(claim)}, constraint #{position}: empty constraint "
                "(unsupported constraint type?)",
            )
