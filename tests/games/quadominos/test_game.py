"""One turn of Quad-Ominos: where a tile may lie, what it scores, and which bonus it earns."""

from typing import Any

import pytest

from referee.games.quadominos.tiles import FACES, TILES

from .states import (
    ARC,
    BAY,
    CORNER,
    DONE,
    GAME,
    ONE,
    POINTS,
    Spot,
    broken_rule,
    happened,
    lay,
    lays_of,
    played,
    state_of,
)


def test_the_set_is_complete() -> None:
    """There are 125 tiles: all combinations of four numbers from 0 to 5, ascending, except 0245."""
    assert len(set(TILES)) == 125
    assert all(list(name) == sorted(name) and set(name) <= set("012345") for name in TILES)
    assert "0245" not in TILES
    assert {name[turn:] + name[:turn] for name in TILES for turn in range(4)} == set(FACES)


LAYS: tuple[tuple[str, tuple[Spot, ...], str, Spot, str | None], ...] = (
    ("beside two equal numbers", ONE, "1223", (0, 1, "2312"), None),
    ("above", ONE, "0012", (-1, 0, "0120"), None),
    ("above, as it is printed", ONE, "0012", (-1, 0, "0012"), "quadominos.lay.match"),
    ("on its left", ONE, "0004", (0, -1, "0040"), None),
    ("on its left, as it is printed", ONE, "0004", (0, -1, "0004"), "quadominos.lay.match"),
    ("beneath", ONE, "2234", (1, 0, "4223"), None),
    ("beneath, as it is printed", ONE, "2234", (1, 0, "2234"), "quadominos.lay.match"),
    ("a tile of four equal numbers", ONE, "2222", (0, 1, "2222"), None),
    ("one number fits, one does not", ONE, "1223", (0, 1, "2231"), "quadominos.lay.match"),
    ("no number fits", ONE, "1133", (0, 1, "1133"), "quadominos.lay.match"),
    ("the mirror image", ONE, "0123", (0, 1, "0321"), "quadominos.tile.turned"),
    ("a tile of somebody else", ONE, "1223", (0, 1, "2222"), "quadominos.lay.owned"),
    ("a tile on the table", ONE, "1223", (0, 1, "2402"), "quadominos.lay.owned"),
    ("the tile that was never made", ONE, "1223", (0, 1, "2450"), "quadominos.lay.owned"),
    ("an occupied place", ONE, "1223", (0, 0, "2312"), "quadominos.lay.free"),
    ("a diagonal place", ONE, "1223", (1, 1, "2312"), "quadominos.lay.side"),
    ("a place beside nothing", ONE, "1223", (0, 2, "2312"), "quadominos.lay.side"),
    ("the farthest place", ONE, "1223", (2**31 - 1, -(2**31), "2312"), "quadominos.lay.side"),
    ("three corners", CORNER, "2223", (1, 1, "2223"), None),
    ("three corners, one disagrees", CORNER, "2234", (1, 1, "2234"), "quadominos.lay.match"),
    ("four corners", BAY, "2223", (1, 1, "2223"), None),
    ("four corners, one disagrees", BAY, "2233", (1, 1, "2233"), "quadominos.lay.match"),
    ("a diagonal neighbour agrees", ARC, "0015", (1, 0, "1500"), None),
    ("a diagonal neighbour disagrees", ARC, "0155", (1, 0, "1550"), "quadominos.lay.match"),
)


@pytest.mark.parametrize(("_name", "board", "hand", "spot", "expected"), LAYS, ids=[row[0] for row in LAYS])
def test_laying(_name: str, board: tuple[Spot, ...], hand: str, spot: Spot, expected: str | None) -> None:
    """A tile is laid legally, or breaks the named rule; the state stays as it was."""
    keeps_the_turn = "0002" if board is not ARC else "0005"
    state = state_of([hand, keeps_the_turn], ["1111"], board=board)
    assert GAME.to_move(state) == 0
    assert expected == broken_rule(state, lay(*spot))


@pytest.mark.parametrize(
    ("hand", "spot"), [("1223", (0, 1, "2312")), ("0004", (0, -1, "0040")), ("2222", (0, 1, "2222"))]
)
def test_a_tile_scores_its_total(hand: str, spot: Spot) -> None:
    """Laying a tile scores the sum of its numbers, whatever it meets."""
    after = played(state_of([hand, "0002"], ["0012", "1111"], scores=(10, 20)), lay(*spot))
    assert after.scores == (10 + sum(map(int, hand)), 20)


def test_the_legal_moves_of_a_tile_are_its_rotations_that_fit() -> None:
    """Each place and rotation is listed once, and a quad once for each place."""
    assert lays_of(state_of(["0002", "2222"], ["1111"])) == [(-1, 0, "0020"), (0, 1, "2222")]


# --- bonuses

EARNED = ["2223", "0000", "0001", "0333"]
"""On CORNER, after 2223 on row 1, column 1, each legal pair begins with 0010 above or a tile on the left."""
LAID = lay(1, 1, "2223")


def earned(**options: Any) -> Any:
    """Return the state right after a tile has met three corners."""
    return played(state_of(EARNED, ["0002", "1111"], board=CORNER, **options), LAID)


@pytest.mark.parametrize(
    ("board", "spot", "met"),
    [(CORNER, (1, 1, "2223"), 3), (CORNER, (1, 1, "2233"), 3), (BAY, (1, 1, "2223"), 4), (CORNER, (0, 2, "1222"), 2)],
)
def test_three_or_four_corners_earn_a_bonus(board: tuple[Spot, ...], spot: Spot, met: int) -> None:
    """After a tile with three or four corners that meet others, its seat is asked again; with two, the turn ends."""
    laid = lay(*spot)
    state = state_of(["".join(sorted(spot[2])), "0000", "0001"], ["0002", "1111"], board=board)
    assert met == happened(state, laid)[0]["met"]
    after = played(state, laid)
    expected = (0, True, "bonus", 2) if met > 2 else (1, False, "lay", 0)
    assert expected == (GAME.to_move(after), GAME.is_same_turn(after), after.step, after.additional)


def test_twenty_five_points() -> None:
    """Choosing the points scores 25, and ends the turn."""
    after = played(earned(), POINTS)
    assert after.scores == (9 + 25, 0)
    assert (GAME.to_move(after), GAME.is_same_turn(after)) == (1, False)


def test_two_additional_tiles() -> None:
    """Laying the first additional tile makes the choice; then the second is due. Both score their totals."""
    first = played(earned(), lay(0, -1, "0000"))
    assert (GAME.to_move(first), GAME.is_same_turn(first), first.step, first.additional) == (0, True, "second", 1)
    second = played(first, lay(-1, 0, "0010"))
    assert second.scores == (9 + 0 + 1, 0)
    assert (GAME.to_move(second), GAME.is_same_turn(second), second.step) == (1, False, "lay")


CHOICES: tuple[tuple[str, list[dict[str, Any]], dict[str, Any], str | None], ...] = (
    ("points without a bonus", [], POINTS, "quadominos.bonus.choice"),
    ("nothing at all", [], DONE, "quadominos.turn.lay"),
    ("a tile", [], LAID, None),
    ("points", [LAID], POINTS, None),
    ("nothing in place of the bonus", [LAID], DONE, "quadominos.bonus.choice"),
    ("a first tile", [LAID], lay(-1, 0, "0010"), None),
    ("a first tile after which no second fits", [LAID], lay(0, -1, "1000"), "quadominos.bonus.two"),
    ("a first tile that does not fit", [LAID], lay(0, -1, "0010"), "quadominos.lay.match"),
    ("a first tile of nobody's", [LAID], lay(-1, 0, "1110"), "quadominos.lay.owned"),
    ("points in place of the second", [LAID, lay(0, -1, "0000")], POINTS, "quadominos.bonus.two"),
    ("nothing in place of the second", [LAID, lay(0, -1, "0000")], DONE, "quadominos.bonus.two"),
    ("the second", [LAID, lay(0, -1, "0000")], lay(-1, 0, "0010"), None),
)


@pytest.mark.parametrize(("_name", "before", "raw", "expected"), CHOICES, ids=[row[0] for row in CHOICES])
def test_choosing(_name: str, before: list[dict[str, Any]], raw: dict[str, Any], expected: str | None) -> None:
    """Points and additional tiles can be chosen only when they were earned."""
    state = played(state_of(EARNED, ["0002", "1111"], board=CORNER), *before)
    assert expected == broken_rule(state, raw)


@pytest.mark.parametrize("rest", [["0333"], ["0003", "4555"], ["5555", "4444", "3555"]])
def test_who_cannot_lay_two_takes_the_points(rest: list[str]) -> None:
    """If two more tiles can't be laid, the referee gives 25 points and the turn is over."""
    state = state_of(["2223", *rest], ["0002", "1111"], board=CORNER)
    assert {"event": "bonus", "seat": 0, "points": 25} in happened(state, LAID)
    after = played(state, LAID)
    assert (after.scores[0], GAME.to_move(after)) == (9 + 25, 1)


CHAIN = (lay(1, 0, "1500"), lay(2, 0, "0050"), lay(-1, 0, "0033"))
"""Tiles on ARC: one that meets three corners; as an additional tile, three; and two."""
CHAIN_HAND = ["0015", "0005", "0033", "0133", "1333", "4444"]


def test_additional_tiles_earn_nothing_by_default() -> None:
    """An additional tile that meets three corners scores its total only."""
    after = played(state_of(CHAIN_HAND, ["0002", "0055"], board=ARC), *CHAIN)
    assert (after.scores, GAME.to_move(after)) == ((6 + 5 + 6, 0), 1)


def test_additional_tiles_earn_bonuses_by_option() -> None:
    """With chain_bonus, the bonuses that they earned are chosen once both are laid."""
    state = state_of(CHAIN_HAND, ["0002", "0055"], board=ARC, chain_bonus=True)
    first = played(state, *CHAIN[:2])
    assert (first.step, first.additional, first.bonuses) == ("second", 1, 1)
    both = played(first, CHAIN[2])
    assert (GAME.to_move(both), both.step, both.additional, both.bonuses) == (0, "bonus", 2, 1)
    assert GAME.is_same_turn(both)
    after = played(both, POINTS)
    assert (after.scores, GAME.to_move(after)) == ((6 + 5 + 6 + 25, 0), 1)


def test_bonuses_of_additional_tiles_add_up() -> None:
    """Each of two additional tiles may earn a bonus; bonuses that can't be chosen any more are paid in one event."""
    state = state_of(["0015", "0005", "0033", "0133", "1333", "0013"], ["0002", "0055"], board=ARC, chain_bonus=True)
    again = played(state, *CHAIN, lay(-1, 1, "0133"))
    assert (again.step, again.additional, again.bonuses) == ("second", 1, 1)
    assert {"event": "bonus", "seat": 0, "points": 50} in happened(again, lay(-1, 2, "1333"))
    end = played(again, lay(-1, 2, "1333"))
    assert (end.scores[0], GAME.to_move(end)) == (6 + 5 + 6 + 7 + 10 + 25 + 25, 1)
