"""The last step of the program: observe, export, and fail where something came out otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.cluster import Cluster
from components.expectation import Expectation
from lab.observe import connect, observe

OUTPUT = "outcomes"


def export_outcomes(
    cluster: Cluster,
    context: str,
    expectations: Mapping[str | None, Sequence[Expectation]],
    after: Sequence[pulumi.Output[Any]],
) -> None:
    """Export the outcomes of each lesson (None: Lab 4 itself) once all of `after` is there.

    A preview observes nothing: they are unknown then.
    """

    def look(known: Sequence[Any]) -> list[dict[str, Any]]:
        outcomes = observe(connect(known[0], context), expectations)
        for outcome in outcomes:
            if not outcome.ok:
                where = f"lesson {outcome.lesson}, " if outcome.lesson else ""
                pulumi.log.error(
                    f"{where}step {outcome.step}: expected {outcome.expected}; observed {outcome.observed}"
                )
        return [outcome.document() for outcome in outcomes]

    if pulumi.runtime.is_dry_run():
        return
    # The kubeconfig is a secret; what was seen with it is none.
    seen = pulumi.Output.unsecret(pulumi.Output.all(cluster.kubeconfig, *after).apply(look))
    pulumi.export(OUTPUT, seen)
