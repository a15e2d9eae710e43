"""What waits in a contest, and why."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from twisted.internet.task import Clock

from referee.app.contest.contest_file import read_contest, write_example
from referee.app.contest.queues import waiting_checks, waiting_tournaments
from referee.app.contest.tournament_runs import RunState, TournamentRun
from referee.plugins import load
from referee.site.live import LiveTables
from referee.submissions.check_queue import CheckQueue
from referee.submissions.store import Store

START = datetime(2999, 1, 1, tzinfo=UTC)
WAITING = {
    RunState.WAITING: ("its time has not come", "2999-01-01T00:00:00+00:00", False),
    RunState.PAUSED: ("the organiser has paused it", None, True),
    RunState.FAILED: ("its file is wrong", None, True),
    RunState.STOPPING: ("are being stopped", None, False),
}


def test_checks_wait_for_those_before_them(tmp_path: Path) -> None:
    """The one that is made now is the first, and it is known when each is over, or begins, at the latest."""
    store = Store(tmp_path)
    checks = CheckQueue(Clock(), store, str, lambda *_, **__: None, ())
    checks.add("bob", 2)
    checks.add("carl", 1)
    checks.current, checks.begun = ("ada", 1), "2026-11-01T10:00:00.123+00:00"
    limit = "a check takes 10 minutes at most"
    assert [(line.what, line.author, line.why, line.until) for line in waiting_checks(checks)] == [
        ("check of version 1", "ada", f"is made now; {limit}", "2026-11-01T10:10:00+00:00"),
        (
            "check of version 2",
            "bob",
            f"waits for the 1 before it: one is made at a time, and {limit}",
            "2026-11-01T10:10:00+00:00",
        ),
        (
            "check of version 1",
            "carl",
            f"waits for the 2 before it: one is made at a time, and {limit}",
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
    assert (why in line.why, line.until, line.waits_for_organiser) == (True, until, waits)


def test_after_a_fault_it_is_known_when_it_is_begun_again(run: TournamentRun) -> None:
    """As long as nobody stops it; what is played or over does not wait."""
    run.state = RunState.INTERRUPTED
    (line,) = waiting_tournaments([run])
    assert line.until is not None
    for state in (RunState.RUNNING, RunState.OVER):
        run.state = state
        assert list(waiting_tournaments([run])) == []
