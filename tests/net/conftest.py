"""Matches between in-memory links, for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .in_memory import InMemoryMatch, Sit


@pytest.fixture
def sit(tmp_path: Path) -> Iterator[Sit]:
    """Return what makes a match, and leave no file open."""
    made: list[InMemoryMatch] = []

    def make(**setup: Any) -> InMemoryMatch:
        made.append(InMemoryMatch(tmp_path, **setup))
        return made[-1]

    yield make
    for sitting in made:
        sitting.writer.close()


@pytest.fixture
def sitting(sit: Sit) -> InMemoryMatch:
    """Return a match of two that has just asked seat 0."""
    sitting = sit()
    sitting.ready()
    return sitting
