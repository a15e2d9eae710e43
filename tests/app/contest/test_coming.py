"""What the first page of a contest says of the matches to come."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.app.contest.coming import SHOWN, coming_in
from referee.app.contest.tournament_runs import RunState, TournamentRun
from referee.pages.exports import everything
from referee.pages.summary import Summary
from referee.site.cards import OpenMatch
from referee.site.reported import TournamentReport

from ...pages.tournaments import AT, Stage, spec
from .test_queues import run

assert run, "a fixture"
SOON = "as soon as a table"


def report_of(stage: Stage) -> TournamentReport:
    """Return what the site reads of a tournament."""
    told = msgspec.json.encode(everything(Summary(stage.history, {})))
    return msgspec.json.decode(told, type=TournamentReport)


@pytest.mark.parametrize(
    ("state", "why", "at"),
    [
        (RunState.WAITING, "begins at a set time:", "2999-01-01T00:00:00+00:00"),
        (RunState.PAUSED, "has paused it", None),
        (RunState.INTERRUPTED, "begun again", None),
        (RunState.STOPPING, "being stopped", None),
        (RunState.FAILED, "mended its file", None),
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
