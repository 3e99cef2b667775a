"""`--pool PRODUCT=COUNT[/NUMA][xNODES]`."""

import pytest

from dra.pool import Mechanism
from lab.pool_option import parse_pool


def test_the_whole_form() -> None:
    pool = parse_pool("NVIDIA H100 80GB HBM3=8/2x4", "pool0")
    assert (pool.product, pool.count, pool.numa_nodes) == ("NVIDIA H100 80GB HBM3", 8, 2)
    assert pool.nodes == ["pool0-0", "pool0-1", "pool0-2", "pool0-3"]
    assert pool.mechanism is Mechanism.CLAIMED


def test_one_node_and_one_numa_node_unless_said() -> None:
    pool = parse_pool("NVIDIA T4=1", "pool0")
    assert (pool.numa_nodes, len(pool.nodes)) == (1, 1)


@pytest.mark.parametrize(
    ("text", "product"),
    [("H100=1", "NVIDIA H100 80GB HBM3"), ("a100=1", "NVIDIA A100-SXM4-40GB"), ("l40s = 1", "NVIDIA L40S")],
)
def test_a_product_may_be_cut_short(text: str, product: str) -> None:
    assert parse_pool(text.replace(" ", ""), "pool0").product == product


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("H100", "not of the form"),
        ("H100=", "not of the form"),
        ("H100=8/", "not of the form"),
        ("V100=1", "products that are known: NVIDIA T4"),
        ("NVIDIA=1", "products that are known"),
        ("H100=0", "count"),
        ("H100=129", "count"),
        ("H100=8/3", "is no pool: 8 GPUs do not share out evenly over 3 NUMA nodes"),
        ("H100=8/0", "greater than or equal to 1"),
        ("H100=8x0", "1 to 1000 nodes"),
        ("H100=8x9999", "1 to 1000 nodes"),
        ("H100=99999999", "not of the form"),
        ("H100=\N{ARABIC-INDIC DIGIT THREE}", "not of the form"),
    ],
)
def test_what_is_no_pool_is_said_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"\.$") as error:
        parse_pool(text, "pool0")
    assert says in str(error.value)
    assert str(error.value).endswith(".")
