"""The pack: its name and its policies."""

from pulumi_policy.policy import Policy

from policies.admin import ADMIN_ACCESS
from policies.admitted import SELECTORS, SHAPE
from policies.alone import IMMUTABLE_SPECS, REQUIRED_LABELS
from policies.hidden import HIDDEN
from policies.judge import policies_of
from policies.limits import GPUS_PER_CLAIM, GPUS_PER_STACK
from policies.together import (
    ADVICE,
    CLASSES,
    CONSTRAINTS,
    NOT_COUNTED_BESIDE_CLAIM,
    ONE_MECHANISM,
    SATISFIABLE,
)

NAME = "gpulab"
RULES = (
    SHAPE,
    SELECTORS,
    REQUIRED_LABELS,
    IMMUTABLE_SPECS,
    GPUS_PER_CLAIM,
    GPUS_PER_STACK,
    SATISFIABLE,
    CONSTRAINTS,
    CLASSES,
    ONE_MECHANISM,
    NOT_COUNTED_BESIDE_CLAIM,
    ADMIN_ACCESS,
    ADVICE,
    HIDDEN,
)


def make_policies() -> list[Policy]:
    """Return the policies, for one run: they share what they are shown of the stack."""
    return policies_of(RULES)
