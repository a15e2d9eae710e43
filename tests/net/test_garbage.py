"""How often a process that plays matches looks for garbage."""

import gc
from collections.abc import Iterator

import pytest

from referee.net.event_loop import YOUNG_OBJECTS, collect_garbage_rarely


@pytest.fixture
def usual() -> Iterator[tuple[int, int, int]]:
    """Return how often Python looks for garbage, and have it do so again afterwards."""
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


def test_what_is_there_is_left_alone(usual: tuple[int, int, int]) -> None:
    """It is in no generation any more; what is new is looked through, after many objects, in the usual ones."""
    before = gc.get_freeze_count()
    kept = [[number] for number in range(1000)]
    collect_garbage_rarely()
    assert gc.get_freeze_count() >= before + len(kept)
    assert gc.get_threshold() == (YOUNG_OBJECTS, *usual[1:])
    assert gc.isenabled()
