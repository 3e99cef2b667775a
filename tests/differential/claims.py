"""ResourceClaims as hypothesis makes them: mostly what the API server lets in."""

from typing import Any

from expressions import ADMITTED
from hypothesis import strategies as st
from inventories import GPU, STANDARD, Document, rarely, resource, seldom

_CLASSES = st.sampled_from([GPU, GPU, "nvidia", "nvidia", "nvidia", "any", "net", "two", "sloppy"])
_TOLERATIONS: st.SearchStrategy[Document] = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["example.com/unhealthy", "maintenance"]),
        "operator": st.sampled_from(["Exists", "Equal"]),
    },
    optional={
        "effect": st.sampled_from(["NoSchedule", "NoExecute"]),
        "value": st.sampled_from(["ecc", "tonight"]),
    },
).map(lambda one: {key: value for key, value in one.items() if key != "value" or one["operator"] == "Equal"})
_ANY_TAINT = st.just({"operator": "Exists"})
_CAPACITY = st.one_of(
    st.sampled_from(["1Gi", "7Gi", "20Gi", "40Gi", "100Gi"]).map(lambda amount: {"memory": amount}),
    st.sampled_from(
        [{}, {"bandwidth": "1G"}, {f"{GPU}/memory": "10Gi"}, {"memory": "7Gi", "bandwidth": "10G"}]
    ),
)
"""Bare names and qualified ones: a request finds a capacity only as the slice spells it."""
ATTRIBUTE_NAMES = st.sampled_from(
    [
        f"{STANDARD}/numaNode",
        f"{STANDARD}/numaNode",
        f"{STANDARD}/pcieRoot",
        f"{GPU}/productName",
        f"{GPU}/index",
        f"{GPU}/driverVersion",
        f"{GPU}/fabric",
        f"{GPU}/absent",
    ]
)


@st.composite
def _wanted(draw: st.DrawFn, selector: st.SearchStrategy[str]) -> Document:
    """What an exact request and an alternative have in common."""
    wanted: Document = {"deviceClassName": draw(_CLASSES)}
    if draw(seldom(40)):
        wanted["deviceClassName"] = "gone"
    if expressions := draw(
        st.sampled_from([0, 0, 0, 1, 1, 2]).flatmap(
            lambda size: st.lists(selector, min_size=size, max_size=size)
        )
    ):
        wanted["selectors"] = [{"cel": {"expression": text}} for text in expressions]
    count: dict[str, Any] = draw(
        st.one_of(
            st.just(Document()),
            st.sampled_from([1, 1, 2, 2, 3, 4, 8]).map(lambda number: {"count": number}),
            st.sampled_from([1, 2, 4]).map(lambda number: {"allocationMode": "ExactCount", "count": number}),
            rarely(st.just({"count": 33}), {"allocationMode": "All"}, once_in=10),
        )
    )
    wanted |= count
    if tolerations := draw(rarely(st.lists(_TOLERATIONS | _ANY_TAINT, min_size=1, max_size=2), once_in=2)):
        wanted["tolerations"] = tolerations
    if capacity := draw(rarely(_CAPACITY, once_in=3)):
        wanted["capacity"] = {"requests": capacity}
    return wanted


@st.composite
def _request(draw: st.DrawFn, name: str, selector: st.SearchStrategy[str]) -> Document:
    if draw(seldom(3)):
        alternatives = [
            {"name": f"alt-{i}"} | draw(_wanted(selector)) for i in range(draw(st.integers(1, 3)))
        ]
        return {"name": name, "firstAvailable": alternatives}
    exactly = draw(_wanted(selector))
    if draw(seldom(14)):
        exactly["adminAccess"] = draw(st.booleans())
    return {"name": name, "exactly": exactly}


@st.composite
def _constraint(draw: st.DrawFn, requests: list[Document]) -> Document:
    names = [each["name"] for each in requests]
    names += [f"{each['name']}/{sub['name']}" for each in requests for sub in each.get("firstAvailable", ())]
    kind = draw(st.sampled_from(["matchAttribute", "matchAttribute", "distinctAttribute"]))
    of = draw(rarely(st.lists(st.sampled_from(names), min_size=1, unique=True), once_in=2)) if names else None
    return {kind: draw(ATTRIBUTE_NAMES)} | ({"requests": of} if of else {})


@st.composite
def claims(draw: st.DrawFn, name: str = "claim", selector: st.SearchStrategy[str] = ADMITTED) -> Document:
    requests = [
        draw(_request(f"r{i}", selector)) for i in range(draw(st.sampled_from([1, 1, 1, 2, 2, 2, 3, 0])))
    ]
    devices: Document = {"requests": requests} if requests else {}
    if constraints := draw(rarely(st.lists(_constraint(requests), min_size=1, max_size=2), once_in=2)):
        devices["constraints"] = constraints
    if draw(seldom(10)):
        devices["config"] = [{"opaque": {"driver": GPU, "parameters": {"kind": "GpuConfig"}}}]
    return resource("ResourceClaim", name, {"devices": devices}, namespace="default")


@st.composite
def claims_of_a_pod(draw: st.DrawFn) -> list[Document]:
    count = draw(st.sampled_from([1, 1, 1, 2, 3]))
    return [draw(claims(f"claim-{i}")) for i in range(count)]
