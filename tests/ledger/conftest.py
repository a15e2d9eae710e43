"""The databases that the ledger is tested on: SQLite, and PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.ledger.ledger import Ledger, url_of

from .ledgers import founded
from .postgresql import new_schema


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database, of each kind once."""
    if request.param == "sqlite":
        return url_of(tmp_path / "ledger.sqlite")
    return new_schema(request.getfixturevalue("postgresql"))


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """Return a ledger that has the tournament `cup`, on each kind of database once."""
    made = founded(url)
    yield made
    made.close()
