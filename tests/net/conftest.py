"""Matches between in-memory links, for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .in_memory import InMemoryMatch, OpenMatch


@pytest.fixture
def open_match(tmp_path: Path) -> Iterator[OpenMatch]:
    """Return what makes a match, and leave no file open."""
    made: list[InMemoryMatch] = []

    def make(**setup: Any) -> InMemoryMatch:
        made.append(InMemoryMatch(tmp_path, **setup))
        return made[-1]

    yield make
    for match in made:
        match.writer.close()


@pytest.fixture
def running(open_match: OpenMatch) -> InMemoryMatch:
    """Return a match of two that has just asked seat 0."""
    running = open_match()
    running.ready()
    return running
