"""Selectors: compiled once, asked of each device, and evaluated once for all devices that look alike to them.

Source: `k8s.io/dynamic-resource-allocation/cel`, Kubernetes 1.37.2.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from dra.cel.checks import check, check_constants
from dra.cel.cost import LIMIT, estimate
from dra.cel.environment import attribute_type, environment
from dra.cel.errors import CompileError, EvaluationError, Problem, checker_problems, failed
from dra.cel.evaluation import Attributes, program
from dra.cel.reads import Key, Reads, nodes, reads
from dra.cel.semver import Semver
from dra.cel.syntax import Call, Node, decode
from dra.cel.values import type_name
from dra.device import Device, DeviceAttribute
from dra.gates import Target
from dra.quantity import Quantity

_GUARD_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) "
    "or guarding the check with has() for optional fields"
)

_VIEWS_KEPT = 50_000


class _View:
    """A device as selectors see it: plain values by key, with their types, as 1 and true are not the same."""

    __slots__ = ("device", "driver", "likenesses", "values")

    def __init__(self, driver: str, device: Device) -> None:
        self.driver, self.device = driver, device
        self.likenesses: dict[int, int] = {}
        self.values: dict[Key, tuple[str, Any]] = {}
        for name, attribute in device.attributes.items():
            self.values[("attributes", *_qualified(name, driver))] = _plain(attribute)
        for name, capacity in device.capacity.items():
            self.values[("capacity", *_qualified(name, driver))] = ("quantity", capacity.value)

    def liken(self, shape: "_Shape") -> int:
        """Return a number that devices share which look alike to selectors of the shape."""
        everything = shape.keys is None
        seen = (
            tuple(sorted(self.values.items()))
            if shape.keys is None
            else tuple(map(self.values.get, shape.keys)),
            self.driver if shape.driver or everything else None,
            self.device.allow_multiple_allocations if shape.multiple_allocations or everything else None,
        )
        likeness = self.likenesses[shape.number] = _likenesses.setdefault(
            (shape.number, seen), len(_likenesses)
        )
        return likeness

    def variables(self) -> dict[str, Any]:
        """Return the variables of an expression."""
        parts = {"attributes": Attributes(), "capacity": Attributes()}
        for (part, domain, key), (kind, plain) in self.values.items():
            parts[part].setdefault(domain, {})[key] = _value(kind, plain)
        multiple = bool(self.device.allow_multiple_allocations)
        return {"device": {"driver": self.driver, "allowMultipleAllocations": multiple, **parts}}


def _qualified(name: str, driver: str) -> tuple[str, str]:
    """Return domain and identifier; a bare name is in the driver's domain."""
    domain, slash, key = name.partition("/")
    return (domain, key) if slash else (driver, name)


def _plain(attribute: DeviceAttribute) -> tuple[str, Any]:
    for name in ("ints", "bools", "strings", "versions"):
        if (values := getattr(attribute, name)) is not None:
            return name, tuple(values)
    for name in ("int_", "bool_", "string", "version"):
        if (value := getattr(attribute, name)) is not None:
            return name, value
    return "none", None


def _value(kind: str, plain: Any) -> Any:  # noqa: ANN401 - a value of CEL
    match kind:
        case "quantity":
            return Quantity.parse(plain)
        case "version":
            return Semver.parse(plain)
        case "versions":
            return [Semver.parse(version) for version in plain]
        case "ints" | "bools" | "strings":
            return list(plain)
        case _:
            return plain


def _attributes(keys: Iterable[Key]) -> Iterator[str]:
    return (f"{domain}/{key}" for part, domain, key in keys if part == "attributes")


class _Shape(NamedTuple):
    """What selectors read: keys (all, if None), and whether the driver and the permission to share."""

    number: int
    keys: tuple[Key, ...] | None
    driver: bool
    multiple_allocations: bool


def _shape(found: Reads) -> _Shape:
    read = (None if found.everything else tuple(sorted(found.keys)), found.driver, found.multiple_allocations)
    return _shapes.setdefault(read, _Shape(len(_shapes), *read))


_shapes: dict[tuple[tuple[Key, ...] | None, bool, bool], _Shape] = {}
_likenesses: dict[tuple[int, Any], int] = {}
_views: dict[tuple[int, str], _View] = {}


def _view(driver: str, device: Device) -> _View:
    """Return the device's view: made once, as many selectors look at the same device."""
    view = _views.get((id(device), driver))
    # The view holds the device, so that its id cannot become another's.
    if view is None or view.device is not device:
        if len(_views) >= _VIEWS_KEPT:
            _views.clear()
        view = _views[id(device), driver] = _View(driver, device)
    return view


class Selector:
    """A compiled expression."""

    def __init__(self, expression: str, checked: Node) -> None:
        self.expression = expression
        found = reads(checked)
        self.unguarded: frozenset[tuple[str, str]] = frozenset(
            (domain, key) for part, domain, key in found.unguarded if (part, domain, key) not in found.guarded
        )
        """The keys (domain, identifier) that are read without has, .? or in: one day they abort the pod."""
        self.reads = None if found.everything else frozenset(_attributes(found.keys))
        """The attributes, by qualified name, that the verdict depends on; None: any may matter."""
        self._shape = _shape(found)
        self._program = program(checked)
        self._verdicts: dict[int, bool | EvaluationError] = {}

    def matches(self, driver: str, device: Device) -> bool:
        """Tell whether a device is selected; raise EvaluationError where the scheduler fails the pod."""
        view = _view(driver, device)
        # What the expression does not read of a device cannot change the verdict.
        likeness = view.likenesses.get(self._shape.number)
        if likeness is None:
            likeness = view.liken(self._shape)
        verdict = self._verdicts.get(likeness)
        if verdict is None:
            verdict = self._verdicts[likeness] = self._evaluate(view)
        if isinstance(verdict, EvaluationError):
            raise EvaluationError(str(verdict))
        return verdict

    def _evaluate(self, view: _View) -> bool | EvaluationError:
        try:
            result = self._program(view.variables())
        except EvaluationError as error:
            hint = _GUARD_HINT if str(error).startswith("no such key: ") else ""
            return EvaluationError(f"{error}{hint}")
        except ValueError as error:
            # A slice that the API server would have refused: its versions and quantities are read here only.
            return EvaluationError(str(error))
        except (AttributeError, TypeError):
            # A value of a type that the operation is not made for, which only `dyn` lets through.
            return EvaluationError("no such overload")
        except RecursionError:
            return EvaluationError("the expression is nested too deeply for this checker: split it up")
        if isinstance(result, bool):
            return result
        return EvaluationError(
            f"CEL result of type {type_name(result)} could not be converted to bool: {_why(result)}"
        )


_CONVERSION = {
    "string": "unsupported native conversion from string to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
    "double": "type conversion error from Double to 'bool'",
    "list": "type conversion error from list to 'bool'",
}


def _why(result: object) -> str:
    """Return why a value cannot be a bool, in the words of its type."""
    kind = type_name(result)
    return _CONVERSION.get(kind, f"type conversion error from '{kind.rpartition('.')[2]}' to 'bool'")


def _checked(expression: str, target: Target) -> Node:
    try:
        return _google_checked(expression, target)
    except TypeError:
        raise CompileError("not valid UTF-8: write the characters that are meant", undecided=True) from None
    except RuntimeError as error:
        if "recursion" in str(error):
            raise CompileError(_TOO_DEEP, undecided=True) from None
        problems = checker_problems(str(error), expression)
    if respelled := _exists_one(expression, problems):
        try:
            return _google_checked(respelled, target)
        except RuntimeError:
            pass  # What is wrong with the expression as it was written has been said.
    for index, problem in enumerate(problems):
        if logical := _OPERANDS.fullmatch(problem.text):
            problems[index : index + 1] = _operands(logical, problem, expression, target)
    raise failed(problems, expression)


_TOO_DEEP = (
    "nested more than 32 deep, which this checker does not read although the API server does (to 250): "
    "split the expression up, or judge it on a cluster"
)


def _google_checked(expression: str, target: Target) -> Node:
    return decode(environment(target).compile(_PRESENT.sub(_as_true, expression)).serialize())


def _exists_one(expression: str, problems: list[Problem]) -> str | None:
    """Return an expression with exists_one of two variables spelled existsOne, which Google's parser has."""
    respelled = expression
    for problem in problems:
        start = problem.position - len("exists_one")
        if problem.text.startswith("undeclared reference to 'exists_one'") and start >= 0:
            respelled = f"{respelled[:start]}existsOne {respelled[problem.position :]}"
    return respelled if respelled != expression else None


def _operands(logical: re.Match[str], problem: Problem, expression: str, target: Target) -> list[Problem]:
    """Return what cel-go says of && and ||: which of the operands is no bool."""
    parsed = decode(environment(target).compile(expression, disable_check=True).serialize())
    for node in nodes(parsed):
        if isinstance(node, Call) and node.function == logical[1] and node.position == problem.position:
            return [
                Problem(operand.position, f"expected type 'bool' but found '{kind}'")
                for operand, kind in zip(node.arguments, logical.groups()[1:], strict=True)
                if kind not in {"bool", "dyn", "any", "*error*"}
            ]
    return [problem]


_OPERANDS = re.compile(r"found no matching overload for '(_&&_|_\|\|_)' applied to '\((.*), (.*)\)'")

_PRESENT = re.compile(
    r"""(?P<kept>[rRbB]*('{3}.*?'{3}|"{3}.*?"{3}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|//[^\n]*)"""
    r"""|has(?P<asked>\(\s*device\s*\.\s*(?:attributes|capacity)\s*\))""",
    re.DOTALL,
)
"""`has(device.capacity)`, which the checker takes for the variable, always holds. Strings are let alone."""


def _as_true(found: re.Match[str]) -> str:
    return found["kept"] or f"(true{' ' * (len(found[0]) - 6)})"


def compile_selector(expression: str, target: Target) -> Selector:
    """Return the selector; raise CompileError with what the API server of the release says against it."""
    compiled = _compiled(expression, target)
    if isinstance(compiled, CompileError):
        # The one that is kept must not gather tracebacks.
        raise compiled.again()
    return compiled


@cache
def _compiled(expression: str, target: Target) -> Selector | CompileError:
    try:
        return Selector(expression, _accepted(expression, target))
    except CompileError as error:
        return error.again()


def _accepted(expression: str, target: Target) -> Node:
    """Return the checked expression if the API server accepts it, in the order of its own checks."""
    checked = _checked(expression, target)
    if problems := check(checked):
        raise failed(problems, expression)
    if str(checked.type) not in {"bool", attribute_type(target)}:
        spelled = str(checked.type).replace("any", "google.protobuf.Any")
        raise CompileError(f"must evaluate to bool or the unknown type, not {spelled}")
    check_constants(checked)
    if estimate(checked) > LIMIT:
        raise CompileError("too complex, exceeds cost limit", forbidden=True)
    return checked
