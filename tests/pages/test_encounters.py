"""Wins, draws and losses by seat, the likelihood of superiority, and the history of a rating."""

from itertools import pairwise
from random import Random

import pytest

from referee.pages.encounters import (
    MOST_POINTS,
    RatedEncounters,
    by_seat,
    rated_superiority,
    share_error,
    superiority,
    total,
)
from referee.tournament.crosstable import HeadToHead
from referee.tournament.events import Begun
from referee.tournament.history import History
from referee.tournament.points import Scoring
from referee.tournament.ratings.elo import MEAN, PRIOR_ELO, Rating, elo_ratings

from ..tournament.playing import AT, Troubles, events_of, spec_of, tournament_of
from .tournaments import Stage


def rating(value: float, error: float, group: int = 0) -> Rating:
    """Return a rating."""
    return Rating(entrant=0, rating=value, error=error, played=1, group=group)


@pytest.mark.parametrize(
    ("wins", "draws", "losses", "expected"),
    [
        (0, 0, 0, None),
        (0, 5, 0, None),
        (1, 0, 1, 0.5),
        (1, 0, 0, 0.841),
        (0, 0, 1, 0.159),
        (8, 3, 1, 0.990),
        (600, 0, 400, 1.0),
    ],
)
def test_superiority_follows_from_wins_and_losses(wins: int, draws: int, losses: int, expected: float | None) -> None:
    """The normal distribution at (wins - losses) / sqrt(wins + losses); draws alone show nothing."""
    found = superiority(HeadToHead(wins=wins, draws=draws, losses=losses))
    assert found == (None if expected is None else pytest.approx(expected, abs=0.001))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (rating(1500, 100), rating(1500, 50), 0.5),
        (rating(1600, 100), rating(1500, 0), 0.975),
        (rating(1500, 0), rating(1600, 100), 0.025),
        (rating(1600, 100), rating(1500, 100, group=1), None),
        (rating(1500, 0), rating(1500, 0), None),
    ],
)
def test_superiority_by_ratings(one: Rating, other: Rating, expected: float | None) -> None:
    """A lead of one interval leaves 2.5 %; ratings of different groups can't be compared."""
    found = rated_superiority(one, other)
    assert found == (None if expected is None else pytest.approx(expected, abs=0.001))


def test_a_share_is_never_certain() -> None:
    """A few wins without a loss have an interval; a larger sample has a smaller one, and so have draws."""
    few, many = HeadToHead(wins=3), HeadToHead(wins=300)
    assert 0 < share_error(many) < share_error(few)
    assert share_error(HeadToHead(draws=50)) < share_error(HeadToHead(wins=25, losses=25))
    assert share_error(HeadToHead(wins=48, losses=48)) == pytest.approx(0.098, abs=0.001)


@pytest.mark.parametrize(("seats", "teams"), [(2, ()), (3, ()), (4, ((0, 2), (1, 3)))])
def test_seats_amount_to_the_crosstable(seats: int, teams: tuple[tuple[int, ...], ...]) -> None:
    """All seats of an entrant together are its wins, draws and losses against everybody."""
    history = played(9, seats, teams)
    counted = [entry for entry in history.entries if entry.void is None and entry.match not in history.disregarded]
    found = by_seat(counted, history.tournament.spec.scoring, 9, seats)
    table = history.tournament.table
    assert [total(each) for each in found] == [total(table.opponents(entrant).values()) for entrant in range(9)]
    assert sum(met.played for each in found for met in each) > 0


def played(size: int, seats: int, teams: tuple[tuple[int, ...], ...] = ()) -> History:
    """Return a simulated tournament with fouls and void matches."""
    scoring = Scoring(teams=teams)
    history = History(tournament_of(spec_of(size, "roundrobin", seats, scoring=scoring)))
    history.take(Begun(at=AT))
    for event in events_of(history.tournament, Random(seats), troubles=Troubles(void=0.1, failed=0.1)):
        history.take(event)
    return history


def test_a_history_ends_at_the_rating() -> None:
    """In matches of two the last value is the rating of all results, with its interval; it begins at the mean.

    Each interval is narrower than the last one, or hardly wider: after a surprise, an opponent's results mean less.
    """
    history = played(12, 2)
    ratings = elo_ratings(history.tournament.table)
    encounters = RatedEncounters(list(history.played), history.tournament.spec.scoring)
    for entrant, told in enumerate(ratings):
        curve = encounters.history(entrant, ratings)
        assert (curve[0].encounters, curve[0].rating) == (0, MEAN)
        assert len(curve) > 5
        assert curve[-1].rating == pytest.approx(told.rating, abs=0.5)
        assert curve[-1].error == pytest.approx(told.error)
        assert curve[0].error > 2 * curve[-1].error
        assert all(after.error < 1.1 * before.error for before, after in pairwise(curve))
        assert [after.encounters for after in curve] == sorted({after.encounters for after in curve})


def test_a_history_is_short(cup: Stage) -> None:
    """For many results, some points are kept, always with the last one; without results there is only the mean."""
    ratings = [rating(MEAN, 100.0)] * 9
    many = RatedEncounters(list(cup.history.played) * 50, cup.spec.scoring)
    history = many.history(0, ratings)
    assert len(history) == MOST_POINTS + 1
    assert history[-1].encounters == 50 * cup.tournament.table.sums(0).played
    (unknown,) = RatedEncounters([], cup.spec.scoring).history(0, ratings)
    assert (unknown.encounters, unknown.rating) == (0, MEAN)
    assert unknown.error == pytest.approx(1.96 * PRIOR_ELO, abs=1)
