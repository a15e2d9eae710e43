"""Legs of one deal: the seats in each, and the result of all together."""

import pytest

from referee.tournament.match_context import Fixture, FoulEntry, MatchEntry, combine_legs, rotate_seats
from referee.tournament.pairing.base import Pairing
from referee.tournament.points import Scoring

Groups = tuple[tuple[int, ...], ...]
PAIRING = Pairing(number=7, round=2, seats=(4, 9))
THREE = Pairing(number=8, round=2, seats=(4, 9, 5))


def entry(
    seats: tuple[int, ...], ranking: Groups, scores: tuple[int, ...], fouls: tuple[int, ...] = (), leg: int = 0
) -> MatchEntry:
    """Return the entry of one match."""
    fixture = Fixture(match=f"t-7.{leg}", number=7, round=2, table="", leg=leg, attempt=0, entrants=seats)
    return MatchEntry(
        fixture=fixture,
        names=tuple(f"e{item}" for item in seats),
        void=None,
        ranking=ranking,
        scores=scores,
        fouls=tuple(FoulEntry(seat=seat, cause="timeout", turn=3) for seat in fouls),
        reason="end",
        turns=9,
        used_ms=(1.0,) * len(seats),
        head="0" * 64,
    )


@pytest.mark.parametrize(("leg", "seats"), [(0, (4, 9, 5)), (1, (9, 5, 4)), (2, (5, 4, 9))])
def test_everybody_moves_up_by_a_seat(leg: int, seats: tuple[int, ...]) -> None:
    """Over all legs, each entrant sits on each seat once."""
    assert rotate_seats((4, 9, 5), leg) == seats


@pytest.mark.parametrize(
    ("one", "other", "ranking", "scores", "fouls"),
    [
        pytest.param(((0,), (1,)), ((1,), (0,)), ((0,), (1,)), (15, 10), (), id="won twice"),
        pytest.param(((0,), (1,)), ((0,), (1,)), ((0, 1),), (15, 10), (), id="one each"),
        pytest.param(((0,), (1,)), ((0, 1),), ((0,), (1,)), (15, 10), (), id="won and drawn"),
        pytest.param(((0, 1),), ((0, 1),), ((0, 1),), (15, 10), (), id="drawn twice"),
    ],
)
def test_a_pairing_is_ranked_by_the_sum(
    one: Groups, other: Groups, ranking: Groups, scores: tuple[int, ...], fouls: tuple[int, ...]
) -> None:
    """Match points of both legs rank the pairing in its own seats; the game's points are added up."""
    legs = [entry((4, 9), one, (10, 5)), entry((9, 4), other, (5, 5), leg=1)]
    played = combine_legs(PAIRING, legs, Scoring())
    assert (played.pairing, played.ranking, played.scores, played.fouls) == (PAIRING, ranking, scores, fouls)


def test_who_fouled_in_every_leg_has_fouled() -> None:
    """A foul in one leg costs only that leg; fouls in all legs cost the pairing."""
    once = [entry((4, 9), ((0,), (1,)), (1, 0), (1,)), entry((9, 4), ((0,), (1,)), (3, 0), leg=1)]
    assert combine_legs(PAIRING, once, Scoring()).fouls == ()
    assert combine_legs(PAIRING, once, Scoring()).ranking == ((0, 1),)
    twice = [entry((4, 9), ((0,), (1,)), (1, 0), (1,)), entry((9, 4), ((1,), (0,)), (0, 1), (0,), leg=1)]
    assert (combine_legs(PAIRING, twice, Scoring()).ranking, combine_legs(PAIRING, twice, Scoring()).fouls) == (
        ((0,), (1,)),
        (1,),
    )


def test_three_seats_are_ranked_by_their_points() -> None:
    """The share of beaten opponents, leg by leg, ranks three entrants."""
    legs = [
        entry((4, 9, 5), ((0,), (1,), (2,)), (9, 5, 1)),
        entry((9, 5, 4), ((2,), (0,), (1,)), (5, 1, 9), leg=1),
        entry((5, 4, 9), ((2,), (1,), (0,)), (1, 5, 9), leg=2),
    ]
    played = combine_legs(THREE, legs, Scoring())
    assert (played.ranking, played.scores) == (((0,), (1,), (2,)), (23, 19, 3))


def test_a_single_leg_is_the_match_itself() -> None:
    """Without duplicate deals nothing is added up."""
    played = combine_legs(PAIRING, [entry((4, 9), ((1,), (0,)), (3, 8), (0,))], Scoring())
    assert (played.ranking, played.scores, played.fouls) == (((1,), (0,)), (3, 8), (0,))


def test_a_pairing_none_of_whose_legs_counts_is_void() -> None:
    """If rulings made all legs void, nobody has drawn; a single leg that counts decides alone."""
    voids = [entry((4, 9), (), (0, 0)), entry((9, 4), (), (0, 0), leg=1)]
    assert combine_legs(PAIRING, voids, Scoring()).ranking == ()
    won = entry((9, 4), ((0,), (1,)), (3, 0), leg=1)
    assert combine_legs(PAIRING, [voids[0], won], Scoring()).ranking == ((1,), (0,))
