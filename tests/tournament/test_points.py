"""The points that a ranking is worth."""

from fractions import Fraction
from random import Random
from typing import Any

import msgspec
import pytest

from referee.tournament.crosstable import HeadToHead
from referee.tournament.pairing.base import LATE
from referee.tournament.points import BadScoring, Scoring, match_points
from referee.tournament.standings import standings
from referee.tournament.tie_breaks import TIE_BREAKS

from .results import Groups, match, random_match, sat_out, table_of

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
    """Equal opponents count half; fouls and void matches give nothing."""
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
    """Entrants that share places share their points. A size without a row has the share of the greatest first place."""
    scoring = Scoring(by_rank=((10, 6, 3, 1), (10, 6, 1.5)))
    seats = range(sum(map(len, ranking)))
    assert tuple(expected) == match_points(match(1, seats, ranking), scoring)


@pytest.mark.parametrize(
    ("scoring", "seats", "expected"),
    [
        (Scoring(), 2, 1),
        (Scoring(by_rank=((3, 1),)), 2, 3),
        (Scoring(bye=0.5), 2, F(1, 2)),
        (Scoring(bye=0), 4, 0),
        (Scoring(bye=1), 4, 1),
        (Scoring(bye=0.1, by_rank=((3, 1, 0),)), 3, F(3, 10)),
        (Scoring(), 4, F(1, 2)),
        (Scoring(by_rank=((3, 1, 0),)), 3, F(4, 3)),
        (Scoring(by_rank=((10, 6, 3, 1), (3, 1, 0))), 12, 5),
        (Scoring(by_rank=((4, 0),), teams=((0, 2), (1, 3))), 4, 2),
        (Scoring(bye=1, by_rank=((10, 6, 3, 1), (3, 1))), 2, 3),
        (Scoring(by_rank=((10, 6, 3, 1), (3, 1))), 2, 3),
        (Scoring(bye=0.5, by_rank=((10, 6, 3, 1), (3, 1))), 2, F(3, 2)),
        (Scoring(bye=1, by_rank=((3, 1), (10, 6, 3, 1))), 4, 10),
        (Scoring(bye=1, by_rank=((10, 6, 3, 1), (20, 5, 0))), 4, 10),
        (Scoring(bye=1, by_rank=((10, 6, 3, 1), (3, 1)), teams=((0, 2), (1, 3))), 4, 3),
        (Scoring(bye=1, by_rank=((10, 6, 3, 1), (3, 1))), 3, 10),
    ],
)
def test_a_bye_is_worth_a_win_of_two_or_what_a_table_gives_on_average(
    scoring: Scoring, seats: int, expected: Any
) -> None:
    """The organiser can set another share of a first place."""
    assert (expected,) == match_points(sat_out(1, 0), scoring, seats)


@pytest.mark.parametrize(
    ("scoring", "seats", "expected"),
    [
        (Scoring(), 2, F(1, 2)),
        (Scoring(bye=1), 4, F(1, 2)),
        (Scoring(late_bye=0.1, by_rank=((3, 1, 0),)), 3, F(3, 10)),
        (Scoring(late_bye=0), 2, 0),
        (Scoring(by_rank=((10, 6, 3, 1), (3, 1))), 2, F(3, 2)),
        (Scoring(late_bye=1, by_rank=((10, 6, 3, 1), (3, 1))), 2, 3),
        (Scoring(by_rank=((10, 6, 3, 1), (3, 1))), 4, 5),
        (Scoring(by_rank=((10, 6, 3, 1), (3, 1)), teams=((0, 2), (1, 3))), 4, F(3, 2)),
    ],
)
def test_a_round_missed_by_joining_late_is_worth_half_a_first_place(
    scoring: Scoring, seats: int, expected: Any
) -> None:
    """The organiser can set another share, independent of other byes."""
    assert (expected,) == match_points(sat_out(1, 0, LATE), scoring, seats)


def test_no_bye_of_any_share_is_worth_more_than_the_win_of_a_match() -> None:
    """Rows for other numbers of seats change nothing in a tournament of two, not even its tie-breaks."""
    results = [match(1, (0, 1), ((0,), (1,))), sat_out(1, 2), match(2, (2, 0), ((0,), (1,))), sat_out(2, 1, LATE)]
    tables = [
        table_of(3, results, scoring=Scoring(by_rank=rows), gone=[2])
        for rows in (((3, 1),), ((3, 1), (10, 6, 3, 1)), ((10, 6, 3, 1), (3, 1)))
    ]
    assert [table.sums(entrant).points for table in tables for entrant in range(3)] == [4, F(5, 2), 6] * 3
    assert len({str(standings(table, tuple(TIE_BREAKS))) for table in tables}) == 1


PARTNERS = ((0, 2), (1, 3))


@pytest.mark.parametrize(
    ("ranking", "fouls", "expected", "wins"),
    [
        (((0, 2), (1, 3)), (), (1, 0, 1, 0), (1, 0, 1, 0)),
        (((1, 3), (0, 2)), (), (0, 1, 0, 1), (0, 1, 0, 1)),
        (((0, 1, 2, 3),), (), (F(1, 2),) * 4, (0, 0, 0, 0)),
        (((0,), (1, 3), (2,)), (2,), (1, 0, 0, 0), (1, 0, 0, 0)),
        (((1, 3), (0,), (2,)), (2,), (0, 1, 0, 1), (0, 1, 0, 1)),
        (((1, 3), (0, 2)), (0, 2), (0, 1, 0, 1), (0, 1, 0, 1)),
        (((0, 1, 2, 3),), (0, 1, 2, 3), (0, 0, 0, 0), (0, 0, 0, 0)),
        ((), (), (0, 0, 0, 0), (0, 0, 0, 0)),
    ],
)
def test_a_win_of_a_team_is_a_win(
    ranking: Groups, fouls: tuple[int, ...], expected: tuple[Any, ...], wins: tuple[int, ...]
) -> None:
    """Two teams get as many points as two seats. An entrant that fouled gets nothing for its partner's win."""
    scoring = Scoring(teams=PARTNERS)
    played = match(1, range(4), ranking, fouls=fouls)
    assert expected == match_points(played, scoring)
    table = table_of(4, [played], seats=4, scoring=scoring)
    assert wins == tuple(table.sums(entrant).wins for entrant in range(4))


def test_partners_do_not_meet() -> None:
    """Wins, draws, losses and the game's points count only against opponents."""
    played = match(1, range(4), ((0, 2), (1, 3)), scores=(10, 2, 8, 4))
    table = table_of(4, [played], seats=4, scoring=Scoring(teams=PARTNERS))
    assert table.head_to_head(0, 2).played == 0
    assert {1: HeadToHead(wins=1), 3: HeadToHead(wins=1)} == dict(table.opponents(0))
    assert {0: HeadToHead(losses=1), 2: HeadToHead(losses=1)} == dict(table.opponents(3))
    assert [table.sums(entrant).score_difference for entrant in range(4)] == [7, -7, 5, -5]
    assert table.opponents_each == 2


@pytest.mark.parametrize("seats", [2, 3, 4, 7, 12])
def test_without_fouls_a_match_shares_out_half_a_point_for_each_seat(seats: int) -> None:
    """The sum is the same for every ranking, exactly."""
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
    """The error says what to fix, both in Python and in a file."""
    with pytest.raises(BadScoring, match=words):
        Scoring(**raw)
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(raw, Scoring)
