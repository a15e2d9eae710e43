"""A home of its own for the key that seals the records of these tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.api.played import sealer


@pytest.fixture(scope="session")
def _home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _own_key(_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HOME", str(_home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    sealer.cache_clear()
    yield
    sealer.cache_clear()
