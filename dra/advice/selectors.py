"""Advice on CEL selectors: what they compare, and what they read."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dra import codes
from dra.advice.world import Key, World, qualified
from dra.claim import DeviceSelector
from dra.finding import Finding
from dra.gates import Target
from dra.pool import GPU_DRIVER
from dra.quantity import Quantity

_ALWAYS_PUBLISHED = frozenset({(GPU_DRIVER, "type"), (GPU_DRIVER, "productName"), (GPU_DRIVER, "memory")})
"""What NVIDIA's driver says of each whole GPU, and run.ai's simulator of each of its own."""

_PARTITIONS = "mig.nvidia.com"
_BY_PARTITIONS = frozenset({(GPU_DRIVER, "profile"), (GPU_DRIVER, "parentUUID")})
"""What it says of each partition besides, and the class that its Helm chart brings for them."""

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


def on_selectors(
    selectors: Sequence[DeviceSelector] | None, path: str, world: World, class_name: str | None = None
) -> Iterator[Finding]:
    """Yield advice on the selectors of a class, or of a request for devices of a class."""
    of_class = next((each for each in world.inventory.classes if each.metadata.name == class_name), None)
    before = list(of_class.spec.selectors or ()) if of_class else []
    for index, each in enumerate(selectors or ()):
        if each.cel is not None:
            place = f"{path}.selectors[{index}].cel.expression"
            yield from _strict_at_size(each.cel.expression, place, world)
            yield from _spelling(each.cel.expression, place, world)
            yield from _unguarded(each.cel.expression, place, _Coming(world, class_name, before))
            before = [*before, each]


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


def _unguarded(expression: str, path: str, coming: "_Coming") -> Iterator[Finding]:
    keys = [key for key in _unguarded_keys(expression, coming.world.target) if not coming.all_have(key)]
    if keys:
        named = " and ".join(f"{domain}/{identifier}" for domain, identifier in keys)
        yield codes.UNGUARDED_KEY.at(
            path,
            f"The selector reads {named} without a guard: one device without it fails every pod that it is "
            "tried for.",
            f"Write .?{keys[0][1]}.orValue(…), or has(…) && … before it.",
        )


@dataclass(frozen=True)
class _Coming:
    """The devices that come to a selector: those of a class, by its selectors and others before this one."""

    world: World
    class_name: str | None
    before: Sequence[DeviceSelector]

    def all_have(self, key: Key) -> bool:
        """Tell whether none of them can lack an attribute or a capacity."""
        devices, published = self.world.devices, self.world.published.get(key, Counter[str]())
        if key[0] not in devices and key in _ALWAYS_PUBLISHED:
            return True
        if not published and self.class_name == _PARTITIONS and key in _BY_PARTITIONS:
            return True
        # A standard attribute (resource.kubernetes.io) is read of devices of any driver.
        drivers = [key[0]] if key[0] in devices else list(devices)
        if drivers and all(published.get(driver, 0) == devices[driver] for driver in drivers):
            return True
        before = tuple(each.cel.expression for each in self.before if each.cel)
        return bool(published and before) and key in _common_keys(self.world, before)


@lru_cache(maxsize=256)
def _common_keys(world: World, before: Sequence[str]) -> frozenset[Key]:
    """Return what all devices have that pass some selectors; nothing if none passes."""
    from dra.cel import CompileError, EvaluationError, compile_selector  # noqa: PLC0415 - as below

    common: frozenset[Key] | None = None
    for driver, device in world.every_device():
        try:
            passes = all(compile_selector(each, world.target).matches(driver, device) for each in before)
        except (CompileError, EvaluationError):
            continue  # That is an error of its own.
        if passes:
            names = frozenset(qualified(name, driver) for name in (*device.attributes, *device.capacity))
            common = names if common is None else common & names
    return common or frozenset()


@lru_cache(maxsize=4096)
def _unguarded_keys(expression: str, target: Target) -> Sequence[Key]:
    # The runtime is large: what needs no selector compiled starts without it.
    from dra.cel import CompileError, compile_selector  # noqa: PLC0415

    try:
        return sorted(compile_selector(expression, target).unguarded)
    except CompileError:
        return []
