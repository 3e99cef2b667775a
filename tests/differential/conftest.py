"""One referee for the whole session."""

from collections.abc import Generator
from pathlib import Path

import pytest
from judging import CASES, SEED
from referee import Referee, build

HERE = Path(__file__).parent


def pytest_report_header() -> str:
    return f"differential: {CASES} cases (GPULAB_CASES), seed {SEED} (GPULAB_SEED)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def referee() -> Generator[Referee]:
    with Referee(build()) as running:
        yield running
