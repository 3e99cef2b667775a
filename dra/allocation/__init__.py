"""What the scheduler makes of the claims of a pod, without a scheduler.

The allocator is Kubernetes 1.37's "incubating" one: `NewAllocator` takes the first variant that supports
all features that are on, and the "stable" one does not support binding conditions and consumable capacity,
which are on by default. For an older target its gates are what counts; the code is 1.37's.

An error on one node ends the attempt, also if another node would do: the scheduler filters nodes in parallel
and gives the pod up when one filter fails (`Error`, and not `Unschedulable`). With fewer than 100 nodes every
node is tried, so the outcome is certain. With more, it stops as soon as it has found enough nodes, and it
starts at another node each time; where more than enough nodes fit, both outcomes are real, and the pod may
get a node in a later attempt. Then `Failed.possible_otherwise` is set. It is set too when the search takes
too long: the scheduler stops it after ten seconds, with an error, and how far it comes depends on the
machine.

Not modelled: extended resources that are backed by a DeviceClass (DRAExtendedResource), the 256 consumers of
a claim, binding conditions that are not met in time, and the alpha gates, which are off in every target.
"""

from dra.allocation.outcome import Allocated, Failed, Unsatisfied
from dra.allocation.scheduler import allocate

__all__ = ["Allocated", "Failed", "Unsatisfied", "allocate"]
