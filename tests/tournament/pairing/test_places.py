"""Knockouts give the same matches and the same places in whatever order matches end."""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.testing import random_result
from referee.tournament.pairing.base import Pairing, PairingFormat, PlayedPairing
from referee.tournament.pairing.double_elimination import DoubleElimination
from referee.tournament.pairing.knockout import Knockout

from .tournaments import field, started

PlayedRounds = tuple[dict[int, Pairing], tuple[tuple[int, ...], ...] | None]
"""All pairings by their numbers, and the places at the end."""
OPTIONS: tuple[tuple[PairingFormat[Any], int, dict[str, Any]], ...] = (
    *((Knockout(), 2, {"third_place": third, "replays": replays}) for third in (False, True) for replays in (0, 1, 2)),
    *((DoubleElimination(), 2, {"reset": reset, "replays": replays}) for reset in (False, True) for replays in (0, 2)),
    *((Knockout(), seats, {"advance": advance, "replays": 1}) for seats, advance in ((3, 1), (4, 1), (4, 2), (6, 3))),
    (Knockout(), 4, {"replays": 0}),
)


def result_of(pairing: Pairing, seed: int) -> PlayedPairing:
    """Return the result of a match, which does not depend on when it is played; often it is a draw."""
    return random_result(pairing, Random(f"{seed} {pairing.number} {pairing.seats}"))


def play_places(
    form: PairingFormat[Any], state: Any, seed: int, order: Random, leaving: dict[int, int]
) -> PlayedRounds:
    """Play to the end in some order.

    Args:
        form: the format.
        state: before the first match.
        seed: decides the results.
        order: decides which of the matches that are due ends next.
        leaving: entrant -> number of its own results after which it withdraws.
    """
    pairings: dict[int, Pairing] = {}
    results = dict.fromkeys(leaving, 0)
    while due := form.due(state):
        pairings.update((pairing.number, pairing) for pairing in due)
        played = order.choice(due)
        mine = sorted(leaving.keys() & set(played.seats))
        results.update((entrant, results[entrant] + 1) for entrant in mine)
        gone = [entrant for entrant in mine if results[entrant] == leaving[entrant]]
        state = form.conclude(state, result_of(played, seed), gone)
    return pairings, form.places(state)


@pytest.mark.parametrize(("form", "seats", "options"), OPTIONS)
@settings(max_examples=25)
@given(count=st.integers(2, 40), seed=st.integers(0, 2**32), orders=st.tuples(st.integers(), st.integers()))
def test_the_order_of_finishing_is_no_matter(
    *, form: PairingFormat[Any], seats: int, options: dict[str, Any], count: int, seed: int, orders: tuple[int, int]
) -> None:
    """Numbers, seats, tables, byes and places follow only from the results, and so do the deals and the champion."""
    of = field(max(count, seats), seats)
    one, other = (play_places(form, started(form, of, **options), seed, Random(order), {}) for order in orders)
    assert one == other


@settings(max_examples=60)
@given(
    form=st.sampled_from([Knockout(), DoubleElimination()]),
    count=st.integers(2, 40),
    seed=st.integers(0, 2**32),
    orders=st.tuples(st.integers(), st.integers()),
    leaving=st.dictionaries(st.integers(0, 39), st.integers(1, 3), max_size=6),
)
def test_nor_are_withdrawals(
    *, form: PairingFormat[Any], count: int, seed: int, orders: tuple[int, int], leaving: dict[int, int]
) -> None:
    """Entrants that withdraw with a result, such as a failure to start, do not change the places either."""
    one, other = (play_places(form, started(form, field(count)), seed, Random(order), leaving)[1] for order in orders)
    assert one == other


def test_a_replay_has_the_number_after_its_match() -> None:
    """Numbers of replays that are not played are left out."""
    state = started(Knockout(), field(4), replays=2)
    assert [pairing.number for pairing in Knockout().due(state)] == [1, 4]
    first, other = Knockout().due(state)
    state = Knockout().record(state, PlayedPairing(pairing=first, ranking=((0, 1),), scores=(0, 0)))
    again = Pairing(number=2, round=1, seats=first.seats[::-1], table=first.table)
    assert Knockout().due(state) == (again, other)
