"""What holds of ResourceSlices and DeviceTaintRules, in the words of a 1.37.2 API server."""

import pytest
from admitting import (
    EMPTY,
    IDENTIFIER,
    LABEL,
    SUBDOMAIN,
    Document,
    of_kind,
    problems,
    remedies,
    resource_slice,
)

from dra.gates import Target

DEVICE = "spec.devices[0]"
ONE_OF = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
VALUES = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
PER_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` "
    "is set to true in the ResourceSlice spec"
)
VALUE = {"value": "10"}
COUNTERS = {"memory": {"value": "1Gi"}}
TAINT = {"key": "a", "effect": "NoSchedule"}


def device(**fields: object) -> Document:
    return resource_slice({"name": "g"} | fields)


def attribute(**values: object) -> Document:
    return device(attributes={"a": values})


def shared(policy: Document, value: object = "40Gi") -> Document:
    """Return a slice with a device that can be shared, and the policy for its memory."""
    return device(
        allowMultipleAllocations=True, capacity={"memory": {"value": value, "requestPolicy": policy}}
    )


def devices(count: int, **fields: object) -> list[Document]:
    return [{"name": f"g{index}"} | fields for index in range(count)]


def counters(*sets: object) -> Document:
    return resource_slice(devices=None, sharedCounters=list(sets))


def pooled(**fields: object) -> Document:
    return resource_slice(pool={"name": "n", "resourceSliceCount": 1} | fields)


def selected(*terms: object) -> Document:
    return resource_slice(nodeName=None, nodeSelector={"nodeSelectorTerms": list(terms)})


def requirement(**fields: object) -> Document:
    return {"matchExpressions": [fields]}


def rule(**spec: object) -> Document:
    return of_kind("DeviceTaintRule", {"taint": TAINT} | spec)


POLICY = f"{DEVICE}.capacity[memory].requestPolicy"
RANGE = f"{POLICY}.validRange"
TERM = "spec.nodeSelector.nodeSelectorTerms"
KEY_FORM = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
SEMVER = "must be a string compatible with semver.org spec 2.0.0"

REFUSED: list[tuple[Document, str]] = [
    (resource_slice(nodeName=None), f"spec: Required value: {ONE_OF}"),
    (
        resource_slice(allNodes=True),
        f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {ONE_OF}, but multiple fields are set',
    ),
    (
        resource_slice(allNodes=False),
        "spec.allNodes: Invalid value: false: must be either unset or set to true",
    ),
    (
        resource_slice(nodeName=""),
        'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
    ),
    (selected(), f"{TERM}: Required value: must have at least one node selector term"),
    (
        selected(requirement(key="a", operator="Exists"), EMPTY),
        (
            f'{TERM}: Invalid value: [{{"MatchExpressions":[{{"Key":"a","Operator":"Exists","Values":null}}],'
            '"MatchFields":null},{"MatchExpressions":null,"MatchFields":null}]: must have exactly one node '
            "selector term"
        ),
    ),
    (
        selected(requirement(key="a", operator="In")),
        (
            f"{TERM}[0].matchExpressions[0].values: Required value: "
            "must be specified when `operator` is 'In' or 'NotIn'"
        ),
    ),
    (
        selected(requirement(key="a", operator="Exists", values=["b"])),
        (
            f"{TERM}[0].matchExpressions[0].values: Forbidden: "
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        ),
    ),
    (
        selected(requirement(key="a", operator="Gt", values=["1", "2"])),
        (
            f"{TERM}[0].matchExpressions[0].values: Required value: "
            "must be specified single value when `operator` is 'Lt' or 'Gt'"
        ),
    ),
    (
        selected(requirement(key="a", operator="=")),
        f'{TERM}[0].matchExpressions[0].operator: Invalid value: "=": not a valid selector operator',
    ),
    (
        selected({"matchFields": [{"key": "spec", "operator": "In", "values": ["a", "b"]}]}),
        f'{TERM}[0].matchFields[0].key: Invalid value: "spec": not a valid field selector key',
    ),
    (
        selected({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}),
        (
            f"{TERM}[0].matchFields[0].values: Required value: "
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        ),
    ),
    (
        resource_slice({"name": "g"}, nodeName=None, perDeviceNodeSelection=True),
        f"{DEVICE}: Required value: {PER_DEVICE}",
    ),
    (
        resource_slice(
            {"name": "g", "nodeName": "n", "allNodes": True}, nodeName=None, perDeviceNodeSelection=True
        ),
        f'{DEVICE}: Invalid value: "{{`nodeName`, `allNodes`}}": {PER_DEVICE}',
    ),
    (
        device(allNodes=True),
        (
            f"{DEVICE}: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if "
            "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
        ),
    ),
    (resource_slice(*devices(129)), "spec.devices: Too many: 129: must have at most 128 items"),
    (resource_slice(*devices(65, taints=[TAINT])), "spec.devices: Too many: 65: must have at most 64 items"),
    (
        resource_slice(*devices(65, consumesCounters=[{"counterSet": "c", "counters": COUNTERS}])),
        "spec.devices: Too many: 65: must have at most 64 items",
    ),
    (resource_slice(*devices(1), *devices(1)), 'spec.devices[1]: Duplicate value: "g0"'),
    (
        pooled(resourceSliceCount=0),
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
    ),
    (
        pooled(generation=-1),
        "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
    ),
    (pooled(name="N1_x"), f'spec.pool.name: Invalid value: "N1_x": {SUBDOMAIN}'),
    (pooled(name="a//b"), f'spec.pool.name: Invalid value: "": {SUBDOMAIN}'),
    (pooled(name="a" * 254), "spec.pool.name: Too long: may not be more than 253 bytes"),
    (resource_slice(pool=None), "spec.pool.name: Required value"),
    (resource_slice(driver=""), "spec.driver: Required value"),
    (resource_slice(driver="nvidia.com/gpu"), f'spec.driver: Invalid value: "nvidia.com/gpu": {SUBDOMAIN}'),
    (resource_slice(driver="d" * 64), "spec.driver: Too long: may not be more than 63 bytes"),
    (
        resource_slice(sharedCounters=[]),
        'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
    ),
    (resource_slice({"name": "a.b"}), f'{DEVICE}.name: Invalid value: "a.b": must not contain dots'),
    (
        resource_slice({"name": "g" * 64}),
        f'{DEVICE}.name: Invalid value: "{"g" * 64}": must be no more than 63 characters',
    ),
    (
        device(attributes={"numa-1": {"int": 1}}),
        f'{DEVICE}.attributes: Invalid value: "numa-1": {IDENTIFIER}',
    ),
    (device(attributes={"1x": {"int": 1}}), f'{DEVICE}.attributes: Invalid value: "1x": {IDENTIFIER}'),
    (
        device(attributes={"/x": {"int": 1}}),
        f'{DEVICE}.attributes: Invalid value: "": the domain must not be empty',
    ),
    (device(capacity={"a.b/": VALUE}), f'{DEVICE}.capacity: Invalid value: "": the name must not be empty'),
    (device(capacity={"c" * 33: VALUE}), f"{DEVICE}.capacity: Too long: may not be more than 32 bytes"),
    (attribute(), f'{DEVICE}.attributes[a]: Invalid value: "": must specify one of: {VALUES}'),
    (
        attribute(string="x", int=1),
        f'{DEVICE}.attributes[a]: Invalid value: "{{int, string}}": must specify exactly one of: {VALUES}',
    ),
    (
        device(attributes={f"{'d' * 63}.{'e' * 63}/{'f' * 40}": {"string": "x" * 65}}),
        (
            f"{DEVICE}.attributes[{'d' * 47}...eeeee/{'f' * 40}].string: "
            "Too long: may not be more than 64 bytes"
        ),
    ),
    (attribute(string="x" * 65), f"{DEVICE}.attributes[a].string: Too long: may not be more than 64 bytes"),
    (attribute(string="é" * 33), f"{DEVICE}.attributes[a].string: Too long: may not be more than 64 bytes"),
    *[
        (attribute(version=text), f'{DEVICE}.attributes[a].version: Invalid value: "{text}": {SEMVER}')
        for text in ("8.0", "v1.2.3", "580.065.06", "", "1.2.3-01")
    ],
    (
        device(
            attributes={f"a{n}": {"int": 1} for n in range(20)}, capacity={f"c{n}": VALUE for n in range(13)}
        ),
        f"{DEVICE}: Invalid value: 33: the total number of attributes and capacities must not exceed 32",
    ),
    (
        device(attributes={f"a{n}": {"int": 1} for n in range(49)}),
        f"{DEVICE}: Invalid value: 49: the total number of attribute values must not exceed 48",
    ),
    (device(taints=[TAINT] * 17), f"{DEVICE}.taints: Too many: 17: must have at most 16 items"),
    (device(taints=[{"key": "a"}]), f"{DEVICE}.taints[0].effect: Required value"),
    (device(taints=[{"effect": "None"}]), f'{DEVICE}.taints[0].key: Invalid value: "": {KEY_FORM}'),
    (counters({"name": "c"}), "spec.sharedCounters[0].counters: Required value"),
    (counters({"counters": COUNTERS}), "spec.sharedCounters[0].name: Required value"),
    (
        counters({"name": "c", "counters": {"memorySlice0": VALUE}}),
        f'spec.sharedCounters[0].counters: Invalid value: "memorySlice0": {LABEL}',
    ),
    (
        counters({"name": "c", "counters": {f"c{n}": VALUE for n in range(33)}}),
        "spec.sharedCounters[0].counters: Too many: 33: must have at most 32 items",
    ),
    (
        counters(*({"name": f"c{n}", "counters": COUNTERS} for n in range(9))),
        "spec.sharedCounters: Too many: 9: must have at most 8 items",
    ),
    (
        counters({"name": "c", "counters": COUNTERS}, {"name": "c", "counters": COUNTERS}),
        'spec.sharedCounters[1]: Duplicate value: {"name":"c","counters":{"memory":{"value":"1Gi"}}}',
    ),
    (
        device(consumesCounters=[{"counterSet": f"c{n}", "counters": COUNTERS} for n in range(3)]),
        f"{DEVICE}.consumesCounters: Too many: 3: must have at most 2 items",
    ),
    (device(consumesCounters=[EMPTY]), f"{DEVICE}.consumesCounters[0].counterSet: Required value"),
    (
        device(consumesCounters=[{"counterSet": "c", "counters": COUNTERS}] * 2),
        (
            f"{DEVICE}.consumesCounters[1]: Duplicate value: "
            '{"counterSet":"c","counters":{"memory":{"value":"1Gi"}}}'
        ),
    ),
    (
        device(bindingConditions=["a"]),
        (
            f"{DEVICE}.bindingFailureConditions: Invalid value: null: "
            "bindingFailureConditions are required to use bindingConditions"
        ),
    ),
    (
        device(bindingConditions=["a"] * 5, bindingFailureConditions=["b"]),
        f"{DEVICE}.bindingConditions: Too many: 5: must have at most 4 items",
    ),
    (
        device(bindingConditions=["a", "a"], bindingFailureConditions=["a"]),
        f'{DEVICE}.bindingConditions[1]: Duplicate value: "a"',
    ),
    (
        device(bindingConditions=["a"], bindingFailureConditions=["a"]),
        (
            f'{DEVICE}.bindingFailureConditions[0]: Invalid value: "a": '
            "bindingFailureConditions must not overlap with bindingConditions"
        ),
    ),
    (
        device(capacity={"memory": {"value": 1, "requestPolicy": EMPTY}}),
        f"{POLICY}: Forbidden: allowMultipleAllocations must be true",
    ),
    (
        shared({"default": 1, "validValues": [1], "validRange": {"min": 1}}),
        (
            f'{POLICY}: Forbidden: exactly one policy can be specified, cannot specify "validValues" and '
            '"validRange" at the same time'
        ),
    ),
    (shared({"validValues": [1]}), f"{POLICY}.default: Required value: required when validValues is defined"),
    (
        shared({"validRange": {"min": 1}}),
        f"{POLICY}.default: Required value: required when validRange is defined",
    ),
    (
        shared({"default": 1, "validValues": [2, 1]}),
        f'{POLICY}.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
    ),
    (
        shared({"default": 3, "validValues": [1, 2]}),
        (
            f'{POLICY}.validValues: Invalid value: "3": '
            "default value is not valid according to the requestPolicy"
        ),
    ),
    (
        shared({"default": 1, "validValues": [1, "41Gi"]}),
        f'{POLICY}.validValues[1]: Invalid value: "41Gi": option is larger than capacity value: 40Gi',
    ),
    (
        shared({"default": "1.5", "validValues": ["1500m", 2]}),
        f'{POLICY}.validValues[1]: Duplicate value: "2"',
    ),
    (
        shared({"default": 1, "validValues": list(range(1, 12))}),
        f"{POLICY}.validValues: Too many: 11: must have at most 10 items",
    ),
    (
        shared({"default": 1, "validRange": EMPTY}),
        f"{RANGE}.min: Required value: required when validRange is defined",
    ),
    (
        shared({"default": 1, "validRange": {"min": 2}}),
        f'{RANGE}.default: Invalid value: "1": default is less than min: 2',
    ),
    (
        shared({"default": 2, "validRange": {"min": "41Gi"}}),
        f'{RANGE}.min: Invalid value: "41Gi": min is larger than capacity value: 40Gi',
    ),
    (
        shared({"default": 3, "validRange": {"min": 3, "max": 2}}),
        f'{RANGE}.max: Invalid value: "3": min is larger than max: 2',
    ),
    (
        shared({"default": 3, "validRange": {"min": 1, "max": 2}}),
        f'{RANGE}.default: Invalid value: "3": default is more than max: 2',
    ),
    (
        shared({"default": 1, "validRange": {"min": 1, "max": "41Gi"}}),
        f'{RANGE}.max: Invalid value: "41Gi": max is larger than capacity value: 40Gi',
    ),
    (
        shared({"default": 1, "validRange": {"min": 1, "step": 0}}),
        f'{RANGE}.step: Invalid value: "0": must be greater than zero',
    ),
    (
        shared({"default": 4, "validRange": {"min": 1, "step": 2}}),
        f'{RANGE}.step: Invalid value: "4": value is not a multiple of a given step (2) from (1)',
    ),
    (
        shared({"default": "1Gi", "validRange": {"min": "1Gi", "step": "40Gi"}}),
        f'{RANGE}.step: Invalid value: "40Gi": one step 41Gi is larger than capacity value: 40Gi',
    ),
    (
        shared({"default": -1, "validRange": {"min": -1, "step": 1}}),
        f'{RANGE}.min: Invalid value: "-1": must be greater than or equal to 0',
    ),
    (
        shared({"default": 1, "validRange": {"min": 1, "step": "10E"}}, "20E"),
        f'{RANGE}.step: Invalid value: "10E": must not be larger than 9223372036854775807',
    ),
    (
        rule(deviceSelector={"driver": "a/b"}),
        f'spec.deviceSelector.driver: Invalid value: "a/b": {SUBDOMAIN}',
    ),
    (rule(deviceSelector={"pool": ""}), "spec.deviceSelector.pool: Required value"),
    (rule(deviceSelector={"device": "A"}), f'spec.deviceSelector.device: Invalid value: "A": {LABEL}'),
    (
        rule(taint={"key": "a", "effect": "no"}),
        ('spec.taint.effect: Unsupported value: "no": supported values: "NoExecute", "NoSchedule", "None"'),
    ),
    (of_kind("DeviceTaintRule", EMPTY), "spec.taint.effect: Required value"),
]

ACCEPTED: list[Document] = [
    resource_slice(),
    resource_slice(*devices(128)),
    resource_slice(*devices(64, taints=[TAINT])),
    resource_slice(driver="GPU.nvidia.com"),
    pooled(name="a.b/c"),
    attribute(string=""),
    attribute(version="1.2.3-rc.1+build.5"),
    attribute(int=-(2**63)),
    device(capacity={"memory": VALUE, "gpu.nvidia.com/memory": VALUE}),
    device(attributes={"a/b/c": {"int": 1}}),
    device(consumesCounters=[{"counterSet": "nowhere", "counters": COUNTERS}]),
    device(bindsToNode=True, bindingConditions=["a"], bindingFailureConditions=["b"]),
    selected(requirement(key="a", operator="In", values=["b"])),
    shared({"default": "50Gi"}),
    shared({"default": "1Gi", "validRange": {"min": "1Gi", "max": "40Gi", "step": "1Gi"}}),
    shared({"default": 2, "validValues": [1, 2, 4]}),
    counters({"name": "c", "counters": COUNTERS}),
    rule(),
    rule(deviceSelector={"driver": "a.b", "pool": "p/q", "device": "g"}),
]


@pytest.mark.parametrize(("document", "expected"), REFUSED)
def test_a_slice_or_taint_rule_is_refused_in_the_api_server_s_words(
    document: Document, expected: str
) -> None:
    assert expected in problems(document)


@pytest.mark.parametrize("document", ACCEPTED)
def test_what_the_api_server_does_not_look_at_is_let_in(document: Document) -> None:
    assert problems(document) == []


def test_devices_of_their_own_nodes_are_let_in() -> None:
    term = requirement(key="a", operator="Exists")
    each = [{"nodeName": "n"}, {"allNodes": True}, {"nodeSelector": {"nodeSelectorTerms": [term]}}]
    named = [{"name": f"g{index}"} | nodes for index, nodes in enumerate(each)]
    assert problems(resource_slice(*named, nodeName=None, perDeviceNodeSelection=True)) == []


def test_before_1_37_an_attribute_with_no_value_is_told_otherwise() -> None:
    expected = f'{DEVICE}.attributes[a]: Invalid value: "": exactly one value must be specified'
    assert problems(attribute(), Target.V1_36) == [expected]


@pytest.mark.parametrize(
    ("version", "better"), [("580.065.06", "580.65.6"), ("8.0", "8.0.0"), ("v1.2.3", "1.2.3"), ("7", "7.0.0")]
)
def test_a_version_s_remedy_writes_it_as_it_should_be(version: str, better: str) -> None:
    assert remedies(attribute(version=version))[0].endswith(f": {better}.")


def test_every_remedy_is_a_sentence() -> None:
    for document, _ in REFUSED:
        for remedy in remedies(document):
            assert remedy.endswith(".")
            assert remedy[0].isupper()
