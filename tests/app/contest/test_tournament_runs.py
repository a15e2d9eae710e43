"""The processes in which a contest's tournaments are played, and the reports of what they play."""

import shutil
from pathlib import Path

from referee.app.contest.contest_file import read_contest, write_example
from referee.app.contest.publishing import Publisher
from referee.app.contest.tournament_runs import RunState, TournamentRun
from referee.plugins import load
from referee.site.live import LiveTables

from .runs import Reactor

IN_BACKGROUND = """trap "" INT; echo '{"event": "tournament-begun", "played": 7}'; exec tail -f /dev/null"""
"""Plays for ever, and ignores SIGINT, as what a script starts in the background does."""


def nothing(*_: object, **__: object) -> None:
    """Tell nobody."""


def test_a_run_stops_that_was_started_in_the_background(tmp_path: Path) -> None:
    """And without the folder of its records, too."""
    write_example(tmp_path)
    scheduled = read_contest(tmp_path, load()).tournaments[0]
    reactor, referee = Reactor(), ("/bin/sh", "-c", IN_BACKGROUND)
    run = TournamentRun(reactor, scheduled, referee, (), LiveTables(reactor, "after"), nothing)
    run.folder.mkdir(parents=True)
    run.begin()
    reactor.next_call()
    assert (run.state, run.played) == (RunState.RUNNING, 7)
    shutil.rmtree(run.folder)
    ended = run.stop()
    assert not ended.called
    reactor.next_call()
    assert (run.state, ended.called) == (RunState.INTERRUPTED, True)


def test_a_publisher_that_was_stopped_looks_no_more(tmp_path: Path) -> None:
    """Neither at the records after its time, nor once the report is made that was being made."""
    record = tmp_path / "cup.jsonl"
    record.write_text("line\n")
    reactor = Reactor()
    publisher = Publisher(reactor, {"cup": tmp_path}, ("/bin/true",), nothing, nothing)
    publisher.begin()
    record.unlink()  # it is none
    publisher.stop()
    reactor.next_call()
    assert publisher.published["cup"].seen == 5
    assert reactor.getDelayedCalls() == []
