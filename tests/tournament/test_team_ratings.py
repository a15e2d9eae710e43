"""Ratings of entrants in teams: partners are no opponents."""

from random import Random

import pytest

from referee.pages.exports import games_pgn
from referee.pages.summary import Summary
from referee.tournament import events as e
from referee.tournament.history import History
from referee.tournament.points import Scoring
from referee.tournament.ratings.elo import expected_score
from referee.tournament.ratings.multi_seat import SkillBook, TeamMatch, TeamResults
from referee.tournament.ratings.newton import Prior

from .playing import AT, events_of, spec_of, tournament_of
from .results import field, match
from .simulated import strengths

TEAMS = Scoring(teams=((0, 2), (1, 3)))


def test_partners_are_no_opponents_in_any_export() -> None:
    """A match of two teams of two is four games, and in the crosstable partners have not met through it."""
    history = History(tournament_of(spec_of(4, seats=4, scoring=TEAMS)))
    history.take(e.Begun(at=AT))
    for event in events_of(history.tournament, Random(2)):
        history.take(event)
    summary = Summary(history, {})
    games = list(games_pgn(summary))
    assert len(games) == 4 * history.tournament.played
    met = sum(summary.tournament.table.head_to_head(one, other).played for one in range(4) for other in range(4))
    assert met == 2 * len(games)


def test_partners_that_win_everything_together_are_equal() -> None:
    """Nothing shows which of them is stronger; those that lost together are equal, too."""
    book = SkillBook(field(4, 4), TEAMS)
    for _ in range(20):
        book.add(match(1, (0, 1, 2, 3), ((0, 2), (1, 3))))
    first, second, partner, last = book.ratings()
    assert first.rating == pytest.approx(partner.rating)
    assert second.rating == pytest.approx(last.rating)
    assert first.rating > second.rating
    assert [rating.played for rating in book.ratings()] == [20] * 4


def test_the_truth_is_found_from_teams() -> None:
    """Teams are drawn by lot; a team is as strong as the average of its members."""
    random = Random(5)
    truth = strengths(random, 8, 300.0)
    book = SkillBook(field(8, 4), TEAMS)
    for _ in range(6000):
        seats = random.sample(range(8), 4)
        lead = (truth[seats[0]] + truth[seats[2]] - truth[seats[1]] - truth[seats[3]]) / 2
        teams = TEAMS.teams if random.random() < expected_score(lead) else TEAMS.teams[::-1]
        book.add(match(1, seats, teams))
    found = book.ratings(mean=0.0)
    assert [rating.rating for rating in found] == pytest.approx(truth, abs=60)
    assert sum(abs(rating.rating - true) <= rating.error for rating, true in zip(found, truth, strict=True)) >= 6


def test_a_new_program_and_fouls_are_kept_apart() -> None:
    """Results of a former program count for that program; a match in which all fouled shows nothing."""
    book = SkillBook(field(4, 4), TEAMS)
    book.add(match(1, (0, 1, 2, 3), ((0, 1, 2, 3),), fouls=(0, 1, 2, 3)))
    assert [rating.played for rating in book.ratings()] == [0] * 4
    book.add(match(1, (0, 1, 2, 3), ((0,), (1, 3), (2,)), fouls=(2,)))
    book.renew(0)
    first, second, partner, _ = book.ratings()
    assert first.rating > second.rating
    assert partner.rating > second.rating
    assert first.error > partner.error


def test_slopes_are_those_of_the_likelihood_of_teams() -> None:
    """They are compared with differences, with draws, and with three teams."""
    random = Random(3)
    matches = {
        TeamMatch(((0, 2), (1, 3)), (0, 1), 4): 3,
        TeamMatch(((1, 2), (0, 3)), (0, 0), 4): 2,
        TeamMatch(((0,), (1, 2), (3,)), (1, 0, 4), 4): 1,
    }
    likelihood = TeamResults(matches, Prior(4, 0.1))
    at = [random.gauss(0, 1) for _ in range(4)]
    slope, bend = likelihood.gradient(at), likelihood.information(at)
    for i in range(4):
        nearer, farther = ([x + step * (i == j) for j, x in enumerate(at)] for step in (1e-5, -1e-5))
        assert slope[i] == pytest.approx((likelihood.value(nearer) - likelihood.value(farther)) / 2e-5, abs=1e-6)
        changed = zip(likelihood.gradient(nearer), likelihood.gradient(farther), strict=True)
        assert bend[i] == pytest.approx([(less - more) / 2e-5 for more, less in changed], abs=1e-6)
