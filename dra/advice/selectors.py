"""Advice on CEL selectors: what they compare, and what they read."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from dra import codes
from dra.advice.world import Key, World
from dra.claim import DeviceSelector
from dra.finding import Finding
from dra.gates import Target
from dra.pool import GPU_DRIVER
from dra.quantity import Quantity

_ALWAYS_PUBLISHED = frozenset({(GPU_DRIVER, "type"), (GPU_DRIVER, "productName"), (GPU_DRIVER, "memory")})
"""What NVIDIA's driver says of each whole GPU, and run.ai's simulator of each of its own."""

_KEY = r"device\.(?P<part>capacity|attributes)\[\s*(?P<q>['\"])(?P<domain>[^'\"]+)(?P=q)\s*\]\.\??(?P<id>\w+)"
_SIZE = r"(?:quantity|semver)\(\s*['\"](?P<size>[^'\"]+)['\"][^()]*\)"
_STRICT = [
    re.compile(rf"{_KEY}\.(?P<how>isGreaterThan|isLessThan)\(\s*{_SIZE}\s*\)"),
    re.compile(rf"{_KEY}\.compareTo\(\s*{_SIZE}\s*\)\s*(?P<how>[<>])(?!=)"),
]
_AT_LEAST = {"isGreaterThan": ">=", ">": ">=", "isLessThan": "<=", "<": "<="}
_LITERAL = re.compile(r"(?P<q>['\"])(?P<text>[^'\"]*)(?P=q)")
_PRODUCT_IS = re.compile(r"productName(?:\.orValue\([^)]*\))?\s*==\s*$|productName\s+in\s+\[[^\]]*$")
_DRIVER_FIRST = re.compile(r"[\s(]*(?:device\.driver\s*==|(['\"])[^'\"]*\1\s*==\s*device\.driver\b)")


def on_selectors(selectors: Sequence[DeviceSelector] | None, path: str, world: World) -> Iterator[Finding]:
    """Yield advice on the selectors of a request or a class."""
    for index, each in enumerate(selectors or ()):
        if each.cel is not None:
            place = f"{path}.selectors[{index}].cel.expression"
            yield from _strict_at_size(each.cel.expression, place, world)
            yield from _spelling(each.cel.expression, place, world)
            yield from _unguarded(each.cel.expression, place, world)


def names_driver_first(selectors: Sequence[DeviceSelector] | None) -> bool:
    """Tell whether a class's first selector begins with the driver: then no other driver's device is read."""
    first = selectors[0].cel if selectors else None
    return first is not None and _DRIVER_FIRST.match(first.expression) is not None


def _strict_at_size(expression: str, path: str, world: World) -> Iterator[Finding]:
    for strict in (found for form in _STRICT for found in form.finditer(expression)):
        sizes = world.sizes.get((strict["part"], (strict["domain"], strict["id"])), Counter())
        same = [value for value in sizes if _equal(value, strict["size"])]
        if not same:
            continue
        number = sum(sizes[value] for value in same)
        if world.devices:
            who = f"{number} {'device has' if number == 1 else 'devices have'} exactly that"
        else:
            who = "there are GPUs with exactly that"
        yield codes.STRICT_AT_SIZE.at(
            path,
            f"{strict['how']} {strict['size']} excludes {strict['size']} itself, and {who} "
            f"as their {strict['id']}.",
            f"Write compareTo(…) {_AT_LEAST[strict['how']]} 0 if they are to match.",
        )


def _equal(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return Quantity.parse(one) == Quantity.parse(other)
    except ValueError:
        return False


def _spelling(expression: str, path: str, world: World) -> Iterator[Finding]:
    for literal in _LITERAL.finditer(expression):
        text = literal["text"]
        if text in world.products or not _PRODUCT_IS.search(expression, 0, literal.start()):
            continue
        meant = sorted(product for product in world.products if _plain(text) == _plain(product)) or sorted(
            product for product in world.products if _plain(text) in _plain(product).split()
        )
        if meant:
            yield codes.SPELLING.at(
                path,
                f"No driver spells a product {text!r}: the attribute has spaces and capitals "
                f"({', '.join(repr(product) for product in meant)}), and only the node label has dashes.",
                f"Write {meant[0]!r}.",
            )


def _plain(product: str) -> str:
    return product.lower().replace("-", " ")


def _unguarded(expression: str, path: str, world: World) -> Iterator[Finding]:
    keys = [key for key in _unguarded_keys(expression, world.target) if not _all_have(key, world)]
    if keys:
        named = " and ".join(f"{domain}/{identifier}" for domain, identifier in keys)
        yield codes.UNGUARDED_KEY.at(
            path,
            f"The selector reads {named} without a guard: one device without it fails every pod that it is "
            "tried for.",
            f"Write .?{keys[0][1]}.orValue(…), or has(…) && … before it.",
        )


def _all_have(key: Key, world: World) -> bool:
    if key[0] not in world.devices and key in _ALWAYS_PUBLISHED:
        return True
    if not world.devices:
        return False
    having = world.published.get(key, Counter())
    # A standard attribute (resource.kubernetes.io) is read of devices of any driver.
    drivers = [key[0]] if key[0] in world.devices else list(world.devices)
    return all(having.get(driver, 0) == world.devices[driver] for driver in drivers)


@lru_cache(maxsize=4096)
def _unguarded_keys(expression: str, target: Target) -> Sequence[Key]:
    # The runtime is large: what needs no selector compiled starts without it.
    from dra.cel import CompileError, compile_selector  # noqa: PLC0415

    try:
        return sorted(compile_selector(expression, target).unguarded)
    except CompileError:
        return []
