"""What the first page of a contest, and its queue, say of the matches to come."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.pages.summary import Summary
from referee.pages.tournament_json import TournamentReport, report_tournament
from referee.web.cards import OpenMatch
from referee.web.contest.queue import MOST_LINES, SHOWN, coming_in, seen_by, waiting_matches
from referee.web.contest.tournament_runs import RunState, TournamentRun
from referee.web.sessions import Person, SiteRole

from ...pages.tournaments import AT, Stage, spec
from .test_queues import run

assert run, "a fixture"
SOON = "as soon as a table"


def report_of(stage: Stage) -> TournamentReport:
    """Return what the site reads of a tournament."""
    return report_tournament(Summary(stage.history, {}))


@pytest.mark.parametrize(
    ("state", "why", "at"),
    [
        (RunState.WAITING, "begins at a set time:", "2999-01-01T00:00:00+00:00"),
        (RunState.PAUSED, "has paused it", None),
        (RunState.INTERRUPTED, "begun again", None),
        (RunState.STOPPING, "being stopped", None),
        (RunState.ELSEWHERE, "Another referee plays it", None),
        (RunState.FAILED, "fixed its file", None),
        (RunState.RUNNING, "being settled", None),
    ],
)
def test_it_is_said_why_nothing_begins(
    run: TournamentRun, state: RunState, why: str, at: str | None
) -> None:  # a fixture
    """In a sentence, with the time of day where there is one; of what is over, nothing is said."""
    if state is not RunState.WAITING:
        run.stop()
    run.state = state
    found = coming_in(run, None)
    assert found is not None
    assert (why in found.why, found.at, found.matches) == (True, at, [])
    run.state = RunState.OVER
    assert coming_in(run, None) is None


def test_the_next_matches_are_told(run: TournamentRun, tmp_path: Path) -> None:  # a fixture
    """Those that may be played and are not; where all of them are played, what the next ones follow from."""
    run.stop()
    run.state = RunState.RUNNING
    stage = Stage(spec(20, "roundrobin"), tmp_path / "robin")
    fixtures = list(stage.tournament.fixtures())
    open_match = OpenMatch(match=fixtures[0].match, names=["a", "b"], round=1, opened=AT)
    run.open_matches = {open_match.match: open_match}
    found: Any = coming_in(run, report_of(stage))
    names = [[stage.spec.entrants[entrant].name for entrant in each.entrants] for each in fixtures[1 : SHOWN + 1]]
    assert [match.names for match in found.matches] == names
    assert (found.left_out, SOON in found.why) == (len(fixtures) - 1 - SHOWN, True)

    swiss = report_of(Stage(spec(4, format_options={"rounds": 2}), tmp_path / "swiss"))
    run.open_matches.clear()
    found = coming_in(run, swiss)
    assert [match.round for match in found.matches] == [1, 1]
    run.open_matches = {each.match: replace(open_match, match=each.match) for each in swiss.due}
    found = coming_in(run, swiss)
    assert (found.matches, found.why) == (
        [],
        "What comes next follows from the matches that are played now, the last of round 1.",
    )


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
    """One line for each player, an author's own all and first; none for a match that is played, or without a report."""
    run.stop()
    run.state = state
    stage = Stage(spec(8, "roundrobin"), tmp_path / "robin")
    told = report_of(stage)
    run.open_matches = {told.due[0].match: OpenMatch(match="", names=[], round=1, opened=AT)}
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
            assert seen_by(Person(role=SiteRole.AUTHOR, name=name), [common, *lines]) == [*own, common]
        many = lines * MOST_LINES
        assert seen_by(Person(role=SiteRole.ORGANISER, name="ann"), many) == many[:MOST_LINES]
