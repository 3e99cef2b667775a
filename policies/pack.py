"""The pack: its name and its policies."""

from pulumi_policy.policy import Policy

from policies.alone import IMMUTABLE_SPECS, REQUIRED_LABELS
from policies.judge import policies_of

NAME = "gpulab"
RULES = (REQUIRED_LABELS, IMMUTABLE_SPECS)


def make_policies() -> list[Policy]:
    """Return the policies, for one run: they share what they are shown of the stack."""
    return policies_of(RULES)
