"""Gauntlet: who meets whom, how often, and in which seats."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.testing import check_pairing
from referee.tournament.pairing.base import BadFormat
from referee.tournament.pairing.gauntlet import Gauntlet

from .tournaments import field, first_wins, played_out, started

FORM = Gauntlet()


@pytest.mark.parametrize(
    ("count", "challengers", "cycles"), [(2, 1, 1), (5, 1, 3), (6, 2, 1), (9, 4, 2), (5, 3, 2), (6, 5, 1)]
)
def test_challengers_meet_all_others_in_both_seats(count: int, challengers: int, cycles: int) -> None:
    """Each challenger meets each other entrant equally often in either seat, and there are no other matches."""
    _, pairings = played_out(FORM, started(FORM, field(count), challengers=challengers, cycles=cycles))
    expected = Counter(
        {
            seats: cycles
            for number in range(challengers)
            for other in range(challengers, count)
            for seats in ((number, other), (other, number))
        }
    )
    assert expected == Counter(pairing.seats for pairing in pairings)


def test_challengers_play_at_the_same_time() -> None:
    """No challenger waits for another one while there are enough opponents."""
    due = FORM.due(started(FORM, field(8), challengers=3))
    assert {0, 1, 2} == {pairing.seats[0] for pairing in due}


@pytest.mark.parametrize(
    ("count", "single", "expected"),
    [(4, (), 60), (4, (0,), 1), (4, (1, 2, 3), 3), (4, (1,), 41), (2, (0, 1), 1), (130, (), 256)],
)
def test_a_program_with_copies_plays_at_all_tables(count: int, single: tuple[int, ...], expected: int) -> None:
    """One challenger plays as many matches as there are tables, unless an opponent plays one match at a time."""
    of = field(count, single=single)
    due = FORM.due(started(FORM, of, cycles=10))
    assert len(due) == expected
    matches = check_pairing(FORM, Random(1), field=of, options={"cycles": 2}, withdrawals=0)
    assert len(matches) == 4 * (count - 1)


@settings(max_examples=30)
@given(
    count=st.integers(2, 12),
    challengers=st.integers(1, 4),
    cycles=st.integers(1, 6),
    single=st.sets(st.integers(0, 11)),
    seed=st.integers(0, 2**32),
)
def test_whoever_is_single_gauntlets_conform(
    *, count: int, challengers: int, cycles: int, single: set[int], seed: int
) -> None:
    """No such entrant plays two matches at once, and every remaining entrant has all its results."""
    challengers, source = min(challengers, count - 1), Random(seed)
    options = {"challengers": challengers, "cycles": cycles}
    of = field(count, single=sorted(single))
    results = Counter(
        entrant
        for step in check_pairing(FORM, source, field=of, options=options, withdrawals=0.003)
        for entrant in step.pairing.seats
    )
    most = [2 * cycles * (count - challengers if entrant < challengers else challengers) for entrant in range(count)]
    assert all(results[entrant] <= most[entrant] for entrant in range(count))
    assert any(results[entrant] == most[entrant] for entrant in range(count)) or not results


def test_without_its_challenger_a_gauntlet_has_walkovers_alone() -> None:
    """The others do not play each other; each gets its two walkovers, which is as many matches as it was to play."""
    state = started(FORM, field(8))
    for _ in range(5):
        state = FORM.record(state, first_wins(FORM.due(state)[0]))
    state, pairings = played_out(FORM, FORM.withdraw(state, 0))
    assert {"walkover"} == {pairing.table for pairing in pairings}
    assert {3: 1, **dict.fromkeys(range(4, 8), 2)} == Counter(pairing.seats[0] for pairing in pairings)
    assert FORM.count_cancelled_pairings(state) == 9


def test_who_withdraws_from_a_gauntlet_leaves_walkovers_to_the_challengers() -> None:
    """Each challenger has two walkovers, whatever the others play."""
    _, pairings = played_out(FORM, FORM.withdraw(started(FORM, field(6), challengers=2), 4))
    byes = Counter(pairing.seats[0] for pairing in pairings if pairing.is_bye)
    assert byes == {0: 2, 1: 2}


@pytest.mark.parametrize("entrant", range(6))
@pytest.mark.parametrize("challengers", [1, 2, 3])
def test_who_comes_back_before_a_walkover_was_given_misses_nothing(entrant: int, challengers: int) -> None:
    """No match is cancelled then, although some of its pairings wait for a challenger that plays."""
    state = started(FORM, field(6), challengers=challengers)
    gone = FORM.withdraw(state, entrant)
    assert FORM.count_cancelled_pairings(gone) == 2 * (6 - challengers if entrant < challengers else challengers)
    if not any(pairing.is_bye for pairing in FORM.due(gone)):
        back = FORM.reinstate(gone, entrant)
        assert (FORM.count_cancelled_pairings(back), FORM.due(back)) == (0, FORM.due(state))


def test_a_field_of_challengers_only_is_refused() -> None:
    """They would have no opponents."""
    with pytest.raises(BadFormat, match="3 challengers of 3 entrants leave no opponents"):
        started(FORM, field(3), challengers=3)
