"""The processes that play a contest's tournaments, and the reports of these."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from referee.app.tournaments.beginning import lock
from referee.cli.commands.new import make_player
from referee.errors import BadRequest
from referee.plugins import load
from referee.web.contest.contest_file import CONTEST, read_contest, write_example
from referee.web.contest.organising import Organising
from referee.web.contest.publishing import Publisher
from referee.web.contest.tournament_runs import RunState, TournamentRun, count_open
from referee.web.live import LiveTables

from .runs import Reactor

IN_BACKGROUND = """trap "" INT; echo '{"event": "tournament-begun", "played": 7}'; exec tail -f /dev/null"""
"""Program that plays for ever and ignores SIGINT, like a process that a script starts in the background."""
OPENED = """echo '{"event": "match-opened", "match": "a", "names": ["x", "y"], "round": 1, "table": 1}'; """
HOST = '{"name": "host1", "state": "plays", "tables": 2, "matches": ["a"], "silent_s": 3600.0, "lag_ms": 1.5}'
TOLD = f"""echo '{{"event": "processes-seen", "processes": [{HOST}]}}'; exec tail -f /dev/null"""


def nothing(*_: object, **__: object) -> None:
    """Do nothing."""


def test_a_run_stops_that_was_started_in_the_background(tmp_path: Path) -> None:
    """It stops even without the folder of its records."""
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
    """They count until they or their process end. Whether others may follow is shown, too."""
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
    """They see each process while its tournament is played, with the time of its last sign of life."""
    write_example(tmp_path)
    scheduled = read_contest(tmp_path, load()).tournaments[0]
    reactor, referee = Reactor(), ("/bin/sh", "-c", TOLD)
    run = TournamentRun(reactor, scheduled, referee, (), LiveTables(reactor, "after"), nothing)
    nobody = cast("Any", None)
    organising = Organising(tmp_path, {"cup": run}, nobody, nobody, lambda: 0.0, lambda _: None, nobody)
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
    """The ruling that stops it for good is an example; a tournament that has not begun does not need the run."""
    write_example(tmp_path)
    scheduled = read_contest(tmp_path, load()).tournaments[0]
    reactor, referee = Reactor(), ("/bin/true",)
    run = TournamentRun(reactor, scheduled, referee, (), LiveTables(reactor, "after"), nothing)
    nobody = cast("Any", None)
    organising = Organising(tmp_path, {"cup": run}, nobody, nobody, lambda: 0.0, lambda _: None, nobody)
    with pytest.raises(BadRequest, match="cup waits for its time; only a tournament that has begun can be stopped"):
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


def run_of(folder: Path, number: int, referee: tuple[str, ...], **changed: Any) -> tuple[Reactor, TournamentRun]:
    """Return a run of one of the example's tournaments, and its clock."""
    write_example(folder)
    scheduled = replace(read_contest(folder, load()).tournaments[number], **changed)
    reactor = Reactor()
    return reactor, TournamentRun(reactor, scheduled, referee, (), LiveTables(reactor, "after"), nothing)


def state_of(run: TournamentRun) -> RunState:
    """Return the present state of a run."""
    return run.state


@pytest.mark.parametrize("start", [None, datetime(2999, 1, 1, tzinfo=UTC)])
def test_a_tournament_that_a_terminal_plays_is_played_elsewhere(tmp_path: Path, start: datetime | None) -> None:
    """This is no mistake in the file, even before its time. Later, the host takes the tournament over."""
    reactor, run = run_of(tmp_path, 0, ("/bin/true",), start=start)
    run.folder.mkdir(parents=True)
    with lock(run.folder):
        run.begin()
        for _ in range(2):
            run.look_around()
            assert (run.state, run.may_start, run.may_pause, run.due) == (RunState.ELSEWHERE, False, False, None)
    run.look_around()
    assert state_of(run) is RunState.RUNNING
    reactor.next_call()
    assert state_of(run) is RunState.OVER
    with lock(run.folder):  # for rulings, or a late entrant
        run.look_around()
        assert state_of(run) is RunState.ELSEWHERE
    run.look_around()
    reactor.next_call()
    assert state_of(run) is RunState.OVER


@pytest.mark.parametrize("state", [RunState.WAITING, RunState.PAUSED, RunState.FAILED, RunState.INTERRUPTED])
def test_what_waits_is_played_elsewhere_once_a_terminal_begins_it(tmp_path: Path, state: RunState) -> None:
    """This holds whatever it waits for. A tournament that the organiser had paused is paused again afterwards."""
    status = {RunState.FAILED: 2, RunState.INTERRUPTED: 1}.get(state)
    start = datetime(2999, 1, 1, tzinfo=UTC) if state is RunState.WAITING else None
    reactor, run = run_of(tmp_path, 0, ("/bin/sh", "-c", f"exit {status}"), start=start)
    if state is RunState.PAUSED:
        run.pause()
    run.begin()
    if status is not None:
        reactor.next_call()
    assert state_of(run) is state
    run.folder.mkdir(parents=True)
    with lock(run.folder):
        run.look_around()
        assert state_of(run) is RunState.ELSEWHERE
        reactor.advance(1000)
        assert state_of(run) is RunState.ELSEWHERE
    run.look_around()
    assert state_of(run) is (RunState.PAUSED if state is RunState.PAUSED else RunState.RUNNING)
    if state is not RunState.PAUSED:
        reactor.next_call()
    run.stop()


def test_a_tournament_that_waits_shows_who_is_in_it_by_now(tmp_path: Path) -> None:
    """The list changes when a program passes its check, and when the organiser changes the file correctly."""
    write_example(tmp_path)
    text = 'game = "quincy"\nentrants_from = "submissions"\nentrants = ["house:greedy", "house:random"]\n'
    (tmp_path / "cup.toml").write_text(text + '[format]\nname = "roundrobin"\n')
    (tmp_path / CONTEST).write_text('[[tournaments]]\nfile = "cup.toml"\nstart = 2999-01-01T00:00:00Z\n')
    (tmp_path / "submissions").mkdir()
    told = list[int]()
    (scheduled,) = read_contest(tmp_path, load()).tournaments
    reactor = Reactor()
    run = TournamentRun(
        reactor,
        scheduled,
        ("/bin/true",),
        (),
        LiveTables(reactor, "after"),
        lambda: told.append(len(run.scheduled.plan.spec.entrants)),
    )
    run.begin()
    run.look_around()
    assert told == []
    make_player("python", tmp_path / "player")
    (tmp_path / "submissions" / "ada").symlink_to(tmp_path / "player")
    for _ in range(2):
        run.look_around()
    assert told == [3]
    for changed, entrants in (("game = 1", [3, 3]), (text.replace("house:random", "house:search"), [3, 3, 3])):
        (tmp_path / "cup.toml").write_text(changed + '[format]\nname = "roundrobin"\n')
        run.look_around()
        assert told == entrants
    assert "search" in {entrant.name for entrant in run.scheduled.plan.spec.entrants}


def test_the_last_report_of_a_tournament_does_not_wait(tmp_path: Path) -> None:
    """While it is played, reports leave time for matches; once it is over, the last one is made at once."""
    record, over = tmp_path / "cup.jsonl", set[str]()
    record.write_text("line\n")
    reactor = Reactor()
    publisher = Publisher(reactor, ("/bin/true",), nothing, nothing, over.__contains__)
    publisher.follow("cup", tmp_path)
    publisher.begin()
    reactor.next_call()
    assert publisher.published["cup"].seen < 0, "the first report does without the records of matches"
    reactor.advance(10)
    reactor.next_call()  # the report with the last results was begun at once
    assert publisher.published["cup"].seen == record.stat().st_size
    record.write_text("line\nanother\n")
    reactor.advance(2)
    assert publisher.published["cup"].due > reactor.seconds()
    over.add("cup")
    reactor.advance(1)
    reactor.next_call()
    assert publisher.published["cup"].seen == record.stat().st_size
    publisher.stop()
    record.unlink()  # it is none


def test_a_publisher_that_was_stopped_looks_no_more(tmp_path: Path) -> None:
    """It does not read the records at its next time, or after the report that is being made."""
    record = tmp_path / "cup.jsonl"
    record.write_text("line\n")
    reactor = Reactor()
    publisher = Publisher(reactor, ("/bin/true",), nothing, nothing)
    publisher.follow("cup", tmp_path)
    publisher.begin()
    record.unlink()  # it is none
    publisher.stop()
    reactor.next_call()
    assert publisher.published["cup"].seen < 0
    assert reactor.getDelayedCalls() == []
