"""How often a process that plays matches collects garbage."""

import gc
from collections.abc import Iterator

import pytest

from referee.net.event_loop import YOUNG_OBJECTS, collect_garbage_rarely


@pytest.fixture
def usual() -> Iterator[tuple[int, int, int]]:
    """Return Python's thresholds for collecting garbage, and restore them afterwards."""
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


def test_what_is_there_is_left_alone(usual: tuple[int, int, int]) -> None:
    """Old objects do not belong to any generation any more.

    New ones are collected in the usual generations, after many objects.
    """
    before = gc.get_freeze_count()
    kept = [[number] for number in range(1000)]
    collect_garbage_rarely()
    assert gc.get_freeze_count() >= before + len(kept)
    assert gc.get_threshold() == (YOUNG_OBJECTS, *usual[1:])
    assert gc.isenabled()
