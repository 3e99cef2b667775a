"""`--pool`: an inventory in a few words."""

import re

from pydantic import ValidationError

from dra.pool import GpuPool, Mechanism
from dra.product import PRODUCTS

FORM = "PRODUCT=COUNT[/NUMA][xNODES]"
EXAMPLE = "NVIDIA H100 80GB HBM3=8/2x4"

_POOL = re.compile(
    r"(?P<product>[^=]+)=(?P<count>\d{1,6})(?:/(?P<numa>\d{1,6}))?(?:x(?P<nodes>\d{1,6}))?", re.ASCII
)
MAX_NODES = 1000


def parse_pool(text: str, name: str) -> GpuPool:
    """Return the pool that `PRODUCT=COUNT[/NUMA][xNODES]` describes: so many GPUs on each of its nodes.

    Raises:
        ValueError: It is none, in a sentence.

    """
    found = _POOL.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not of the form {FORM}, such as {EXAMPLE!r}.")
    nodes = int(found["nodes"] or 1)
    if not 1 <= nodes <= MAX_NODES:
        raise ValueError(f"A pool has 1 to {MAX_NODES} nodes, and {text!r} says {nodes}.")
    try:
        return GpuPool(
            name=name,
            product=_product(found["product"].strip()),
            count=int(found["count"]),
            mechanism=Mechanism.CLAIMED,
            numa_nodes=int(found["numa"] or 1),
            nodes=[f"{name}-{index}" for index in range(nodes)],
        )
    except ValidationError as error:
        why = "; ".join(": ".join([*map(str, each["loc"]), each["msg"]]) for each in error.errors())
        raise ValueError(f"{text!r} is no pool: {why.removeprefix('Value error, ')}.") from None


def _product(text: str) -> str:
    """Return the one product that has all words of a text."""
    words = text.lower().split()
    meant = [name for name in PRODUCTS if text == name or set(words) <= set(re.split(r"[ -]", name.lower()))]
    if len(meant) != 1:
        raise ValueError(f"{text!r} is not one of the products that are known: {', '.join(PRODUCTS)}.")
    return meant[0]
