"""One referee for the whole session, and the marks of a suite that needs Go and the tools' caches."""

from collections.abc import Generator
from pathlib import Path

import pytest
from referee import Referee, build

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def referee() -> Generator[Referee]:
    with Referee(build()) as running:
        yield running
