"""The processes in which a contest's tournaments are played, and the reports of what they play."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from referee.app.contest.contest_file import read_contest, write_example
from referee.app.contest.organising import Organising
from referee.app.contest.publishing import Publisher
from referee.app.contest.tournament_runs import RunState, TournamentRun, count_open
from referee.errors import BadRequest
from referee.plugins import load
from referee.site.live import LiveTables

from .runs import Reactor

IN_BACKGROUND = """trap "" INT; echo '{"event": "tournament-begun", "played": 7}'; exec tail -f /dev/null"""
"""Plays for ever, and ignores SIGINT, as what a script starts in the background does."""
OPENED = """echo '{"event": "match-opened", "match": "a", "names": ["x", "y"], "round": 1, "table": 1}'; """
HOST = '{"name": "host1", "state": "plays", "tables": 2, "matches": ["a"], "silent_s": 3600.0, "lag_ms": 1.5}'
TOLD = f"""echo '{{"event": "processes-seen", "processes": [{HOST}]}}'; exec tail -f /dev/null"""


def nothing(*_: object, **__: object) -> None:
    """Tell nobody."""


def test_a_run_stops_that_was_started_in_the_background(tmp_path: Path) -> None:
    """And without the folder of its records, too."""
    write_example(tmp_path)
    scheduled = read_contest(tmp_path, load()).tournaments[0]
    reactor, referee = Reactor(), ("/bin/sh", "-c", IN_BACKGROUND)
    run = TournamentRun(reactor, scheduled, referee, (), LiveTables(reactor, "after"), nothing)
    run.folder.mkdir(parents=True)
    assert count_open([run]) is None
    run.begin()
    reactor.next_call()
    assert (run.state, run.played, count_open([run])) == (RunState.RUNNING, 7, 0)
    shutil.rmtree(run.folder)
    ended = run.stop()
    assert not ended.called
    reactor.next_call()
    assert (run.state, ended.called, count_open([run])) == (RunState.INTERRUPTED, True, 0)


def test_matches_of_all_tournaments_are_counted(tmp_path: Path) -> None:
    """Until they are over, or the process is that played them; whether others may follow is told, too."""
    write_example(tmp_path)
    scheduled = read_contest(tmp_path, load()).tournaments[0]
    reactor = Reactor()
    for_ever, once = (("/bin/sh", "-c", OPENED + after) for after in ("exec tail -f /dev/null", "exit 0"))
    runs = [TournamentRun(reactor, scheduled, sh, (), LiveTables(reactor, "after"), nothing) for sh in (for_ever, once)]
    assert count_open(runs) is None
    for run in runs:
        run.begin()
    for _ in range(3):
        reactor.next_call()
    assert [run.state for run in runs] == [RunState.RUNNING, RunState.OVER]
    assert (count_open(runs), count_open(runs[1:])) == (1, None)
    runs[0].stop()
    reactor.next_call()


def test_organisers_see_what_plays(tmp_path: Path) -> None:
    """As long as its tournament is played, and when it was heard of last."""
    write_example(tmp_path)
    scheduled = read_contest(tmp_path, load()).tournaments[0]
    reactor, referee = Reactor(), ("/bin/sh", "-c", TOLD)
    run = TournamentRun(reactor, scheduled, referee, (), LiveTables(reactor, "after"), nothing)
    organising = Organising(tmp_path, {"cup": run}, cast("Any", None), cast("Any", None), lambda: 0.0, lambda _: None)
    run.begin()
    assert organising.processes() == []
    reactor.next_call()
    (line,) = organising.processes()
    assert (line.tournament, line.name, line.tables, line.lag_ms) == ("cup", "host1", 2, 1.5)
    assert datetime.fromisoformat(line.heard) < datetime.now(UTC) - timedelta(minutes=59)
    run.stop()
    reactor.next_call()
    assert organising.processes() == []


def test_what_is_paused_is_started_for_a_ruling_that_must_run(tmp_path: Path) -> None:
    """Such as the one that stops it for good, of which a tournament that has not begun knows nothing."""
    write_example(tmp_path)
    scheduled = read_contest(tmp_path, load()).tournaments[0]
    reactor, referee = Reactor(), ("/bin/true",)
    run = TournamentRun(reactor, scheduled, referee, (), LiveTables(reactor, "after"), nothing)
    organising = Organising(tmp_path, {"cup": run}, cast("Any", None), cast("Any", None), lambda: 0.0, lambda _: None)
    with pytest.raises(BadRequest, match="cup waits for its time: one that is played, or paused, can be stopped"):
        organising.rule("ann", "cup", "stop", "", "", "power cut")
    run.folder.mkdir(parents=True)
    run.pause()
    assert (run.state, run.may_stop) == (RunState.PAUSED, True)
    for must_run, state in ((False, RunState.PAUSED), (True, RunState.RUNNING)):
        run.look_again(must_run=must_run)
        reactor.next_call()
        assert run.state is state
    reactor.next_call()
    assert (run.state, run.may_stop, run.may_start, count_open([run])) == (RunState.OVER, False, False, None)
    assert not run.folder.with_name("cup.paused").exists()


def test_a_publisher_that_was_stopped_looks_no_more(tmp_path: Path) -> None:
    """Neither at the records after its time, nor once the report is made that was being made."""
    record = tmp_path / "cup.jsonl"
    record.write_text("line\n")
    reactor = Reactor()
    publisher = Publisher(reactor, ("/bin/true",), nothing, nothing)
    publisher.follow("cup", tmp_path)
    publisher.begin()
    record.unlink()  # it is none
    publisher.stop()
    reactor.next_call()
    assert publisher.published["cup"].seen == 5
    assert reactor.getDelayedCalls() == []
