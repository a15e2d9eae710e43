"""With the same lots and the same results of matches, a tournament's course does not depend on its tables."""

from random import Random
from typing import Any

import pytest

from referee.chance import Dealer
from referee.pairing.base import Entrant, EntrantField, Pairing, PlayedPairing, bye
from referee.plugins import load
from referee.tournament.crosstable import Crosstable
from referee.tournament.standings import DEFAULT, Standing, standings

FORMATS = load().formats


def result(pairing: Pairing) -> PlayedPairing:
    """Return what comes of a pairing whenever it is played."""
    if pairing.is_bye:
        return bye(pairing)
    seats, source = list(range(len(pairing.seats))), Random(repr((pairing.number, pairing.seats)))
    source.shuffle(seats)
    scores = tuple(source.randrange(9) for _ in seats)
    return PlayedPairing(pairing=pairing, ranking=tuple((seat,) for seat in seats), scores=scores)


def course(
    name: str, field: EntrantField, options: dict[str, Any], tables: int, seed: int
) -> tuple[dict[int, Pairing], tuple[Standing, ...], Any]:
    """Play at some tables, of which any is done next; return who met, the standings, and the format's own places."""
    form, source, table = FORMATS[name], Random(seed), Crosstable(field)
    state, met = form.new(form.parse_options(options), field, Dealer(bytes(32))), {}
    while due := form.due(state):
        pairing = source.choice(due[:tables])
        met[pairing.number] = pairing
        state = form.record(state, result(pairing))
        table.add(result(pairing))
    return met, standings(table, DEFAULT), form.places(state)


@pytest.mark.parametrize(
    ("name", "seats", "options"),
    [
        ("roundrobin", 2, {"cycles": 2}),
        ("roundrobin", 4, {}),
        ("roundrobin", 3, {"rounds": 5}),
        ("gauntlet", 2, {"challengers": 2}),
        ("ladder", 2, {"matches": 60}),
        ("ladder", 4, {"matches": 40}),
    ],
)
@pytest.mark.parametrize("has_copies", [False, True])
def test_one_table_and_three_give_the_same_course(
    *, name: str, seats: int, options: dict[str, Any], has_copies: bool
) -> None:
    """The same pairings under the same numbers, and so the same deals, and the same standings to the last tie-break."""
    entrants = tuple(Entrant(name=f"e{number}", has_copies=has_copies) for number in range(13))
    field = EntrantField(entrants=entrants, seats=seats)
    alone = course(name, field, options, 1, 0)
    for seed in range(4):
        assert course(name, field, options, 3, seed) == alone
