"""Matches between in-memory links, for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .in_memory import InMemoryMatch, OpenMatch


@pytest.fixture
def open_match(tmp_path: Path) -> Iterator[OpenMatch]:
    """Return the function that makes a match; close all its files at the end."""
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
