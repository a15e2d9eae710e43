"""The queue: what waits and why, what comes next, and what each person sees of it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from twisted.internet.task import Clock

from referee.pages.summary import Summary
from referee.pages.tournament_json import TournamentReport, report_tournament
from referee.plugins import load
from referee.web.contest.contest_file import read_contest, write_example
from referee.web.contest.queue import (
    MOST_LINES,
    RECENT_S,
    SHOWN,
    QueueLine,
    RecentQueue,
    describe_coming,
    list_next,
    select_lines,
    waiting_checks,
    waiting_matches,
    waiting_tournaments,
)
from referee.web.contest.tournament_runs import RunState, TournamentRun
from referee.web.contest_json import OpenMatch
from referee.web.event_streams import LOOK_S
from referee.web.live import LiveTables
from referee.web.sessions import Person, SiteRole
from referee.web.submissions.check_queue import CheckQueue
from referee.web.submissions.store import Store

from ...pages.tournaments import AT, Stage, spec
from ..submissions.receptions import archive

START = datetime(2999, 1, 1, tzinfo=UTC)
WAITING = {
    RunState.WAITING: ("its start is later", "2999-01-01T00:00:00+00:00", False),
    RunState.PAUSED: ("the organiser has paused it", None, True),
    RunState.FAILED: ("its file has mistakes", None, True),
    RunState.ELSEWHERE: ("another referee plays it", None, False),
    RunState.STOPPING: ("are being stopped", None, False),
}
PEOPLE = [Person(SiteRole.AUTHOR, "ada"), Person(SiteRole.AUTHOR, "eve"), Person(SiteRole.ORGANISER, "ada")]
SOON = "as soon as a table"


def test_checks_wait_for_those_before_them(tmp_path: Path) -> None:
    """The running check comes first, and each has the latest time at which it ends or begins."""
    store = Store(tmp_path)
    checks = CheckQueue(Clock(), store, str, lambda *_, **__: None, ())
    for author in ("ada", "bob", "carl"):
        checks.add(author, store.hand_in(author, archive(), f"handed in by {author}")[0])
    checks.current, checks.begun = checks.waiting()[0], "2026-11-01T10:00:00.123+00:00"
    checks.queue.pending.pop(0)
    limit = "a check takes 10 minutes at most"
    lines = list(waiting_checks(checks))
    assert {line.what for line in lines} == {"check of version 1"}
    assert [(line.author, line.why, line.since, line.until) for line in lines] == [
        ("ada", f"runs now; {limit}", "handed in by ada", "2026-11-01T10:10:00+00:00"),
        (
            "bob",
            f"waits for 1 check before it: checks run one at a time, and {limit}",
            "handed in by bob",
            "2026-11-01T10:10:00+00:00",
        ),
        (
            "carl",
            f"waits for 2 checks before it: checks run one at a time, and {limit}",
            "handed in by carl",
            "2026-11-01T10:20:00+00:00",
        ),
    ]
    store.close()


@pytest.fixture
def run(tmp_path: Path) -> TournamentRun:
    """Return a run whose time has not come."""
    write_example(tmp_path)
    scheduled = replace(read_contest(tmp_path, load()).tournaments[0], start=START)
    clock = Clock()
    found = TournamentRun(clock, scheduled, (), (), LiveTables(clock, "after"), lambda: None)
    found.begin()
    return found


@pytest.mark.parametrize("state", WAITING)
def test_a_tournament_says_what_it_waits_for(run: TournamentRun, state: RunState) -> None:
    """It waits for a time, or for the organiser."""
    if state is not RunState.WAITING:
        run.stop()
    run.state = state
    (line,) = waiting_tournaments([run])
    why, until, waits = WAITING[state]
    assert line.since == run.since.isoformat(timespec="seconds")
    assert (why in line.why, line.until, line.waits_for_organiser) == (True, until, waits)


def test_after_a_fault_it_is_known_when_it_is_begun_again(run: TournamentRun) -> None:
    """The time is known unless somebody stops it. A tournament that is played or over does not wait."""
    run.state = RunState.INTERRUPTED
    (line,) = waiting_tournaments([run])
    assert line.until is not None
    for state in (RunState.RUNNING, RunState.OVER):
        run.state = state
        assert list(waiting_tournaments([run])) == []


def line(author: str | None, what: str) -> QueueLine:
    """Return a waiting entry."""
    return QueueLine(what=what, author=author, why="", since=None, until=None, waits_for_organiser=False)


@pytest.mark.parametrize("person", PEOPLE)
def test_each_is_shown_what_is_its_own(person: Person) -> None:
    """The entries are in the order of the queue, as on its page."""
    lines = [line("ada", "1"), line(None, "2"), line("bob", "3"), line("ada", "4"), line(None, "5")]
    assert RecentQueue(lambda: lines, Clock().seconds).show(person) == select_lines(person, lines)


def test_it_is_looked_up_once_for_all() -> None:
    """It is computed again when the next change is sent."""
    clock, looks = Clock(), list[int]()

    def look_up() -> list[QueueLine]:
        looks.append(1)
        return [line(None, str(len(looks)))]

    queue = RecentQueue(look_up, clock.seconds)
    for look in (1, 2, 3):
        for number in range(200):
            assert [shown.what for shown in queue.show(Person(SiteRole.AUTHOR, f"a{number}"))] == [str(look)]
        clock.advance(LOOK_S)
    assert RECENT_S < LOOK_S


assert run, "a fixture"


def report_of(stage: Stage) -> TournamentReport:
    """Return a tournament's report as the site reads it."""
    return report_tournament(Summary(stage.history, {}))


@pytest.mark.parametrize(
    ("state", "why", "at"),
    [
        (RunState.WAITING, "begins at a set time:", "2999-01-01T00:00:00+00:00"),
        (RunState.PAUSED, "has paused it", None),
        (RunState.INTERRUPTED, "started again", None),
        (RunState.STOPPING, "being stopped", None),
        (RunState.ELSEWHERE, "Another referee plays it", None),
        (RunState.FAILED, "fixed its file", None),
        (RunState.RUNNING, "being paired", None),
    ],
)
def test_it_is_said_why_nothing_begins(
    run: TournamentRun, state: RunState, why: str, at: str | None
) -> None:  # a fixture
    """A sentence has the reason, with the time of day if there is one; finished tournaments have none."""
    if state is not RunState.WAITING:
        run.stop()
    run.state = state
    found = describe_coming(run, None)
    assert found is not None
    assert (why in found.why, found.at, found.matches) == (True, at, [])
    run.state = RunState.OVER
    assert describe_coming(run, None) is None


def test_the_next_matches_are_told(run: TournamentRun, tmp_path: Path) -> None:  # a fixture
    """They are due and not played yet; if all are being played, the text says what the next ones depend on."""
    run.stop()
    run.state = RunState.RUNNING
    stage = Stage(spec(20, "roundrobin"), tmp_path / "robin")
    fixtures = list(stage.tournament.fixtures())
    open_match = OpenMatch(match=fixtures[0].match, names=["a", "b"], addresses=[None, None], round=1, opened=AT)
    run.open_matches = {open_match.match: open_match}
    found: Any = describe_coming(run, report_of(stage))
    names = [[stage.spec.entrants[entrant].name for entrant in each.entrants] for each in fixtures[1 : SHOWN + 1]]
    assert [match.names for match in found.matches] == names
    assert (found.left_out, SOON in found.why) == (len(fixtures) - 1 - SHOWN, True)

    swiss = report_of(Stage(spec(4, format_options={"rounds": 2}), tmp_path / "swiss"))
    run.open_matches.clear()
    found = describe_coming(run, swiss)
    assert [match.round for match in found.matches] == [1, 1]
    run.open_matches = {each.match: replace(open_match, match=each.match) for each in swiss.due}
    found = describe_coming(run, swiss)
    assert (found.matches, found.why) == (
        [],
        "The next matches depend on the open matches, the last of round 1.",
    )


def test_an_author_is_told_what_its_program_plays_next(run: TournamentRun) -> None:
    """There is a text for each of its tournaments: when it begins, or that pairings are made; none if it is over."""
    name = run.scheduled.plan.spec.entrants[0].name
    (coming,) = list_next(name, [run], lambda _: None)
    assert (coming.tournament, coming.at, coming.why) == ("cup", START.isoformat(), "It begins at a set time:")
    assert list_next("nobody", [run], lambda _: None) == []
    run.stop()
    run.state = RunState.RUNNING
    (coming,) = list_next(name, [run], lambda _: None)
    assert (coming.at, coming.names, "being paired" in coming.why) == (None, (), True)
    run.state = RunState.OVER
    assert list_next(name, [run], lambda _: None) == []


@pytest.mark.parametrize(
    ("state", "why", "waits"),
    [
        (RunState.RUNNING, "begins as soon as a table and its players are free", False),
        (RunState.PAUSED, "its tournament waits: the organiser has paused it", True),
        (RunState.OVER, None, False),
    ],
)
def test_rated_matches_wait(
    run: TournamentRun, tmp_path: Path, state: RunState, why: str | None, waits: object
) -> None:  # a fixture
    """Each player has a line, an author's own first and complete; none for a running match, or without a report."""
    run.stop()
    run.state = state
    stage = Stage(spec(8, "roundrobin"), tmp_path / "robin")
    told = report_of(stage)
    run.open_matches = {told.due[0].match: OpenMatch(match="", names=[], addresses=[], round=1, opened=AT)}
    lines = list(waiting_matches([run], lambda _: told))
    due = told.due[1:] if why else ()
    assert [(line.author, line.why, line.since) for line in lines] == [
        (name, why, each.since) for each in due for name in each.names
    ]
    assert all((line.until, line.waits_for_organiser, line.has_no_limit) == (None, waits, True) for line in lines)
    assert list(waiting_matches([run], lambda _: None)) == []
    if why:
        assert all(line.since for line in lines)
        common = replace(lines[0], author=None)
        for name in (each.name for each in stage.spec.entrants):
            own = [line for line in lines if line.author == name]
            assert select_lines(Person(role=SiteRole.AUTHOR, name=name), [common, *lines]) == [*own, common]
        many = lines * MOST_LINES
        assert select_lines(Person(role=SiteRole.ORGANISER, name="ann"), many) == many[:MOST_LINES]
