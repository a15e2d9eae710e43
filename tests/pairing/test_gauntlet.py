"""Gauntlet: who meets whom, how often, in which seats."""

from collections import Counter

import pytest

from referee.pairing.base import BadFormat
from referee.pairing.gauntlet import Gauntlet

from .tournaments import field, played_out, started

FORM = Gauntlet()


@pytest.mark.parametrize(
    ("count", "challengers", "cycles"), [(2, 1, 1), (5, 1, 3), (6, 2, 1), (9, 4, 2), (5, 3, 2), (6, 5, 1)]
)
def test_challengers_meet_all_others_in_both_seats(count: int, challengers: int, cycles: int) -> None:
    """Each against each that is none, as often in either seat as is set, and nobody else."""
    _, pairings = played_out(FORM, started(FORM, field(count), challengers=challengers, cycles=cycles))
    expected = Counter(
        {
            seats: cycles
            for one in range(challengers)
            for other in range(challengers, count)
            for seats in ((one, other), (other, one))
        }
    )
    assert expected == Counter(pairing.seats for pairing in pairings)


def test_challengers_play_at_the_same_time() -> None:
    """No challenger waits for another as long as there are opponents enough."""
    due = FORM.due(started(FORM, field(8), challengers=3))
    assert {0, 1, 2} == {pairing.seats[0] for pairing in due}


def test_without_its_challenger_a_gauntlet_is_over() -> None:
    """The others do not play each other."""
    assert FORM.is_over(FORM.withdraw(started(FORM, field(8)), 0))


def test_a_field_of_challengers_only_is_refused() -> None:
    """They would have nobody to play."""
    with pytest.raises(BadFormat, match="3 challengers of 3 entrants leave no opponents"):
        started(FORM, field(3), challengers=3)
