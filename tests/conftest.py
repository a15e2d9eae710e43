"""What holds for every test: a record that it wrote audits clean, unless the test says that it forges records."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.plugins import load
from referee.record.audit import audit


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks of this suite."""
    config.addinivalue_line("markers", "forges: writes records that must not hold")


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give a test its own folder, and audit the records that it leaves there."""
    yield tmp_path
    if request.node.get_closest_marker("forges") is None:
        registry = load()
        for path in tmp_path.rglob("*.jsonl"):
            audit(path, registry.game, is_strict=False)
