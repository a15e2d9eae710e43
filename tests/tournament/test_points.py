"""What a ranking is worth."""

from fractions import Fraction
from random import Random
from typing import Any

import msgspec
import pytest

from referee.tournament.points import BadScoring, Scoring, match_points

from .results import Groups, match, random_match, sat_out

F = Fraction


@pytest.mark.parametrize(
    ("ranking", "fouls", "expected"),
    [
        (((0,), (1,)), (), (1, 0)),
        (((1,), (0,)), (), (0, 1)),
        (((0, 1),), (), (F(1, 2), F(1, 2))),
        (((0,), (1,)), (1,), (1, 0)),
        (((0, 1),), (0, 1), (0, 0)),
        (((0, 1),), (1,), (1, 0)),
        ((), (), (0, 0)),
        (((2,), (0,), (1,)), (), (F(1, 2), 0, 1)),
        (((0, 1), (2,)), (), (F(3, 4), F(3, 4), 0)),
        (((0,), (1, 2)), (2,), (1, F(1, 2), 0)),
        (((3,), (1,), (0,), (2,)), (), (F(1, 3), F(2, 3), 0, 1)),
        (((0, 2), (1, 3)), (), (F(5, 6), F(1, 6), F(5, 6), F(1, 6))),
        (((0,), (1, 2, 3)), (1, 2, 3), (1, 0, 0, 0)),
    ],
)
def test_points_are_the_share_of_opponents_beaten(ranking: Groups, fouls: tuple[int, ...], expected: Any) -> None:
    """Equal ones count half, fouls and void matches bring nothing."""
    seats = range(max((seat for group in ranking for seat in group), default=1) + 1)
    assert tuple(expected) == match_points(match(1, seats, ranking, fouls=fouls), Scoring())


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        (((0,), (1,), (2,), (3,)), (10, 6, 3, 1)),
        (((3,), (0, 1), (2,)), (F(9, 2), F(9, 2), 1, 10)),
        (((0, 1, 2, 3),), (5, 5, 5, 5)),
        (((1,), (0,), (2,)), (F(6), 10, F("1.5"))),
        (((0,), (1,)), (10, 0)),
    ],
)
def test_a_row_of_points_is_followed(ranking: Groups, expected: Any) -> None:
    """Who shares places shares their points; a size without a row is worth the share of the greatest first place."""
    scoring = Scoring(by_rank=((10, 6, 3, 1), (10, 6, 1.5)))
    seats = range(sum(map(len, ranking)))
    assert tuple(expected) == match_points(match(1, seats, ranking), scoring)


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        (Scoring(), 1),
        (Scoring(bye=0.5), F(1, 2)),
        (Scoring(bye=0), 0),
        (Scoring(bye=0.1, by_rank=((3, 1, 0),)), F(3, 10)),
    ],
)
def test_a_bye_is_worth_a_share_of_a_first_place(scoring: Scoring, expected: Any) -> None:
    """By default all of it."""
    assert (expected,) == match_points(sat_out(1, 0), scoring)


@pytest.mark.parametrize("seats", [2, 3, 4, 7, 12])
def test_without_fouls_a_match_shares_out_half_a_point_for_each_seat(seats: int) -> None:
    """However the ranking goes, the sum is the same, exactly."""
    random = Random(seats)
    matches = [random_match(random, 1, range(seats)) for _ in range(200)]
    clean = [played for played in matches if played.ranking and not played.fouls]
    assert {Fraction(seats, 2)} == {sum(match_points(played, Scoring())) for played in clean}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"by_rank": [[1]]}, "fewer than two"),
        ({"by_rank": [[1, 2]]}, "does not go down"),
        ({"by_rank": [[0, 0]]}, "does not go down"),
        ({"by_rank": [[1, -1]]}, "from 0 up"),
        ({"by_rank": [[float("nan"), 0]]}, "from 0 up"),
        ({"by_rank": [[1, 0], [2, 0]]}, "two rows"),
        ({"bye": 1.5}, "between 0 and 1"),
        ({"bye": float("nan")}, "between 0 and 1"),
    ],
)
def test_a_scoring_that_makes_no_sense_is_refused(raw: dict[str, Any], words: str) -> None:
    """With what to mend, from Python and from a file alike."""
    with pytest.raises(BadScoring, match=words):
        Scoring(**raw)
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(raw, Scoring)
