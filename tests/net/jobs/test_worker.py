"""What a worker reports, and in which order."""

from typing import Any, cast

from twisted.internet.task import Clock

from referee.net.jobs.worker import LeftToOthers


def test_a_match_is_over_only_once_its_last_step_was_told() -> None:
    """Nothing is synced, and yet whoever waits for it hears of it only when what was going on is through."""
    clock = Clock()
    synced = LeftToOthers(clock).sync(cast("Any", None))
    assert not synced.called
    clock.advance(0)
    assert synced.called
