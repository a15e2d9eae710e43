"""A referee process for the tests of this folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.record.key_file import default_path, load_or_make

from .halls import Halls
from .rogues import Honest


@pytest.fixture(scope="session")
def halls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Halls]:
    """Return a running hall that has played its first match; whoever played there, it stayed small."""
    key = load_or_make(default_path(os.environ))[0].public
    with Halls(tmp_path_factory.mktemp("hall"), key) as running:
        address = running.open("first", "q", 2)
        players = [Honest(address, name) for name in ("ada", "bob")]
        for player in players:
            player.start()
        for player in players:
            player.finish()
        assert running.outcome().fouls == []
        running.settle()
        yield running


@pytest.fixture
def folder(halls: Halls) -> Path:
    """Return where the hall's records are."""
    return halls.folder
