"""Rules that every Swiss round of two seats keeps, whichever program paired it, and the plain pairing."""

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from referee.tournament.pairing.base import PlayedRounds
from referee.tournament.pairing.dutch import complaint, pair_plainly

from .rounds import played_rounds

EVEN = played_rounds("3w1", "4b1", "1b0", "2w0", rounds=3)
"""Entrants 1 and 2 have won; 1 had the first seat, 2 the second."""
ODD = played_rounds("3w1", "4b1", "1b0", "2w0", "0-U", rounds=3)
WALKED = played_rounds("3w+", "4b1", "1b-", "2w0", "0-U", rounds=3)

FOUND: tuple[tuple[PlayedRounds, tuple[tuple[int, ...], ...], str | None], ...] = (
    (EVEN, ((1, 0), (2, 3)), None),
    (EVEN, ((1, 0),), "not everybody"),
    (EVEN, ((1, 0), (2, 0)), "not everybody"),
    (EVEN, ((1, 0), (2,), (3,)), "a table does not have two"),
    (EVEN, ((1, 0, 2, 3),), "a table does not have two"),
    (EVEN, ((0, 1), (2, 3)), "wrong way round"),
    (EVEN, ((2, 0), (1, 3)), "again"),
    (EVEN, ((3, 0), (1, 2)), "0 and 1 could have met"),
    (ODD, ((1, 0), (2, 4), (3,)), None),
    (ODD, ((1, 0), (2, 3), (4,)), "again"),
    (ODD, ((4, 0), (1, 2), (3,)), None),
    (ODD, ((1,), (3, 0), (2, 4)), "1 and 0 could have met"),
    (WALKED, ((1, 0), (4, 2), (3,)), None),
)
"""A tournament, groups of its next round, and the complaint about them."""


@pytest.mark.parametrize(("before", "tables", "says"), FOUND)
def test_what_is_wrong_with_a_round_is_found(
    before: PlayedRounds, tables: tuple[tuple[int, ...], ...], says: str | None
) -> None:
    """Everybody plays once, no meeting is repeated without need, seats are right, and equal points meet."""
    found = complaint(tables, before)
    assert (says is None) == (found is None)
    assert (says or "") in (found or "")


SEATS: tuple[tuple[str, str, str, int], ...] = (
    ("nobody has played, White begins", "", "", 0),
    ("the second seed is the better one", "0-Z", "0-U", 0),
    ("both wishes", "3w1", "4b0", 1),
    ("one has a wish", "3w0", "0-U", 1),
    ("the other has a wish", "0-U", "3w0", 0),
    ("the stronger wish", "3w1 4b1", "4b0", 1),
    ("the wider difference", "3w1 5w1 6w1", "4w0 3w0", 1),
    ("the other's wider difference", "4w1 3w1 0-U", "3w0 4w0 5w0", 0),
    ("the other way round than last", "3w1 4b1 5w1", "5w0 6w0 3b0", 1),
    ("the other way round than last, again", "5w1 6w1 3b1", "3w0 4b0 5w0", 0),
    ("the better one's wish", "3w1", "4w0", 1),
    ("the better one's wish, again", "3w0", "4w1", 0),
    ("walkovers have no seat", "3w+ 4w+", "5b0 6w0", 0),
)
"""The deciding rule; the rounds of the first two entrants; the first one's seat when they meet."""


@pytest.mark.parametrize(("one", "other", "seat"), [case[1:] for case in SEATS], ids=[case[0] for case in SEATS])
def test_seats_are_as_the_handbook_has_them(*, one: str, other: str, seat: int) -> None:
    """The rules E.1 to E.5 apply one after the other."""
    before = played_rounds(one, other, *["0-Z"] * 4, rounds=9, away=(3, 4, 5, 6))
    tables = [(1, 0) if seat else (0, 1)]
    assert pair_plainly(before) == tables
    assert complaint(tables, before) is None
    assert complaint([tables[0][::-1]], before) == f"the seats of {tables[0][::-1]} are the wrong way round"


def test_the_lot_decides_who_begins() -> None:
    """If two have not played yet, the lot says whether the better one begins."""
    assert pair_plainly(replace(played_rounds("", "", rounds=1), is_white_first=False)) == [(1, 0)]


@pytest.mark.parametrize("seed", range(40))
def test_a_plain_pairing_keeps_to_the_rules(seed: int) -> None:
    """It does so in each round, even if all have met; nobody has a second bye before all have had one."""
    source = Random(seed)
    count = source.randrange(2, 9)
    players = [""] * count
    byes = Counter[int]()
    for _ in range(9):
        before = played_rounds(*players, rounds=9)
        tables = pair_plainly(before)
        assert complaint(tables, before) is None
        for table in tables:
            letters = source.choice(["10", "01", "==", "00"]) if len(table) == 2 else "U"
            for seat, entrant in enumerate(table):
                opponent = table[1 - seat] + 1 if len(table) == 2 else 0
                players[entrant] += f" {opponent}{'wb'[seat] if opponent else '-'}{letters[seat]}"
            byes.update(table if len(table) == 1 else ())
        assert max(byes.values(), default=0) - min(byes[entrant] for entrant in range(count)) <= 1
