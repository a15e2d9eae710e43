"""The worth of a result in formats that pair by points."""

import pytest

from referee.tournament.pairing.base import Pairing, PlayedPairing, half_points


@pytest.mark.parametrize(
    ("ranking", "fouls", "worth"),
    [
        (((0,), (1,)), (), (2, 0)),
        (((1,), (0,)), (), (0, 2)),
        (((0, 1),), (), (1, 1)),
        (((0,), (1,)), (1,), (2, 0)),
        (((0,),), (), (0,)),
        (((2,), (0, 1)), (), (1, 1, 4)),
        (((2,), (0, 1)), (0, 1), (0, 0, 4)),
        (((3,), (1,), (0,), (2,)), (), (2, 4, 0, 6)),
        (((0, 1, 2),), (0, 1, 2), (0, 0, 0)),
        ((), (), (0, 0)),
    ],
)
def test_two_for_who_is_beaten_and_one_for_an_equal(
    ranking: tuple[tuple[int, ...], ...], fouls: tuple[int, ...], worth: tuple[int, ...]
) -> None:
    """A foul and a bye give nothing."""
    seats = tuple(range(len(worth)))
    pairing = Pairing(number=1, round=1, table="1", seats=seats)
    played = PlayedPairing(pairing=pairing, ranking=ranking, scores=(0,) * len(worth), fouls=fouls)
    assert half_points(played) == worth
