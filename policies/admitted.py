"""What the API server says of one object: its shape, its selectors."""

from collections.abc import Iterator

from dra import codes
from dra.gates import Target
from dra.objects import DraObject
from dra.validation import Admission, admit
from policies.judge import ResourceRule, Violation
from policies.kinds import dra_objects, dra_objects_and_workloads
from policies.objects import KubernetesObject
from policies.settings import TargetSettings

ELSEWHERE = {codes.CEL_COMPILE.code, codes.ADMIN_NAMESPACE.code}
"""What policies of their own look at."""


def admission(item: KubernetesObject, target: Target) -> Admission | None:
    """Return what the API server would do with the object; None if it is not about DRA."""
    return admit(item.document, target)


def object_of(item: KubernetesObject, target: Target) -> DraObject | None:
    """Return the object as the API server reads it, if it can be read."""
    answer = admission(item, target)
    return answer.object if answer else None


def shape(item: KubernetesObject, settings: TargetSettings) -> Iterator[Violation]:
    """Yield why the API server refuses the object."""
    return (each for each in _problems(item, settings) if each.code not in ELSEWHERE)


def selectors(item: KubernetesObject, settings: TargetSettings) -> Iterator[Violation]:
    """Yield the selectors that do not compile."""
    return (each for each in _problems(item, settings) if each.code == codes.CEL_COMPILE.code)


def _problems(item: KubernetesObject, settings: TargetSettings) -> Iterator[Violation]:
    answer = admission(item, settings.target)
    for problem in answer.problems if answer else ():
        yield Violation.of(problem)


SHAPE = ResourceRule(
    name="dra-shape",
    description="The API server of the target release accepts the object.",
    settings=TargetSettings,
    judged=dra_objects_and_workloads,
    judge=shape,
)
SELECTORS = ResourceRule(
    name="dra-selectors",
    description="The selectors compile.",
    settings=TargetSettings,
    judged=dra_objects,
    judge=selectors,
)
