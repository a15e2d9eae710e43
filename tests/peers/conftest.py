"""A referee process for the tests of this folder."""

import os
from collections.abc import Iterator

import pytest

from referee.record.key import default_path, load_or_make

from .match_server import MatchServer
from .rogues import Honest


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MatchServer]:
    """Return a running server that has played its first match; in the end, check that it stayed small."""
    key = load_or_make(default_path(os.environ))[0].public
    with MatchServer(tmp_path_factory.mktemp("server"), key) as running:
        address = running.open("first", "q", 2)
        players = [Honest(address, name) for name in ("ada", "bob")]
        for player in players:
            player.start()
        for player in players:
            player.finish()
        assert running.outcome().fouls == []
        running.settle()
        yield running
