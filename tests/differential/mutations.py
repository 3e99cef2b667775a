"""Documents of every kind that is about DRA, most of them damaged at one place or two."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any, cast

from claims import claims
from expressions import EXPRESSIONS
from hypothesis import strategies as st
from inventories import CLASSES, GPU, Document, clusters, rarely, resource

_WRONG_TEXTS = [
    *("", " ", "x", "X", "a.b", "a/b", "a/b/c", "example.com/a_b", "-a", "a" * 33, "a" * 64, "a" * 260, "1"),
    *("0", "-1", "1.5", "1Gi", "1 Gi", "8.0", "All", "all", "Exists", "true"),
]
LONGEST = 20_000
_WRONG_NUMBERS = [0, 1, -1, 2, 33, 129, 1.5, 2**31, 2**40]
_WRONG_OTHERS: Sequence[Any] = [None, True, False, [], {}, [None], ["a", "a"], [{}], {"a": "b"}, {"x": None}]
_WRONG_VALUES: Sequence[Any] = (*_WRONG_TEXTS, *_WRONG_NUMBERS, *_WRONG_OTHERS)
_WRONG: st.SearchStrategy[Any] = st.sampled_from(_WRONG_VALUES)
_SPELT = """
    name deviceClassName exactly firstAvailable allocationMode count adminAccess tolerations capacity
    requests selectors constraints config matchAttribute distinctAttribute cel expression operator value
    effect tolerationSeconds opaque parameters driver pool nodeName nodeSelector allNodes
    perDeviceNodeSelection devices attributes int string bool version strings ints taints consumesCounters
    sharedCounters bindingConditions bindingFailureConditions bindsToNode allowMultipleAllocations
    requestPolicy default validValues validRange extendedResourceName derivedAttributes skipNodeOperations
    partitionTypeAttribute compatibilityGroups nodeAllocatableResources resourceClaimName
    resourceClaimTemplateName source basic stringValue spec metadata labels annotations namespace
    generateName status deviceSelector device taint timeAdded request claims finalizers unknown
"""
_KEYS = st.sampled_from(_SPELT.split())


def _places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield where each value inside a document is."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            yield (*at, key)
            yield from _places(inner, (*at, key))
    elif isinstance(value, list):
        for number, inner in enumerate(cast("list[object]", value)):
            yield (*at, number)
            yield from _places(inner, (*at, number))


def _inside(document: Any, at: Sequence[str | int]) -> Any:  # noqa: ANN401 - any JSON value
    for step in at:
        document = document[step]
    return document


def _about_claims(place: Sequence[str | int]) -> bool:
    """Tell whether a place in a workload is one that the checker looks at."""
    return not {"resourceClaims", "claims"}.isdisjoint(place[:-1])


@st.composite
def damaged(draw: st.DrawFn, documents: st.SearchStrategy[Document]) -> Document:
    """A document with up to two changes: a value, a key or an element lost, put in, replaced or doubled."""
    document = copy.deepcopy(draw(documents))
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2]))):
        places = [place for place in _places(document) if place not in {("kind",), ("apiVersion",)}]
        if document["kind"] in {"Pod", "Deployment"}:
            places = list(filter(_about_claims, places))
        if not places:
            break
        place = draw(st.sampled_from(places))
        _damage(draw, _inside(document, place[:-1]), place[-1])
    return document


def _damage(draw: st.DrawFn, holder: Any, at: str | int) -> None:  # noqa: ANN401 - any JSON object or list
    value = holder[at]
    change = draw(st.sampled_from(["replace", "replace", "delete", "rename", "add", "double", "swell"]))
    if change == "delete":
        del holder[at]
    elif change == "rename" and isinstance(holder, dict):
        del holder[at]
        holder[draw(_KEYS)] = value
    elif change == "add":
        holder[at] = (value if isinstance(value, dict) else Document()) | {
            draw(_KEYS): copy.deepcopy(draw(_WRONG))
        }
    elif change == "double" and isinstance(holder, list):
        cast("list[object]", holder).append(copy.deepcopy(value))
    elif change == "swell" and isinstance(value, list):
        holder[at] = _grown(cast("list[Any]", value), draw(st.sampled_from([9, 17, 33, 65, 129])))
    elif change == "swell" and isinstance(value, str):
        # Not again and again: more than 3 MiB is refused before anybody looks, which the referee does not do.
        holder[at] = (value * draw(st.sampled_from([2, 30, 5000])))[:LONGEST]
    else:  # mostly by a value of the same type, since another type is refused as soon as it is read
        alike = [wrong for wrong in _WRONG_VALUES if type(wrong) is type(value)]
        # A copy, since a second change may be inside of it.
        holder[at] = copy.deepcopy(draw(st.sampled_from([*alike, *alike, *alike, *_WRONG_VALUES])))


def _grown(values: list[Any], size: int) -> list[Any]:
    """Return so many copies, with names of their own where they have names."""
    grown = [copy.deepcopy(values[i % len(values)]) for i in range(size)] if values else []
    for number, value in enumerate(grown):
        if isinstance(value, dict) and "name" in value:
            value["name"] = f"{value['name']}-{number}"
    return grown


def _pod_spec(claim: Document) -> Document:
    use = {"name": "main", "image": "registry.k8s.io/pause", "resources": {"claims": [claim]}}
    source = {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}
    return {"restartPolicy": "Always", "containers": [use], "resourceClaims": [source]}


_USES: st.SearchStrategy[Document] = st.sampled_from(
    [{"name": "gpu"}, {"name": "gpu", "request": "r0"}, {"name": "net"}]
)
_PODS = _USES.map(
    lambda use: {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": _pod_spec(use)}
)
_DEPLOYMENTS = _USES.map(
    lambda use: {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "deployment"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": _pod_spec(use)},
        },
    }
)
CLAIMS = claims(selector=st.one_of(EXPRESSIONS, st.just(f"device.driver == '{GPU}'")))
_TEMPLATES = CLAIMS.map(
    lambda claim: (
        claim
        | {
            "kind": "ResourceClaimTemplate",
            "spec": {"spec": claim["spec"], "metadata": {"labels": {"a": "b"}}},
        }
    )
)
_CLASSES = st.one_of(
    st.sampled_from(CLASSES),
    EXPRESSIONS.map(
        lambda text: resource(
            "DeviceClass",
            "class",
            {
                "selectors": [{"cel": {"expression": text}}],
                "config": [{"opaque": {"driver": GPU, "parameters": {"a": 1}}}],
                "extendedResourceName": "example.com/gpu",
            },
        )
    ),
)
_OF_CLUSTERS = clusters().map(lambda cluster: [*cluster.slices, *cluster.taint_rules]).filter(bool)
_SLICES = _OF_CLUSTERS.flatmap(st.sampled_from)
_ALPHA: st.SearchStrategy[Document | None] = st.sampled_from(
    [
        {"attributes": {"list": {"strings": ["a", "b"]}}},
        {"attributes": {"list": {"ints": [1]}, "index": {"int": 1}}},
        {"nodeAllocatableResources": {"cpu": {"allocationMultiplier": "1"}}},
        {
            "consumesCounters": [
                {"counterSet": "gpu-0", "counters": {"a": {"value": "1"}}, "compatibilityGroups": ["x"]}
            ]
        },
    ]
)


@st.composite
def _slices_with_alphas(draw: st.DrawFn) -> Document:
    """A slice with, now and then, what is behind a gate that is off."""
    each = copy.deepcopy(draw(_SLICES))
    if devices := each["spec"].get("devices"):
        devices[0] |= draw(rarely(_ALPHA, {}, once_in=4)) or {}
    return each


DOCUMENTS = st.one_of(
    damaged(CLAIMS), damaged(CLAIMS), damaged(_TEMPLATES), damaged(_CLASSES), damaged(_slices_with_alphas()),
    damaged(_slices_with_alphas()), damaged(_PODS), damaged(_DEPLOYMENTS),
)  # fmt: skip
NAMESPACE_LABELS: st.SearchStrategy[dict[str, str]] = st.sampled_from(
    [
        {"resource.kubernetes.io/admin-access": "true"},
        {"resource.kubernetes.io/admin-access": "false"},
        {"resource.k8s.io/admin-access": "true"},
        {},
    ]
)
