"""What the engine does not show: nobody may think that it was judged."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel

from policies.judge import StackRule, Violation
from policies.objects import KubernetesObject
from policies.settings import Settings
from policies.stack import Stack


def hidden(stack: Stack, _settings: Settings) -> Iterator[tuple[KubernetesObject, Violation]]:
    """Yield the resources whose objects no policy has seen."""
    for item in stack.hidden:
        if item.kind == "Release":
            message = "a Helm Release does not show its objects, so they were not judged"
            remedy = (
                "Judge them by `helm template CHART | lab check -`, or use helm.v4.Chart, which shows them"
            )
        else:
            message = "its objects are shown once its provider can be configured, so they were not judged"
            remedy = "Preview again when the cluster is there, or judge the files by `lab check`"
        yield item, Violation(path="", message=message, remedy=remedy)


HIDDEN = StackRule(
    name="nothing-hidden",
    description="All objects of the stack are shown to the policies.",
    settings=Settings,
    judged=lambda _: None,
    judge=hidden,
    # A Release is no mistake; what it brings is only not judged here.
    level=EnforcementLevel.ADVISORY,
)
