"""Deals and openings of Quad-Ominos: who opens a round, with which tile, its score, and what the others see."""

from typing import Any

import pytest

from referee.chance import Dealer
from referee.games.base import IllegalMove
from referee.games.quadominos.tiles import TILE_OF, TILES

from .states import (
    DONE,
    GAME,
    HIGHEST,
    POINTS,
    TWO_QUADS,
    ZERO,
    Spot,
    broken_rule,
    dealt,
    held,
    lay,
    lays_of,
    played,
    state_of,
)

SEATS = range(2, 13)


def total(name: str) -> int:
    """Return the sum of the numbers of a tile."""
    return sum(map(int, name))


@pytest.mark.parametrize(
    ("seats", "size"), [(2, 30), (3, 20), (4, 15), (5, 12), *((seats, 10) for seats in range(6, 13))]
)
def test_hands_are_dealt(seats: int, size: int) -> None:
    """Each player is dealt its number of tiles; one of them opens, and the rest of the 125 is the well."""
    for number in range(20):
        state = dealt(number, seats)
        laid, drawn = len(state.table.board), sum(state.drew)
        assert seats * size == sum(map(len, state.hands)) + laid - drawn
        assert 125 - seats * size - drawn == len(state.well)
        assert laid == (0 if state.step == "open" else 1)


@pytest.mark.parametrize("seats", SEATS)
def test_the_highest_quad_opens_or_else_the_highest_total(seats: int) -> None:
    """The holder of the highest quad of all hands is asked.

    Without a quad, the highest total lies on row 0, column 0.
    """
    for number in range(30):
        state = dealt(number, seats)
        opened = [TILES[TILE_OF[face]] for face in state.table.board.values()]
        mine = held(state, state.order[0])
        names = [
            name for seat in range(seats) for name in held(state, seat)[: len(state.hands[seat]) - state.drew[seat]]
        ]
        quads = [name for name in (*names, *opened) if len(set(name)) == 1]
        assert (state.step == "open") == bool(quads)
        if quads:
            assert max(quads) in mine
            due = {max(quads), *({"0000"} & set(mine))}
            assert sorted((0, 0, quad) for quad in due) == lays_of(state)
            continue
        expected = max([*names, *opened], key=lambda name: (total(name), name))
        assert [expected] == opened
        assert list(state.table.board) == [(0, 0)]


OPENINGS: tuple[tuple[str, list[list[str]], Spot, tuple[int, ...], str], ...] = (
    ("the highest quad", [["1111", "0123"], ["3333", "0133", "0333"]], (1, 0, "3333"), (0, 12), "bonus"),
    ("a quad before a total", [["4555", "0123"], ["1111", "0112", "1122"]], (1, 0, "1111"), (0, 4), "bonus"),
    ("the only quad", [["0000", "0001", "0002"], ["0123", "3445"]], (0, 1, "0000"), (25, 0), "extra"),
)
"""Name, hands, (order before and after, the only tile to open with), scores, next request."""


@pytest.mark.parametrize(("_name", "hands", "opens", "scores", "step"), OPENINGS, ids=[row[0] for row in OPENINGS])
def test_opening_with_a_quad(
    _name: str, hands: list[list[str]], opens: Spot, scores: tuple[int, ...], step: str
) -> None:
    """The holder of the highest quad must lay it, even without a choice; it scores its total, and earns a bonus."""
    state = state_of(*hands, board=())
    assert (opens[:2], "open", [(0, 0, opens[2])]) == (state.order, state.step, lays_of(state))
    after = played(state, lay(0, 0, opens[2]))
    assert (opens[:2], scores, step) == (after.order, after.scores, after.step)


LAID_OPENINGS: tuple[tuple[str, list[list[str]], str, int], ...] = (
    ("the highest total", [["2234", "0044"], ["3334", "0033"]], "3334", 13),
    ("of equal totals the greater", [["1445", "0014"], ["2444", "0024"]], "2444", 14),
)


@pytest.mark.parametrize(("_name", "hands", "tile", "points"), LAID_OPENINGS, ids=[row[0] for row in LAID_OPENINGS])
def test_opening_without_a_quad(_name: str, hands: list[list[str]], tile: str, points: int) -> None:
    """The referee lays the tile of the highest total for its holder, and the next seat is to move."""
    state = state_of(*hands, board=())
    assert GAME.view(state, 0).board == ((0, 0, tile),)
    assert (state.order, state.scores, state.step) == ((0, 1), (0, points), "lay")
    assert not GAME.is_same_turn(state)


@pytest.mark.parametrize("seats", [2, 3])
def test_an_opening_yet_to_be_made_shows_the_others_who_is_to_open(seats: int) -> None:
    """Whether the seat also holds the quad-zero or not, all other seats see the same."""
    others = [["1111", "0044"], ["0002", "0011"]][: seats - 1]
    with_it = state_of(["5555", "0000", "0055"], *others, board=(), well=["0001", "0003"])
    without_it = state_of(["5555", "0001", "0055"], *others, board=(), well=["0000", "0003"])
    for seat in range(1, seats):
        seen = GAME.view(with_it, seat)
        assert seen == GAME.view(without_it, seat)
        assert (seen.step, seen.order[0], seen.board) == ("open", 0, ())
    assert len(lays_of(with_it)) == 2
    assert lays_of(without_it) == [(0, 0, "5555")]


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("number", range(5))
def test_nobody_imagines_a_higher_quad_than_that_of_who_is_to_open(seat: int, number: int) -> None:
    """A seat that looks ahead before the opening deals the quads so that the same seat is to open."""
    well = ["2222", "3333", "4444", "5555", "0000"]
    rest = [name for name in TILES if len(set(name)) > 1]
    state = state_of(["1111", *rest[:20]], rest[20:80], board=(), well=well)
    imagined = GAME.imagine(state.options, GAME.view(state, seat), Dealer(bytes([number]) * 32))
    GAME.check_invariants(imagined)
    assert GAME.view(imagined, seat) == GAME.view(state, seat)


def test_an_opening_quad_without_two_more_tiles() -> None:
    """A seat that opens with a quad and can't lay two additional tiles gets 25 points."""
    state = played(state_of(["0002", "0044"], ["4444", "0024"], board=()), lay(0, 0, "4444"))
    assert (state.scores, state.order, state.step) == ((0, 16 + 25), (0, 1), "lay")


def test_who_has_no_choice_opens_with_no_other_tile() -> None:
    """The rule names the quad that must be laid, and not a quad-zero that the seat does not hold."""
    state = state_of(["5555", "1111"], ["0000"], board=())
    with pytest.raises(IllegalMove, match=r"open\.highest: 1111, while 5555 is to open the round"):
        GAME.play(state, GAME.parse_move(lay(0, 0, "1111")))


ON_ZERO, ON_ZERO_TOO = lay(0, 1, "0010"), lay(-1, 0, "5500")
CHOICES: tuple[tuple[str, list[dict[str, Any]], dict[str, Any], str | None], ...] = (
    ("the highest quad", [], HIGHEST, None),
    ("the quad-zero", [], ZERO, None),
    ("another tile", [], lay(0, 0, "0001"), "quadominos.open.highest"),
    ("a quad of another", [], lay(0, 0, "4444"), "quadominos.lay.owned"),
    ("another place", [], lay(0, 1, "0000"), "quadominos.open.middle"),
    ("points at once", [], POINTS, "quadominos.bonus.choice"),
    ("nothing", [], DONE, "quadominos.turn.lay"),
    ("points for the highest quad", [HIGHEST], POINTS, None),
    ("nothing for the highest quad", [HIGHEST], DONE, "quadominos.bonus.choice"),
    ("a tile on the quad-zero", [ZERO], ON_ZERO, None),
    ("points on top of those of the quad-zero", [ZERO], POINTS, "quadominos.bonus.choice"),
    ("no tile on the quad-zero", [ZERO], DONE, None),
    ("a tile that does not fit", [ZERO], lay(0, 1, "0001"), "quadominos.lay.match"),
    ("a second tile", [ZERO, ON_ZERO], ON_ZERO_TOO, None),
    ("no second tile", [ZERO, ON_ZERO], DONE, None),
    ("points for the second tile", [ZERO, ON_ZERO], POINTS, "quadominos.bonus.choice"),
)


@pytest.mark.parametrize(("_name", "before", "raw", "expected"), CHOICES, ids=[row[0] for row in CHOICES])
def test_two_quads_to_open_with(
    _name: str, before: list[dict[str, Any]], raw: dict[str, Any], expected: str | None
) -> None:
    """A seat with the quad-zero and the highest quad opens with one of them, and goes on as that one allows."""
    state = played(state_of(*TWO_QUADS, board=()), *before)
    assert (GAME.to_move(state), GAME.is_same_turn(state)) == (0, bool(before))
    assert expected == broken_rule(state, raw)


@pytest.mark.parametrize(
    ("moves", "score", "is_over"),
    [
        ([HIGHEST], 20, False),
        ([HIGHEST, POINTS], 20 + 25, True),
        ([ZERO], 25, False),
        ([ZERO, DONE], 25, True),
        ([ZERO, ON_ZERO], 25 + 1, False),
        ([ZERO, ON_ZERO, DONE], 25 + 1, True),
        ([ZERO, ON_ZERO, ON_ZERO_TOO], 25 + 1 + 10, True),
    ],
)
def test_what_an_opening_scores(moves: list[dict[str, Any]], score: int, is_over: bool) -> None:  # noqa: FBT001  # of a table
    """The quad-zero earns 25 points and up to two tiles, the highest quad earns one of both; then the turn is over."""
    after = played(state_of(*TWO_QUADS, board=()), *moves)
    assert (score, is_over) == (after.scores[0], not GAME.is_same_turn(after))


def test_a_quad_zero_without_tiles_to_follow() -> None:
    """If nothing fits on an opening quad-zero, its turn is over with the 25 points."""
    after = played(state_of(["5555", "0000", "1234"], ["4444", "0002"], board=()), ZERO)
    assert (after.scores, after.step, GAME.to_move(after)) == ((25, 0), "lay", 1)
