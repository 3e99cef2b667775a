"""CEL selectors as people write them: right, failing on some device, not compiling, or nearly CEL."""

from hypothesis import strategies as st
from inventories import GPU, NET, OTHER, STANDARD

_DOMAINS = st.sampled_from([GPU, GPU, GPU, GPU, NET, OTHER, STANDARD, "nvidia.com"])
_KEYS = {
    "string": ["type", "productName", "architecture", "ifName", "model", "Type"],
    "int": ["index", "numaNode"],
    "version": ["driverVersion", "cudaComputeCapability"],
    "bool": ["fabric", "rdma"],
}
_STRINGS = st.sampled_from(
    ["gpu", "mig", "NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3", "Ampere", "eth0", ""]
)
_QUANTITIES = st.sampled_from(["40Gi", "80Gi", "10G", "40960Mi", "1", "0.5", "1e3", "-1", "40GB", "", "1Ki1"])
_VERSIONS = st.sampled_from(["8.0.0", "9.0.0", "580.0.0", "7.5", "v8.0.0", "550.54.15-rc.1", ""])
_NUMBERS = st.sampled_from(["0", "1", "2", "-1", "1.0", "0u", "1u", '"0"'])
_COMPARE = st.sampled_from(["==", "==", "!=", "<", "<=", ">", ">="])


@st.composite
def _attribute(draw: st.DrawFn, kind: str) -> tuple[str, str, str]:
    """Return the spelling of an attribute, of its map, and its key."""
    domain = STANDARD if kind == "int" and draw(st.booleans()) else draw(_DOMAINS)
    key = draw(st.sampled_from(_KEYS[kind]))
    held = f"device.attributes['{domain}']"
    return (
        draw(st.sampled_from([f"{held}.{key}", f"{held}.{key}", f"{held}['{key}']", f'{held}["{key}"]'])),
        held,
        key,
    )


def _guarded(draw: st.DrawFn, test: str, held: str, key: str) -> str:
    return draw(
        st.sampled_from(
            [
                test,
                test,
                f"has({held}.{key}) && {test}",
                f"'{key}' in {held} && {test}",
                f"!('{key}' in {held}) || {test}",
            ]
        )
    )


@st.composite
def _string_test(draw: st.DrawFn) -> str:
    value, held, key = draw(_attribute("string"))
    text = draw(_STRINGS)
    tests = [
        f"{value} {draw(_COMPARE)} '{text}'",
        f"{held}.?{key}.orValue('') == '{text}'",
        f"{held}[?'{key}'].orValue('{text}') == '{text}'",
        f"{held}.?{key}.hasValue()",
        f"{value}.{draw(st.sampled_from(['startsWith', 'endsWith', 'contains', 'matches']))}('{text}')",
        f"{value}.lowerAscii() == '{text.lower()}'",
        f"{value}.split(' ').exists(word, word == '{text}')",
        f"{value}.replace(' ', '-').indexOf('{text}') >= 0",
        f"{value} in ['{text}', 'gpu']",
        f"sets.contains(['{text}', 'gpu'], [{value}])",
        f"{value}.find('[0-9]+') == '40'",
        f"size({value}) > {draw(_NUMBERS)}",
        f"{value}.size() == {draw(_NUMBERS)}",
        f"cel.bind(a, {held}, a.{key} == '{text}')",
        f"{value}",
        f"string({value}) == '{text}'",
        f"{value} + 'x' == '{text}x'",
        f"{value}[0] == 'N'",
        f"{value}.charAt(0) == 'N'",
        f"['a', '{text}'].join('-') != {value}",
        f"'%s'.format([{value}]) == '{text}'",
        f"{value}.substring(0, 3) == 'gpu'",
        f"{value}.trim().upperAscii() == '{text.upper()}'",
    ]
    return _guarded(draw, draw(st.sampled_from(tests)), held, key)


@st.composite
def _number_test(draw: st.DrawFn) -> str:
    value, held, key = draw(_attribute("int"))
    number = draw(_NUMBERS)
    tests = [
        f"{value} {draw(_COMPARE)} {number}",
        f"{held}.?{key}.orValue(-1) == {number}",
        f"{value} in [0, 1]",
        f"{value} % 2 == {number}",
        f"{value} / {number} >= 0",
        f"{value} + 1 > {number}",
        f"double({value}) < 1.5",
        f"int({value}) == {number}",
        f"uint({value}) == 1u",
        f"string({value}) == '1'",
        f"-{value} < {number}",
        f"{value} == 0 ? true : {value} == {number}",
        f"type({value}) == int",
        f"dyn({value}) == {number}",
        f"math.greatest({value}, 1) == 1",
    ]
    return _guarded(draw, draw(st.sampled_from(tests)), held, key)


@st.composite
def _version_test(draw: st.DrawFn) -> str:
    value, held, key = draw(_attribute("version"))
    version = draw(_VERSIONS)
    tests = [
        f"{value}.isGreaterThan(semver('{version}'))",
        f"{value}.isLessThan(semver('{version}', true))",
        f"{value}.compareTo(semver('{version}')) >= 0",
        f"{value} == semver('{version}')",
        f"{value}.major() >= {draw(_NUMBERS)}",
        f"{value}.minor() + {value}.patch() > 0",
        f"{value} {draw(_COMPARE)} '{version}'",
        f"isSemver('{version}') && {value} != semver('1.0.0')",
        f"{held}.?{key}.orValue(semver('0.0.0')).isGreaterThan(semver('{version}'))",
        f"string({value}) == '{version}'",
    ]
    return _guarded(draw, draw(st.sampled_from(tests)), held, key)


@st.composite
def _capacity_test(draw: st.DrawFn) -> str:
    domain, key = (
        draw(_DOMAINS),
        draw(st.sampled_from(["memory", "memory", "memory", "multiprocessors", "bandwidth"])),
    )
    held = f"device.capacity['{domain}']"
    value, quantity = f"{held}.{key}", draw(_QUANTITIES)
    tests = [
        f"{value}.compareTo(quantity('{quantity}')) {draw(_COMPARE)} 0",
        f"{value}.isGreaterThan(quantity('{quantity}'))",
        f"{value}.isLessThan(quantity('{quantity}'))",
        f"{value} == quantity('{quantity}')",
        f"{value} {draw(_COMPARE)} quantity('{quantity}')",
        f"{value} >= {draw(_NUMBERS)}",
        f"{value}.isGreaterThan('{quantity}')",
        f"{value}.add(quantity('{quantity}')).sign() == 1",
        f"{value}.sub(quantity('{quantity}')).sub(1).compareTo({value}) < 0",
        f"isQuantity('{quantity}') && {value}.isInteger()",
        f"{value}.asInteger() > 0",
        f"{value}.asApproximateFloat() > 1.0e3",
        f"{held}.?{key}.orValue(quantity('0')).isGreaterThan(quantity('{quantity}'))",
        f"device.attributes['{domain}'].{key}.isGreaterThan(quantity('{quantity}'))",
    ]
    return _guarded(draw, draw(st.sampled_from(tests)), held, key)


@st.composite
def _device_test(draw: st.DrawFn) -> str:
    domain, value = draw(_DOMAINS), draw(st.sampled_from([True, False]))
    key = draw(st.sampled_from(_KEYS["bool"]))
    held = f"device.attributes['{domain}']"
    return draw(
        st.sampled_from(
            [
                f"device.driver == '{domain}'",
                f"device.driver.endsWith('{domain[4:]}')",
                f"device.driver in ['{domain}', 'dra.net']",
                f"{held}.{key}",
                f"{held}.?{key}.orValue({str(value).lower()})",
                f"!{held}.{key}",
                "device.allowMultipleAllocations",
                f"device.allowMultipleAllocations == {str(value).lower()}",
                f"'{domain}' in device.attributes",
                f"has(device.attributes['{domain}'])",
                f"size(device.attributes) > {draw(st.integers(0, 2))}",
                f"device.attributes['{domain}'].size() > 0",
                f"{held}.all(k, k != 'type')",
                f"{held}.exists(k, k.startsWith('product'))",
                f"{held}.exists_one(k, k == '{key}')",
                f"{held}.all(k, v, k != 'type' || v == 'gpu')",
                f"{held}.filter(k, k == '{key}').size() == 1",
                f"cel.bind(c, device.capacity['{domain}'], c.all(k, c[k].isGreaterThan(quantity('1'))))",
                "device.attributes.exists(d, 'index' in device.attributes[d])",
                "true",
                "false",
            ]
        )
    )


def _nested(names: str) -> str:
    """Return a selector that costs more with each name."""
    return f"device.attributes.all({names[0]}, {_nested(names[1:])})" if names else "device.driver == 'x'"


_BROKEN = st.sampled_from(
    [
        "",
        "1",
        "device",
        "device.name == 'gpu-0'",
        "node.name == 'x'",
        f"device.attributes.type == 'gpu' # in {GPU}",
        "device.attributes['type'] == 'gpu'",
        f"device.attributes['{GPU}/type'] == 'gpu'",
        f"device.attributes['{GPU}'].type = 'gpu'",
        f"device.attributes[{GPU}].type == 'gpu'",
        f"device.attributes['{GPU}'].type.includes('gpu')",
        f"device.attributes['{GPU}'].type == gpu",
        "device.driver == 'a' and true",
        "has(device.driver)",
        "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, true)))",
        *map(_nested, ["abc", "abcd", "abcde", "abcdef"]),
        "[1, 2].sum() == 3",
        "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.0.0.1')",
        "url('https://nvidia.com/x').getHost() == 'nvidia.com'",
        "format.dns1123Label().validate('gpu').hasValue()",
        "timestamp('2026-01-01T00:00:00Z') < timestamp('2027-01-01T00:00:00Z')",
        "duration('1h') > duration('1m')",
        "optional.of(1).hasValue()",
        "[3, 1].isSorted()",
        "{'a': 1}.a == 1",
        "b'gpu' == bytes('gpu')",
    ]
)
_TEST = st.one_of(
    _string_test(), _number_test(), _version_test(), _capacity_test(), _device_test(), _string_test()
)
_VALID = st.recursive(
    _TEST,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda one: f"!({one})"),
        st.tuples(inner, inner).map(lambda two: f"device.driver == '{GPU}' ? {two[0]} : ({two[1]})"),
    ),
    max_leaves=4,
)
GUARDED = _TEST.map(lambda test: f"device.driver == '{GPU}' && ({test})")


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    """A selector that lost, gained or doubled a character or two."""
    text = draw(_TEST)
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(text)))
        text = (
            text[:at]
            + draw(st.sampled_from(["", "'", '"', "(", ")", ".", "=", "x", " ", "?", "]", "0", "\\", "é"]))
            + text[at + draw(st.integers(0, 1)) :]
        )
    return text


_HELD = f"device.attributes['{GPU}']"
_SAFE = st.sampled_from(
    [
        f"device.driver == '{GPU}'",
        f"{_HELD}.?type.orValue('gpu') == 'gpu'",
        f"{_HELD}.?productName.orValue('').contains('H100')",
        f"{_HELD}.?productName.orValue('').contains('A100')",
        f"{_HELD}.?index.orValue(0) != 1",
        f"{_HELD}.?fabric.orValue(true)",
        f"has({_HELD}.driverVersion) && {_HELD}.driverVersion.isGreaterThan(semver('560.0.0'))",
        f"device.attributes['{STANDARD}'].?numaNode.orValue(0) == 0",
        f"'pcieRoot' in device.attributes['{STANDARD}']",
        f"device.capacity['{GPU}'].?memory.orValue(quantity('0')).compareTo(quantity('40Gi')) >= 0",
        "!device.allowMultipleAllocations",
    ]
)

EXPRESSIONS = st.one_of(_VALID, _VALID, GUARDED, _BROKEN, _damaged())
"""Of any kind."""
ADMITTED = st.one_of(_SAFE, _SAFE, _SAFE, _SAFE, _SAFE, _SAFE, GUARDED, GUARDED, _VALID)
"""Most of which the API server lets in, and the scheduler gets to the end of."""
