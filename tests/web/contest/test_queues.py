"""What waits in a contest, and why."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from twisted.internet.task import Clock

from referee.plugins import load
from referee.web.contest.contest_file import read_contest, write_example
from referee.web.contest.queue import waiting_checks, waiting_tournaments
from referee.web.contest.tournament_runs import RunState, TournamentRun
from referee.web.live import LiveTables
from referee.web.submissions.check_queue import CheckQueue
from referee.web.submissions.store import Store

from ..submissions.receptions import archive

START = datetime(2999, 1, 1, tzinfo=UTC)
WAITING = {
    RunState.WAITING: ("its time has not come", "2999-01-01T00:00:00+00:00", False),
    RunState.PAUSED: ("the organiser has paused it", None, True),
    RunState.FAILED: ("its file is wrong", None, True),
    RunState.ELSEWHERE: ("another referee plays it", None, False),
    RunState.STOPPING: ("are being stopped", None, False),
}


def test_checks_wait_for_those_before_them(tmp_path: Path) -> None:
    """The one that is made now is the first, and it is known when each is over, or begins, at the latest."""
    store = Store(tmp_path)
    checks = CheckQueue(Clock(), store, str, lambda *_, **__: None, ())
    for author in ("ada", "bob", "carl"):
        checks.add(author, store.hand_in(author, archive(), f"handed in by {author}")[0])
    checks.current, checks.begun = checks.waiting()[0], "2026-11-01T10:00:00.123+00:00"
    checks._queue.pending.pop(0)
    limit = "a check takes 10 minutes at most"
    lines = list(waiting_checks(checks))
    assert {line.what for line in lines} == {"check of version 1"}
    assert [(line.author, line.why, line.since, line.until) for line in lines] == [
        ("ada", f"is made now; {limit}", "handed in by ada", "2026-11-01T10:10:00+00:00"),
        (
            "bob",
            f"waits for the 1 before it: one is made at a time, and {limit}",
            "handed in by bob",
            "2026-11-01T10:10:00+00:00",
        ),
        (
            "carl",
            f"waits for the 2 before it: one is made at a time, and {limit}",
            "handed in by carl",
            "2026-11-01T10:20:00+00:00",
        ),
    ]
    store.close()


@pytest.fixture
def run(tmp_path: Path) -> TournamentRun:
    """Return one whose time has not come."""
    write_example(tmp_path)
    scheduled = replace(read_contest(tmp_path, load()).tournaments[0], start=START)
    clock = Clock()
    found = TournamentRun(clock, scheduled, (), (), LiveTables(clock, "after"), lambda: None)
    found.begin()
    return found


@pytest.mark.parametrize("state", WAITING)
def test_a_tournament_says_what_it_waits_for(run: TournamentRun, state: RunState) -> None:
    """A time, or the organiser."""
    if state is not RunState.WAITING:
        run.stop()
    run.state = state
    (line,) = waiting_tournaments([run])
    why, until, waits = WAITING[state]
    assert line.since == run.since.isoformat(timespec="seconds")
    assert (why in line.why, line.until, line.waits_for_organiser) == (True, until, waits)


def test_after_a_fault_it_is_known_when_it_is_begun_again(run: TournamentRun) -> None:
    """As long as nobody stops it; what is played or over does not wait."""
    run.state = RunState.INTERRUPTED
    (line,) = waiting_tournaments([run])
    assert line.until is not None
    for state in (RunState.RUNNING, RunState.OVER):
        run.state = state
        assert list(waiting_tournaments([run])) == []
