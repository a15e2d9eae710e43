"""Programs that fail to start: when they are suspended, and from which pairing on."""

from random import Random
from typing import Any

from referee.tournament import commands as c
from referee.tournament import events as e
from referee.tournament.history import History
from referee.tournament.machine import Tournament
from referee.tournament.match_context import FoulEntry
from referee.tournament.rulings import Ruling

from .playing import AT, begun, closed, spec_of, take

CRASH = FoulEntry(seat=0, cause="crashed", turn=0, detail="exit status 1")


def opened(tournament: Tournament, count: int) -> list[str]:
    """Open the first matches that may be; return their names."""
    fixtures = list(tournament.fixtures())[:count]
    for fixture in fixtures:
        take(tournament, e.MatchOpened(at=AT, fixture=fixture))
    return [fixture.match for fixture in fixtures]


def over(tournament: Tournament, match: str, **fields: Any) -> tuple[c.TournamentCommand, ...]:
    """Let a match end."""
    return take(tournament, closed(tournament, match, Random(1), **fields))


def test_a_suspension_waits_for_the_end_of_the_pairing() -> None:
    """It does not matter which of its legs ends first: both count."""
    for order in (0, 1), (1, 0):
        tournament = begun(spec_of(4, duplicate=True, suspend_after=1))
        legs = opened(tournament, 2)
        suspension = c.SuspendEntrant(
            entrant=tournament.playing[legs[0]].entrants[0], why="failed to start in 1 match: exit status 1"
        )
        endings = ({"ranking": ((1,), (0,)), "fouls": (CRASH,)}, {"ranking": ((1,), (0,)), "fouls": ()})
        first, last = (over(tournament, legs[leg], **endings[leg]) for leg in order)
        assert suspension not in first
        assert suspension in last
        assert tournament.played == 2


def test_what_a_copy_has_played_after_a_suspension_becomes_walkovers() -> None:
    """A challenger plays at several tables. It is suspended from the pairing in which it failed once too often."""
    tournament = begun(spec_of(5, "gauntlet", suspend_after=2))
    matches = opened(tournament, 4)
    told = []
    for index in (3, 2, 1, 0):
        seat = index % 2  # of the challenger, which starts only in the second match
        fouls = (
            () if index == 1 else (CRASH,) if seat == 0 else (FoulEntry(seat=1, cause="crashed", turn=0, detail=""),)
        )
        told.append(over(tournament, matches[index], ranking=((1 - seat,), (seat,)), fouls=fouls))
    assert [command for commands in told[:3] for command in commands] == []
    disregarded, suspension, *others = told[3]
    why = "failed to start in 2 matches: exit status 1"
    assert disregarded == c.DisregardMatch(match=matches[3], why=f"e0 had {why}")
    assert suspension == c.SuspendEntrant(entrant=0, why=why)
    assert [command.number for command in others if isinstance(command, c.GiveBye)] == [4, 5, 6, 7, 8]
    assert (tournament.played, tournament.given_up, tournament.is_over) == (3, 5, True)


def test_a_match_that_is_played_again_by_a_ruling_takes_nothing_back() -> None:
    """An entrant that fails in it once too often is suspended, but keeps its later results."""
    tournament = begun(spec_of(3, "gauntlet", suspend_after=1))
    history = History(tournament)
    matches = opened(tournament, 2)
    for match, seat in zip(matches, (0, 1), strict=True):
        over(tournament, match, ranking=((seat,), (1 - seat,)), fouls=())
    ruling = Ruling(id="1", kind="replay", match=matches[0], reason="so", by="Ada")
    history.take(e.Ruled(at=AT, ruling=ruling))
    (again,) = (fixture for fixture in tournament.fixtures() if fixture.attempt)
    history.take(e.MatchOpened(at=AT, fixture=again))
    history.take(closed(tournament, again.match, Random(1), ranking=((1,), (0,)), fouls=(CRASH,)))
    assert set(tournament.suspended) == {0}
    assert tournament.played == 2
