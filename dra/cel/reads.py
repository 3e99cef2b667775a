"""What of a device an expression reads, as far as it stands in the expression itself."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from dra.cel.syntax import Call, Comprehension, ListOf, Literal, MapOf, Message, Name, Node, Select, is_bind

Key = tuple[str, str, str]
"""`attributes` or `capacity`, a domain and an identifier."""

_Path = tuple[str, ...]
_KEY_LENGTH = 4
_LOOKUPS = {"_[_]", "_?._", "_[?_]"}


@dataclass
class Reads:
    """The keys that are read, those of them with and without a guard, and whether more may be."""

    keys: set[Key] = field(default_factory=set[Key])
    guarded: set[Key] = field(default_factory=set[Key])
    unguarded: set[Key] = field(default_factory=set[Key])
    driver: bool = False
    multiple_allocations: bool = False
    everything: bool = False


def reads(expression: Node) -> Reads:
    """Return what an expression reads; `has`, `.?`, `[?]` and `in` guard a key, as does a chain of `.?`."""
    found = Reads()
    _visit(expression, {}, found, guarded=False)
    return found


def _visit(node: Node, bound: dict[str, _Path], found: Reads, *, guarded: bool) -> None:
    path, optional = _path(node, bound)
    if path is not None:
        _note(path, found, guarded=guarded or optional or (isinstance(node, Select) and node.test))
        return
    match node:
        case Call(function="@in", arguments=[Literal(value=str() as key), container]):
            inside, _ = _path(container, bound)
            if inside is not None and len(inside) == _KEY_LENGTH - 1:
                _note((*inside, key), found, guarded=True)
                return
        case Comprehension() if is_bind(node):
            initial, _ = _path(node.initial, bound)
            if initial is None or len(initial) >= _KEY_LENGTH:
                _visit(node.initial, bound, found, guarded=guarded)
                bound = {name: inner for name, inner in bound.items() if name != node.accumulator}
            else:
                bound = bound | {node.accumulator: initial}
            _visit(node.result, bound, found, guarded=guarded)
            return
        case Comprehension():
            hidden = {node.variable, node.second_variable, node.accumulator}
            bound = {name: inner for name, inner in bound.items() if name not in hidden}
        case _:
            pass
    for child in children(node):
        _visit(child, bound, found, guarded=guarded)


def _note(path: _Path, found: Reads, *, guarded: bool) -> None:
    match path:
        case ("device", ("attributes" | "capacity") as part, domain, key, *_):
            found.keys.add((part, domain, key))
            (found.guarded if guarded else found.unguarded).add((part, domain, key))
        case ("device", "driver", *_):
            found.driver = True
        case ("device", "allowMultipleAllocations", *_):
            found.multiple_allocations = True
        case _:
            found.everything = True


def _path(node: Node, bound: dict[str, _Path]) -> tuple[_Path | None, bool]:
    """Return the path below `device` that a node stands for, if it is one, and whether it may be absent."""
    match node:
        case Name():
            return bound.get(node.name, ("device",) if node.name == "device" else None), False
        case Select():
            path, optional = _path(node.operand, bound)
            return ((*path, node.field) if path is not None else None), optional
        case Call(function=function, arguments=[container, Literal(value=str() as key)]) if (
            function in _LOOKUPS
        ):
            path, optional = _path(container, bound)
            return ((*path, key) if path is not None else None), optional or function != "_[_]"
        case _:
            return None, False


def nodes(node: Node) -> Iterator[Node]:
    """Return an expression and all its parts."""
    yield node
    for child in children(node):
        yield from nodes(child)


def children(node: Node) -> Iterator[Node]:
    """Return the parts of an expression."""
    match node:
        case Select():
            yield node.operand
        case Call():
            yield from [node.target] if node.target else []
            yield from node.arguments
        case ListOf():
            yield from node.elements
        case MapOf():
            for key, value, _ in node.entries:
                yield from (key, value)
        case Message():
            yield from node.values
        case Comprehension():
            yield from (node.range, node.initial, node.condition, node.step, node.result)
        case _:
            pass
