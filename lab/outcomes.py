"""The last step of the program: observe, export, and fail where something came out otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.cluster import Cluster
from components.expectation import Expectation
from lab.observe import connect, observe

OUTPUT = "outcomes"


class OutcomesError(pulumi.RunError):
    """Something came out otherwise than expected. What did is in the log and in the stack's output."""


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
    # An error in the log alone leaves pulumi's exit code at 0. The output is registered all the same.
    seen.apply(_fail_unless_all_are_ok)


def _fail_unless_all_are_ok(outcomes: Sequence[Mapping[str, Any]]) -> None:
    wrong = [outcome for outcome in outcomes if not outcome["ok"]]
    if wrong:
        raise OutcomesError(
            f"{len(wrong)} of {len(outcomes)} outcomes are not as expected; see above. What was changed by"
            f" hand, `pulumi refresh` and then `up` put right. After a change of lab:pools, what runs keeps"
            f" the GPUs that it had: `python -m lab run LESSON` begins a lesson anew."
        )
