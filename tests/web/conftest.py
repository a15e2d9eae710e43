"""Common parts of the tests of the site."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .sites import TestSite


@pytest.fixture
def contest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestSite]:
    """Return the site of a contest with one tournament that is played."""
    site = TestSite(tmp_path, monkeypatch)
    yield site
    site.members.streams.close_all()
    site.members.replays.close()
    site.store.close()
