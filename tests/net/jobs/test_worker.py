"""What a worker reports, and in which order."""

from pathlib import Path
from typing import Any, cast

from twisted.internet.task import Clock

from referee.net.jobs.messages import Report
from referee.net.jobs.worker import NoGroupCommit, Reporter
from referee.observers import MatchStep

from .played import JOB, Played


def test_only_a_match_that_is_followed_is_told_step_by_step(tmp_path: Path) -> None:
    """Of another one, nobody would hear."""
    played, reports, followed = Played(tmp_path, 1), list[Report](), set[str]()
    played.writer.close()
    (told,) = played.told
    step = MatchStep(
        setup=JOB.setup,
        line=told.line,
        hash=told.hash,
        event=told.event,
        commands=(),
        turn=0,
        position=None,
        asked=(),
        expelled=(),
    )
    reporter = Reporter(reports.append, followed)
    reporter.match_stepped(step)
    followed.add(JOB.match)
    reporter.match_stepped(step)
    assert reports == [told]


def test_a_match_is_over_only_once_its_last_step_was_told() -> None:
    """Nothing is synced, and yet whoever waits for it hears of it only when what was going on is through."""
    clock = Clock()
    synced = NoGroupCommit(clock).sync(cast("Any", None))
    assert not synced.called
    clock.advance(0)
    assert synced.called
