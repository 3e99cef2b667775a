"""The functions of the API server's CEL environment, each with the types of arguments that it takes."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module

from dra.cel.errors import EvaluationError
from dra.cel.values import Value, type_name

Function = Callable[..., Value]

_TABLE: dict[str, list[tuple[tuple[str, ...], Function]]] = defaultdict(list)
_SHORT = {
    "Quantity": "kubernetes.Quantity",
    "Semver": "kubernetes.Semver",
    "URL": "kubernetes.URL",
    "Format": "kubernetes.NamedFormat",
    "IP": "net.IP",
    "CIDR": "net.CIDR",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "optional": "optional_type",
}


_SHORTLY = {
    "size": "no such overload: size",
    **dict.fromkeys(("startsWith", "endsWith", "contains", "matches"), "no such overload"),
}
"""Functions that say less of arguments which they do not take."""


def function(signature: str) -> Callable[[Function], Function]:
    """Enter a function under a signature such as `compareTo(Quantity, Quantity)`; a receiver comes first."""
    name, _, parameters = signature.rstrip(")").partition("(")
    kinds = tuple(_SHORT.get(kind, kind) for kind in filter(None, parameters.split(", ")))

    def enter(implementation: Function) -> Function:
        _TABLE[name].append((kinds, implementation))
        return implementation

    return enter


_MODULES = (
    "collections",
    "conversions",
    "formats",
    "formatting",
    "network",
    "operators",
    "quantities",
    "text",
    "times",
)


@cache
def _load() -> None:
    """Load the modules of this package, which enter their functions."""
    for name in _MODULES:
        import_module(f"{__name__}.{name}")


def call(name: str, arguments: Sequence[Value]) -> Value:
    """Return the function's value; raise EvaluationError if no overload takes the arguments."""
    _load()
    kinds = [type_name(argument) for argument in arguments]
    for parameters, implementation in _TABLE.get(name, ()):
        if len(parameters) == len(kinds) and all(
            parameter in {kind, "dyn"} for parameter, kind in zip(parameters, kinds, strict=True)
        ):
            return implementation(*arguments)
    if name in _SHORTLY:
        raise EvaluationError(_SHORTLY[name])
    raise EvaluationError(f"no such overload: {name}({', '.join(kinds)})")


def is_known(name: str) -> bool:
    """Tell whether there is such a function."""
    _load()
    return name in _TABLE
