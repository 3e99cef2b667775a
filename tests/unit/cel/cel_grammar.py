"""Random selectors: well formed, mostly well typed, over a device with attributes of every type.

Used against the referee as well, where each must get the control plane's verdict, text and cost.
"""

from collections.abc import Callable
from random import Random

ATTRIBUTES = 'device.attributes["gpu.nvidia.com"]'
CAPACITY = 'device.capacity["gpu.nvidia.com"]'
_STRINGS = ("type", "productName", "architecture", "empty", "missing")
_KEYS = (*_STRINGS, "index", "ecc", "cudaComputeCapability", "driverVersion", "numaNode")


class Grammar:
    """Makes expressions; `depth` bounds how far they nest."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def selector(self, depth: int = 2) -> str:
        return self._boolean(depth)

    def _pick(self, *options: str) -> str:
        return self._random.choice(options)

    def _one(self, *options: Callable[[], str]) -> str:
        return self._random.choice(options)()

    def _attribute(self) -> str:
        return f"{ATTRIBUTES}.{self._pick(*_KEYS)}"

    def _dynamic(self, depth: int) -> str:
        return self._one(
            self._attribute,
            lambda: f'{ATTRIBUTES}["{self._pick(*_STRINGS)}"]',
            lambda: f"dyn({self._any(depth - 1)})",
            lambda: 'device.attributes["resource.kubernetes.io"].numaNode',
            lambda: f"{ATTRIBUTES}.?{self._pick(*_STRINGS)}.orValue({self._string(depth - 1)})",
        )

    def _any(self, depth: int) -> str:
        kinds = (self._string, self._integer, self._double, self._boolean, self._texts, self._numbers)
        return self._random.choice((*kinds, self._quantity, self._version))(max(depth, 0))

    def _string(self, depth: int) -> str:
        if depth <= 0:
            return self._pick('"gpu"', '"a"', '""', '"8.0.0"', "device.driver", '"A100-b"', '"40Gi"', '"é"')
        inner = depth - 1
        return self._one(
            lambda: self._string(0),
            lambda: f"{self._string(inner)}.lowerAscii()",
            lambda: f"{self._string(inner)}.substring({self._integer(0)})",
            lambda: f"{self._string(inner)}.replace({self._string(0)}, {self._string(0)})",
            lambda: f"({self._string(inner)} + {self._string(inner)})",
            lambda: f"string({self._integer(inner)})",
            lambda: f"string({self._double(inner)})",
            lambda: f"{self._texts(inner)}.join({self._string(0)})",
            lambda: f"{self._attribute()}.upperAscii()",
            lambda: f'{self._string(inner)}.find("[a-z]+")',
            lambda: f"({self._boolean(inner)} ? {self._string(inner)} : {self._string(inner)})",
        )

    def _integer(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("0", "1", "-1", "7", "3")
        inner = depth - 1
        return self._one(
            lambda: f"({self._integer(inner)} {self._pick(*'+-*/%')} {self._integer(inner)})",
            lambda: f"{self._string(inner)}.size()",
            lambda: f"int({self._double(inner)})",
            lambda: f"{self._quantity(inner)}.compareTo({self._quantity(inner)})",
            lambda: f"{self._version(inner)}.major()",
            lambda: f"{self._numbers(inner)}.{self._pick('sum', 'max', 'min')}()",
            lambda: f"{self._numbers(inner)}[{self._integer(0)}]",
            lambda: f"{self._quantity(inner)}.asInteger()",
            lambda: f"{ATTRIBUTES}.cudaComputeCapability.{self._pick('major', 'minor', 'patch')}()",
        )

    def _double(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("1.5", "0.0", "-2.0", "7.0", "1e10")
        return self._one(
            lambda: f"double({self._integer(depth - 1)})",
            lambda: f"{self._quantity(depth - 1)}.asApproximateFloat()",
            lambda: f"({self._double(depth - 1)} {self._pick(*'+-*/')} {self._double(depth - 1)})",
        )

    def _quantity(self, depth: int) -> str:
        if depth <= 0:
            return f"{CAPACITY}.{self._pick('memory', 'slots', 'missing')}"
        return self._one(
            lambda: self._quantity(0),
            lambda: f'quantity("{self._pick("40Gi", "7", "1.5Gi", "40GB")}")',
            lambda: f"{CAPACITY}.memory.{self._pick('add', 'sub')}({self._quantity(depth - 1)})",
        )

    def _version(self, depth: int) -> str:
        return self._one(
            lambda: f'semver("{self._pick("8.0.0", "7.5.0", "8.0", "8.0.0-rc.1", "8.0.0+x")}")',
            lambda: f"semver({self._string(max(depth - 1, 0))}, true)",
        )

    def _texts(self, depth: int) -> str:
        if depth <= 0:
            return self._pick('["a", "b"]', '["gpu"]', '["x", device.driver]')
        return self._one(
            lambda: f"{self._string(depth - 1)}.split({self._string(0)})",
            lambda: f"{self._texts(depth - 1)}.filter(x, x != {self._string(0)})",
            lambda: f"{self._texts(depth - 1)}.map(x, x + {self._string(0)})",
            lambda: f"{self._texts(depth - 1)}.{self._pick('sort', 'distinct', 'reverse')}()",
            lambda: f"({self._texts(depth - 1)} + {self._texts(depth - 1)})",
            lambda: f"[{self._string(depth - 1)}, {self._attribute()}]",
        )

    def _numbers(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("[1, 2]", "[3, 1, 2]", "[7]")
        return self._one(
            lambda: f"[{self._integer(depth - 1)}, {self._integer(depth - 1)}]",
            lambda: f"{self._numbers(depth - 1)}.map(x, x * {self._integer(0)})",
            lambda: f"lists.range({self._integer(0)})",
            lambda: f"{self._numbers(depth - 1)}.transformList(i, v, i + v)",
            lambda: f"{self._numbers(depth - 1)}.sortBy(x, -x)",
        )

    def _boolean(self, depth: int) -> str:
        if depth <= 0:
            return self._pick(
                "true",
                "false",
                f"has({ATTRIBUTES}.type)",
                f"{ATTRIBUTES}.ecc",
                "device.allowMultipleAllocations",
            )
        return self._one(
            lambda: self._logical(depth - 1), lambda: self._relation(depth - 1), lambda: self._test(depth - 1)
        )

    def _logical(self, inner: int) -> str:
        return self._one(
            lambda: f"({self._boolean(inner)} {self._pick('&&', '||')} {self._boolean(inner)})",
            lambda: f"!{self._boolean(inner)}",
            lambda: f"({self._boolean(inner)} ? {self._boolean(inner)} : {self._boolean(inner)})",
        )

    def _relation(self, inner: int) -> str:
        sign = self._pick("==", "!=", "<", "<=", ">", ">=")
        return self._one(
            lambda: f"{self._string(inner)} {sign} {self._string(inner)}",
            lambda: f"{self._integer(inner)} {sign} {self._double(inner)}",
            lambda: f"{self._dynamic(inner)} {sign} {self._any(inner)}",
            lambda: f"{self._any(inner)} {sign} {self._any(inner)}",
            lambda: f"{self._quantity(inner)}.isGreaterThan({self._quantity(inner)})",
            lambda: f"{self._attribute()}.isLessThan({self._version(inner)})",
        )

    def _test(self, inner: int) -> str:
        return self._one(
            lambda: f"has({self._attribute()})",
            lambda: f'"{self._pick(*_STRINGS)}" in {ATTRIBUTES}',
            lambda: f"{self._dynamic(inner)} in {self._texts(inner)}",
            lambda: f"{self._texts(inner)}.exists_one(x, x == {self._string(inner)})",
            lambda: f"{self._numbers(inner)}.{self._pick('all', 'exists')}(i, v, {self._boolean(inner)})",
            lambda: f"device.attributes.{self._pick('all', 'exists')}(k, {self._boolean(inner)})",
            lambda: f"device.attributes.exists(k, v, v.exists(i, w, w == {self._any(0)}))",
            lambda: f"{CAPACITY}.all(k, v, v.isGreaterThan({self._quantity(inner)}))",
            lambda: (
                f"sets.{self._pick('contains', 'intersects')}({self._texts(inner)}, {self._texts(inner)})"
            ),
            lambda: f"{self._attribute()}.{self._pick('contains', 'startsWith')}({self._string(inner)})",
            lambda: f"cel.bind(b, {ATTRIBUTES}, b.{self._pick(*_STRINGS)} == {self._string(0)})",
            lambda: f"cel.bind(z, {self._any(inner)}, z == {self._any(inner)})",
            lambda: f"{self._pick('isQuantity', 'isSemver', 'isIP', 'isURL')}({self._string(inner)})",
            lambda: f"{ATTRIBUTES}.?{self._pick(*_STRINGS)}.optMap(t, t == 1).orValue(false)",
            lambda: f"optional.ofNonZeroValue({self._any(inner)}).hasValue()",
            lambda: f"type({self._dynamic(inner)}) == {self._pick('string', 'int', 'bool')}",
        )
