"""The variables of an evaluation, and the limit on its cost.

Source: `interpreter` of cel-go 0.29.
"""

from collections.abc import Callable

from dra.cel.cost import LIMIT
from dra.cel.errors import EvaluationError
from dra.cel.values import Value


class Scope:
    """The values of variables, and what is left of the cost that an evaluation may have."""

    __slots__ = ("budget", "variables")

    def __init__(self, variables: dict[str, Value]) -> None:
        self.variables = variables
        self.budget = LIMIT

    def spend(self, cost: int) -> None:
        """Take a cost off the budget.

        Only turns of loops and sizes are counted, not every step as in cel-go: nothing else can grow, and the
        estimate, which is exact, bounds the whole beforehand.
        """
        self.budget -= cost
        if self.budget < 0:
            raise EvaluationError("operation cancelled: actual cost limit exceeded")


Program = Callable[[Scope], Value]
"""Evaluates an expression on the values of its variables."""


class Lazy:
    """The value of cel.bind's variable, which is not evaluated before it is read."""

    __slots__ = ("_part", "_scope", "_value")

    def __init__(self, part: Program, scope: Scope) -> None:
        self._part: Program | None = part
        self._scope = scope
        self._value: Value = None

    def __call__(self) -> Value:
        """Return the value, evaluated the first time."""
        if self._part:
            self._value = self._part(self._scope)
            self._part = None
        return self._value


class Failed(Lazy):
    """An accumulator whose last step failed: the error counts only if nobody decides otherwise."""

    __slots__ = ("_error",)

    def __init__(self, error: EvaluationError) -> None:
        self._error = error

    def __call__(self) -> Value:
        """Fail as the step did."""
        raise self._error


def nested_scope(scope: Scope, variables: dict[str, Value]) -> Scope:
    """Return a scope with more variables, which has as much to spend."""
    nested = Scope(scope.variables | variables)
    nested.budget = scope.budget
    return nested
