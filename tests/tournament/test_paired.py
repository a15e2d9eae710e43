"""The share of points of one of two players, with an interval that takes pairs of matches into account."""

import random
from math import inf

import pytest

from referee.tournament.ratings.elo import as_elo, expected_score, paired_score

COUNTS: list[tuple[tuple[int, ...], float]] = [
    ((0, 0, 0, 0, 10), 1.0),
    ((10, 0, 0, 0, 0), 0.0),
    ((0, 0, 50, 0, 0), 0.5),
    ((1, 2, 3, 4, 5), 2 / 3),
]


@pytest.mark.parametrize(("counts", "share"), COUNTS)
def test_the_share_lies_in_its_interval(counts: tuple[int, ...], share: float) -> None:
    """The share is that of the points; the interval is around it, and within 0 and 1."""
    found = paired_score(counts)
    assert found.value == pytest.approx(share)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


@pytest.mark.parametrize("shares", [(20, 0, 60, 0, 20), (10, 20, 40, 20, 10), (0, 5, 10, 25, 60), (25, 0, 0, 0, 75)])
def test_the_interval_holds_the_true_share_as_often_as_it_says(shares: tuple[int, ...]) -> None:
    """In many samples of 60 pairs, the 95 % interval contains the true share about as often as that."""
    chance = random.Random(1)
    true = sum(index * share for index, share in enumerate(shares)) / 400
    held = 0
    for _ in range(1000):
        drawn = chance.choices(range(5), shares, k=60)
        found = paired_score([drawn.count(index) for index in range(5)])
        held += found.low <= true <= found.high
    assert 930 <= held <= 975


def test_pairs_that_vary_less_tell_more() -> None:
    """If luck in the deal cancels out within pairs, the interval is narrower."""
    steady, wild = paired_score((0, 0, 50, 0, 0)), paired_score((25, 0, 0, 0, 25))
    assert steady.high - steady.low < (wild.high - wild.low) / 3


def test_elo_is_what_makes_the_share() -> None:
    """A difference in Elo gives back the share it was made from; shares of 0 and 1 have none."""
    found = as_elo(paired_score((5, 10, 30, 20, 10)))
    assert [expected_score(value) for value in found] == pytest.approx(list(paired_score((5, 10, 30, 20, 10))))
    assert as_elo(paired_score((0, 0, 0, 0, 3))).value == inf
    assert as_elo(paired_score((3, 0, 0, 0, 0))).value == -inf
