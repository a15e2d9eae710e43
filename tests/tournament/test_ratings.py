"""Elo by maximum likelihood, ratings of more than two seats, and how often their intervals hold."""

from collections.abc import Sequence
from itertools import combinations
from math import isfinite
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.tournament.crosstable import Crosstable
from referee.tournament.pairing.base import PlayedPairing
from referee.tournament.points import Scoring
from referee.tournament.ratings.elo import PRECISION, PRIOR_ELO, Rating, elo_ratings, expected_score
from referee.tournament.ratings.multi_seat import Ranking, Rankings, SkillBook
from referee.tournament.ratings.newton import Prior, factor, inverse, most_likely, solve

from .results import duel, field, match, sat_out, swiss, table_of
from .simulated import Rater, coverage, duel_ranking, elo_by, skill_by, strengths, table_ranking


def elo(size: int, results: Sequence[PlayedPairing]) -> list[float]:
    """Return ratings around 0."""
    return [rating.rating for rating in elo_ratings(table_of(size, results), mean=0.0)]


def skill(size: int, results: Sequence[PlayedPairing], seats: int) -> Sequence[Rating]:
    """Return ratings around 0 of a field of more than two seats."""
    book = SkillBook(field(size, seats))
    for played in results:
        book.add(played)
    return book.ratings(mean=0.0)


def series(one: int, other: int, wins: int, draws: int, losses: int) -> list[PlayedPairing]:
    """Return matches of two entrants."""
    scores = ["1-0"] * wins + ["1/2"] * draws + ["0-1"] * losses
    return [duel(number, one, other, score) for number, score in enumerate(scores, 1)]


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.5, 0), (0.64, 100), (0.76, 200), (0.849, 300), (0.909, 400), (0.24, -200), (10 / 11, 400)],
)
def test_scores_stand_for_the_differences_that_elo_gave_them(score: float, expected: float) -> None:
    """To half a point of a per cent. Source: A. Elo's table of expectancies, in the logistic form used today."""
    assert score == pytest.approx(expected_score(expected), abs=0.001)


@pytest.mark.parametrize(
    ("wins", "draws", "losses", "expected"),
    [(6400, 0, 3600, 100), (5400, 2000, 2600, 100), (500, 0, 500, 0), (0, 1000, 0, 0), (10_000, 0, 1000, 400)],
)
def test_two_entrants_differ_by_what_their_score_stands_for(
    wins: int, draws: int, losses: int, expected: float
) -> None:
    """After that many matches, the prior hardly counts."""
    first, second = elo(2, series(0, 1, wins, draws, losses))
    assert expected == pytest.approx(first - second, abs=1)
    assert first == pytest.approx(-second)


@pytest.mark.parametrize(("draws", "expected"), [(0, 0.5), (500, 0.5 * 0.5**0.5)])
def test_the_error_is_that_of_the_mean_score(draws: int, expected: float) -> None:
    """For two, 1,000 matches: the standard error of a score is 0.5 / sqrt(1000), less if half of them are drawn."""
    decided = (1000 - draws) // 2
    rating = elo_ratings(table_of(2, series(0, 1, decided, draws, decided)))[0]
    slope = 4 * 400 / 2.302585  # the difference in Elo by the score, at one half
    assert rating.error == pytest.approx(1.96 * expected / 1000**0.5 * slope / 2, rel=0.01)


@pytest.mark.parametrize("draws", [1, 10, 100, 1000])
def test_draws_alone_do_not_prove_that_two_are_equal(draws: int) -> None:
    """Three more matches, all won by one of them, lie within the interval."""
    drawn, other = (elo_ratings(table_of(2, series(0, 1, wins, draws, 0)), mean=0.0)[0] for wins in (0, 3))
    assert other.rating < drawn.error


@pytest.mark.parametrize("drawn", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("spread_elo", [200.0, 400.0, 600.0, 800.0])
def test_intervals_hold_the_truth(spread_elo: float, drawn: float) -> None:
    """At least 93 of 100 intervals, less the uncertainty of 400 samples."""
    held, _ = coverage(elo_by(10, drawn), spread_elo, 40)
    assert held >= 0.93 - 2 * (0.05 * 0.95 / 400) ** 0.5


@pytest.mark.parametrize(("results", "least", "most"), [(10, 300, 900), (100, 600, 1500)])
def test_who_wins_everything_has_a_finite_rating(results: int, least: float, most: float) -> None:
    """The prior keeps it finite, and the interval is wide."""
    first, second = elo_ratings(table_of(2, series(0, 1, results, 0, 0)), mean=0.0)
    assert least < first.rating - second.rating < most
    assert first.error > 100


def test_who_cannot_be_compared_is_in_a_group_of_its_own() -> None:
    """Each group has the given mean; an entrant without matches has the prior's interval."""
    results = [*series(0, 2, 9, 0, 1), *series(1, 3, 6, 0, 4)]
    ratings = elo_ratings(table_of(5, results), mean=1500.0)
    assert [rating.group for rating in ratings] == [0, 1, 0, 1, 2]
    assert [rating.played for rating in ratings] == [10, 10, 10, 10, 0]
    assert ratings[0].rating + ratings[2].rating == pytest.approx(3000)
    assert ratings[1].rating + ratings[3].rating == pytest.approx(3000)
    assert ratings[4].error == pytest.approx(1.96 * PRIOR_ELO, rel=1e-3)


def test_fouls_lose_and_void_matches_byes_and_double_fouls_tell_nothing() -> None:
    """The rules are those of `elo.fouls`."""
    plain = [duel(1, 0, 1, "1-0"), duel(2, 0, 1, "0-1"), duel(3, 0, 1, "1-0")]
    fouled = [
        *plain[:2],
        match(3, (0, 1), ((0,), (1,)), fouls=(1,)),
        match(4, (0, 1), ((0, 1),), fouls=(0, 1)),
        match(5, (0, 1), ()),
        sat_out(6, 0),
    ]
    assert elo_ratings(table_of(2, plain)) == elo_ratings(table_of(2, fouled))


def test_elo_is_for_two() -> None:
    """Encounters of one match are not independent."""
    with pytest.raises(ValueError, match="not of 4"):
        elo_ratings(Crosstable(field(4, 4)))


@settings(max_examples=50)
@given(st.integers(0, 10**9))
def test_elo_is_finite_and_does_not_depend_on_order_or_names(seed: int) -> None:
    """This holds for any results, in any order, with any numbers of entrants."""
    random = Random(seed)
    size = random.randrange(1, 12)
    results = [
        match(1, random.sample(range(size), 2), duel_ranking(random, 800, 0.2))
        for _ in range(random.randrange(40))
        if size > 1
    ]
    new = random.sample(range(size), size)
    renamed = [match(1, [new[seat] for seat in played.pairing.seats], played.ranking) for played in results]
    before = elo_ratings(table_of(size, results))
    after = elo_ratings(table_of(size, random.sample(renamed, len(renamed)), scoring=Scoring(bye=0)))
    assert all(isfinite(item.rating) and 0 < item.error <= 1.96 * PRIOR_ELO for item in before)
    assert [item.rating for item in before] == pytest.approx([after[new[i]].rating for i in range(size)])
    assert [item.error for item in before] == pytest.approx([after[new[i]].error for i in range(size)])


def test_a_large_field_is_rated() -> None:
    """60 entrants, all against all; the ratings have the order of the strengths."""
    random = Random(1)
    truth = sorted(strengths(random, 60, 300.0))
    pairs = [pair for pair in combinations(range(60), 2) for _ in range(2)]
    found = elo(60, [match(1, pair, duel_ranking(random, truth[pair[0]] - truth[pair[1]], 0.3)) for pair in pairs])
    assert max(abs(one - other) for one, other in zip(found, truth, strict=True)) < 200
    assert sum(found) == pytest.approx(0, abs=1e-6)


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(0, 10**9))
def test_systems_of_equations_are_solved(size: int, seed: int) -> None:
    """A matrix times its inverse is the identity, and times the solution it is the right side."""
    random = Random(seed)
    roots = [[random.uniform(-1, 1) for _ in range(size)] for _ in range(size)]
    matrix = [[sum(map(lambda x, y: x * y, root, other)) for other in roots] for root in roots]
    for i in range(size):
        matrix[i][i] += 0.5
    right = [random.uniform(-1, 1) for _ in range(size)]
    lower = factor(matrix)
    found = solve(lower, right)
    inverted = inverse(lower)
    assert [sum(map(lambda x, y: x * y, row, found)) for row in matrix] == pytest.approx(right)
    for i in range(size):
        row = [sum(matrix[i][k] * inverted[k][j] for k in range(size)) for j in range(size)]
        assert row == pytest.approx([float(i == j) for j in range(size)])


def test_the_stronger_of_four_is_rated_higher_and_by_about_as_much() -> None:
    """Differences are on the scale of Elo: a pair at a table has the same results as it would alone."""
    random = Random(3)
    truth = [150.0, 50.0, -50.0, -150.0]
    results = [match(1, range(4), table_ranking(random, truth)) for _ in range(1500)]
    assert [item.rating for item in skill(4, results, 4)] == pytest.approx(truth, abs=25)


def test_what_tells_nothing_leaves_skill_as_it_is() -> None:
    """Byes, void matches, and matches in which all fouled, change nothing."""
    results = [match(1, (0, 1, 2), ((2,), (0, 1)))]
    silent = [sat_out(1, 0), match(1, (0, 1, 2), ()), match(1, (0, 1, 2), ((0, 1, 2),), fouls=(0, 1, 2))]
    assert skill(3, results, 3) == skill(3, [*silent, *results, *silent], 3)


def test_equal_seats_move_alike_and_fouls_lose() -> None:
    """Two entrants that share a place from the same start have the same rating; one that fouled is behind."""
    one, other, last = skill(3, [match(1, (0, 1, 2), ((0, 1, 2),), fouls=(2,))], 3)
    assert one.rating == pytest.approx(other.rating)
    assert one.rating > last.rating


@settings(max_examples=30)
@given(st.integers(0, 10**9))
def test_skill_does_not_depend_on_the_order_of_results(seed: int) -> None:
    """Ties, fouls and void matches are among them."""
    random = Random(seed)
    results, _ = swiss(random, 9, 4, 12)
    before = skill(9, results, 4)
    after = skill(9, random.sample(results, len(results)), 4)
    assert [item.rating for item in before] == pytest.approx([item.rating for item in after], abs=1e-4)
    assert [item.error for item in before] == pytest.approx([item.error for item in after], abs=1e-4)


@settings(max_examples=20)
@given(st.integers(0, 10**9))
def test_skill_of_two_is_elo(seed: int) -> None:
    """The model is the same without draws; with draws, only Elo's interval is narrower."""
    random = Random(seed)
    results, _ = swiss(random, 8, 2, 12)
    decided = [played for played in results if len(played.ranking) != 1 or len(played.pairing.seats) == 1]
    plain, many = elo_ratings(table_of(8, decided)), skill(8, decided, 2)
    assert [item.rating - 1500 for item in plain] == pytest.approx([item.rating for item in many], abs=1e-4)
    assert [item.error for item in plain] == pytest.approx([item.error for item in many], abs=1e-4)
    plain, many = elo_ratings(table_of(8, results)), skill(8, results, 2)
    assert all(one.error <= other.error + 1e-4 for one, other in zip(plain, many, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_slopes_are_those_of_the_likelihood(seed: int) -> None:
    """They agree with differences, for rankings with ties in any place, and for two versions of a program."""
    random = Random(seed)
    told = [
        Ranking(((0, 3), (1,), (2,))),
        Ranking(((2,), (0, 1, 3)), is_last_told=True),
        Ranking(((2,), (0, 1))),
        Ranking(((0, 2),), is_last_told=True),
    ]
    prior = Prior(4, 0.1, 0.7, {1: 3})
    likelihood = Rankings({ranking: random.randint(1, 5) for ranking in told}, prior)
    at = [random.gauss(0, 1) for _ in range(4)]
    slope, bend = likelihood.gradient(at), likelihood.information(at)
    for i in range(4):
        nearer, farther = ([x + step * (i == j) for j, x in enumerate(at)] for step in (1e-5, -1e-5))
        assert slope[i] == pytest.approx((likelihood.value(nearer) - likelihood.value(farther)) / 2e-5, abs=1e-6)
        changed = zip(likelihood.gradient(nearer), likelihood.gradient(farther), strict=True)
        assert bend[i] == pytest.approx([(less - more) / 2e-5 for more, less in changed], abs=1e-6)


EXTREMES: tuple[dict[Ranking, int], ...] = (
    {},
    {Ranking(((0,), (1,), (2,))): 100_000},
    {Ranking(((0,), (1, 2, 3)), is_last_told=True): 100_000},
    {Ranking(((1, 2, 3), (0,))): 100_000},
    {Ranking(((0, 1, 2, 3),), is_last_told=True): 100_000},
    {Ranking(((item,), (item + 1,), (item + 2,))): 1000 for item in range(10)},
    {Ranking(((0,), (2,), (4,))): 5, Ranking(((1, 3), (5,))): 50},
)


@pytest.mark.parametrize("told", EXTREMES)
def test_the_likeliest_strengths_are_found_however_extreme(told: dict[Ranking, int]) -> None:
    """For no results, only wins or losses, only ties, a long ladder, or groups, the slope is zero in the end."""
    likelihood = Rankings(told, Prior(12, PRECISION))
    found = most_likely(12, likelihood)
    assert likelihood.gradient(found) == pytest.approx([0.0] * 12, abs=1e-6)
    assert sum(found) == pytest.approx(0, abs=1e-6)


def test_skill_knows_groups_that_never_met() -> None:
    """Each has the given mean."""
    results = [match(1, (0, 2, 4), ((0,), (1,), (2,))), match(1, (1, 3, 5), ((0,), (1,), (2,)))]
    ratings = skill(7, results, 3)
    assert [rating.group for rating in ratings] == [0, 1, 0, 1, 0, 1, 2]
    assert [rating.played for rating in ratings] == [1, 1, 1, 1, 1, 1, 0]
    assert ratings[0].rating == pytest.approx(ratings[1].rating)
    assert ratings[6].rating == 0


def test_who_loses_everything_for_long_and_then_wins_is_rated() -> None:
    """This also holds if most results speak against it."""
    lost = [match(1, (0, 1, 2), ((1,), (2,), (0,)))] * 1500
    won = [match(1, (0, 1, 2), ((0,), (2,), (1,)))] * 4500
    ratings = skill(4, [*lost, *won], 3)
    assert all(isfinite(rating.rating) and rating.error > 0 for rating in ratings)
    assert ratings[0].rating > max(ratings[1].rating, ratings[2].rating)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_skill_is_finite_and_the_same_every_time(seats: int) -> None:
    """This holds for random results with ties, fouls and void matches."""
    results, _ = swiss(Random(seats), 12, seats, 40)
    ratings = skill(12, results, seats)
    assert all(isfinite(rating.rating) and rating.error > 0 for rating in ratings)
    assert sum(rating.rating for rating in ratings) == pytest.approx(0, abs=1e-6)
    assert skill(12, results, seats) == ratings


@pytest.mark.parametrize(
    ("rater", "spread_elo", "tournaments"),
    [(elo_by(6, 0.0), 200.0, 60), (elo_by(6, 0.4), 200.0, 60), (skill_by(4, 20), 150.0, 60)],
)
def test_intervals_hold_the_truth_as_often_as_they_say(rater: Rater, spread_elo: float, tournaments: int) -> None:
    """Nearly 95 of 100 do; `python -m tests.benchmarks ratings` plays enough tournaments for an exact figure."""
    held, _ = coverage(rater, spread_elo, tournaments)
    assert 0.93 <= held <= 0.97


@pytest.mark.parametrize("drawn", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("lead", [0.0, 200.0, -600.0])
def test_simulated_draws_leave_the_mean_score_as_it_is(drawn: float, lead: float) -> None:
    """Otherwise the simulated strengths would not be what ratings estimate, and no interval could hold them."""
    random, points = Random(3), {((0, 1),): 0.5, ((0,), (1,)): 1.0, ((1,), (0,)): 0.0}
    scores = [points[duel_ranking(random, lead, drawn)] for _ in range(20_000)]
    assert abs(sum(scores) / len(scores) - expected_score(lead)) < 0.01
