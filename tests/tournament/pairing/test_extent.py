"""The length of a tournament, as formats state it beforehand, compared with tournaments that are played out."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from referee.plugins import load
from referee.testing import with_rounds
from referee.tournament.pairing.base import Extent, Pairing, PairingFormat, PlayedPairing

from .tournaments import drawn, field, first_wins, played_out, started, won_by

FORMATS = load().formats
CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("roundrobin", 2, {}),
    ("roundrobin", 2, {"cycles": 2}),
    ("roundrobin", 2, {"cycles": 3, "rounds": 4}),
    ("roundrobin", 3, {}),
    ("roundrobin", 4, {"rounds": 5}),
    ("roundrobin", 4, {"cycles": 2}),
    ("swiss", 2, {}),
    ("swiss", 3, {"rounds": 2}),
    ("knockout", 2, {}),
    ("knockout", 2, {"third_place": True, "replays": 0}),
    ("knockout", 3, {}),
    ("knockout", 4, {"replays": 2}),
    ("knockout", 4, {"advance": 1}),
    ("doubleelimination", 2, {}),
    ("doubleelimination", 2, {"reset": False, "replays": 0}),
    ("gauntlet", 2, {"challengers": 2, "cycles": 2}),
    ("ladder", 2, {"matches": 30}),
    ("ladder", 3, {"matches": 30, "certainty": 0.6}),
]
TELLING = [case for case in CASES if case[0] in {"gauntlet", "swiss", "roundrobin"}]
"""Formats that state how many matches a withdrawal costs."""
RESULTS: list[Callable[[Pairing], PlayedPairing]] = [
    first_wins,
    lambda pairing: first_wins(pairing) if len(pairing.seats) != 2 else won_by(pairing, max(pairing.seats)),
    lambda pairing: first_wins(pairing) if pairing.is_bye else drawn(pairing),
]


@pytest.mark.parametrize(("name", "seats", "options"), CASES)
@pytest.mark.parametrize("count", [4, 5, 7, 8, 13, 16])
def test_as_many_matches_are_played_as_were_told(name: str, seats: int, options: dict[str, Any], count: int) -> None:
    """The numbers of matches and rounds are as stated, whatever the results are."""
    form, of = FORMATS[name], field(count, seats)
    told = form.extent(form.parse_options(options), of)
    assert told is not None
    for result in RESULTS:
        _, pairings = played_out(form, started(form, of, **options), result)
        matches = [pairing for pairing in pairings if not pairing.is_bye]
        assert told.fewest <= len(matches) <= told.most
        assert told.rounds in (None, max(pairing.round for pairing in pairings))


@pytest.mark.parametrize(("name", "seats", "options"), TELLING)
@pytest.mark.parametrize("count", [5, 8, 13])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_given_up_makes_up_the_difference(
    *, name: str, seats: int, options: dict[str, Any], count: int, seed: int
) -> None:
    """Whatever entrants withdraw, played and cancelled matches add up to the stated number."""
    form, of, source = FORMATS[name], field(count, seats), Random(seed)
    told = form.extent(form.parse_options(options), of)
    state, matches = started(form, of, **options), 0
    while due := form.due(state):
        if source.random() < 0.1:
            state = with_rounds(form, form.withdraw(state, source.randrange(count)))
        else:
            pairing = source.choice(due)
            matches += not pairing.is_bye
            state = with_rounds(form, form.record(state, first_wins(pairing)))
    assert told is not None
    assert matches + form.count_cancelled_pairings(state) == told.fewest


def test_a_format_need_not_tell() -> None:
    """A format of a package need not state a length."""
    form = FORMATS["swiss"]
    assert PairingFormat.extent(form, form.parse_options({}), field(4)) is None
    assert PairingFormat.count_cancelled_pairings(form, started(form, field(4))) == 0


def test_a_swiss_of_many_is_told_at_once() -> None:
    """Nothing is paired for it, so a thousand entrants take no longer than four."""
    form = FORMATS["swiss"]
    assert form.extent(form.parse_options({}), field(1001)) == Extent(fewest=5000, most=5000, rounds=10)
