"""Greedy for Quad-Ominos: the move that leaves it best off after the turn, by points and by what it could lay next.

A move's worth is what it scores, 25 points if it meets three or four corners, and a share of a point for every place
where a tile that it keeps would fit then: who can't lay anything pays 20 points for each tile drawn. Additional tiles
are taken if two of them score more than the 25 points, or if they are the last ones of the hand.
"""

from collections.abc import Callable, Iterable
from typing import Any

from referee.games.base import Game
from referee.games.quadominos.forms import Done, Lay, Move, Points
from referee.games.quadominos.rounds import BONUS_POINTS, MIDDLE, State, opening_quads
from referee.games.quadominos.tiles import (
    FACE_BY_NAME,
    FACES,
    FITTING,
    TILE_OF,
    TILES,
    TOTALS,
    Cell,
    Face,
    LaidTiles,
    Tile,
    faces_of,
    firsts_of_two,
    laid,
    lays,
    met,
)

from .imagined import picking

PER_PLACE = 0.25
"""Points that a place for a tile of the hand is taken to be worth; 0.1 to 1 play about equally well."""
MAX_PLACES = 12
"""More places than these make no turn safer."""
OUT_POINTS = 30
"""What going out is taken to be worth, besides the tile: an opponent seldom holds less."""
MAX_LAYS = 40
"""Lays, of those that score most, that are looked at closely; with those of pairs, about 10 ms on a slow machine."""
MAX_FIRSTS, MAX_SECONDS = 8, 12
"""The same of the first and the second of two additional tiles."""
Found = tuple[Cell, Face]
"""Where a tile can be laid, and how."""


def without(hand: tuple[Tile, ...], tile: Tile) -> tuple[Tile, ...]:
    """Return a hand without a tile."""
    return tuple(other for other in hand if other != tile)


def outlook(table: LaidTiles, hand: tuple[Tile, ...]) -> float:
    """Return what the places where the tiles of a hand would fit are worth; going out is worth most."""
    if not hand:
        return OUT_POINTS
    faces = faces_of(hand)
    places = sum(1 for pattern in table.around.values() if FITTING[pattern] & faces)
    return PER_PLACE * min(places, MAX_PLACES)


def promising(found: Iterable[Found], most: int) -> list[Found]:
    """Return the lays that score most, at most so many; equal ones in the order of their places."""
    return sorted(found, key=lambda lay: (-TOTALS[TILE_OF[lay[1]]], lay))[:most]


def best_lay(
    table: LaidTiles, hand: tuple[Tile, ...], found: Iterable[Found], *, earns: bool
) -> tuple[float, Found | None]:
    """Return the worth of the best of some lays, and that lay.

    Args:
        table: before it.
        hand: with the tile.
        found: the lays to choose from, the most promising first.
        earns: whether meeting three or four corners earns a bonus.
    """
    best: tuple[float, Found | None] = (float("-inf"), None)
    for cell, face in found:
        tile = TILE_OF[face]
        worth = TOTALS[tile] + outlook(laid(table, cell, face), without(hand, tile))
        if earns and met(table, cell) >= 3:
            worth += BONUS_POINTS
        if worth > best[0]:
            best = worth, (cell, face)
    return best


def best_two(table: LaidTiles, hand: tuple[Tile, ...], *, earns: bool) -> tuple[float, Found | None]:
    """Return the worth of the best two additional tiles, and the first of them."""
    best: tuple[float, Found | None] = (float("-inf"), None)
    for cell, face in promising(firsts_of_two(table, hand), MAX_FIRSTS):
        tile = TILE_OF[face]
        after, rest = laid(table, cell, face), without(hand, tile)
        worth, _ = best_lay(after, rest, promising(lays(after, faces_of(rest)), MAX_SECONDS), earns=earns)
        worth += TOTALS[tile] + (BONUS_POINTS if earns and met(table, cell) >= 3 else 0)
        if worth > best[0]:
            best = worth, (cell, face)
    return best


def _picked(state: State) -> Move:
    table, hand = state.table, state.hands[state.order[0]]
    chain_bonus = state.options.chain_bonus
    if state.step == "open":
        return _lay(MIDDLE, FACE_BY_NAME[TILES[opening_quads(hand)[0]]])
    if state.step == "bonus":
        worth, first = best_two(table, hand, earns=chain_bonus)
        return Points() if first is None or worth <= BONUS_POINTS + outlook(table, hand) else _lay(*first)
    earns = chain_bonus or state.step == "lay"
    _, best = best_lay(table, hand, promising(lays(table, faces_of(hand)), MAX_LAYS), earns=earns)
    return _lay(*best) if best else Done()


def _lay(cell: Cell, face: Face) -> Lay:
    return Lay(*cell, FACES[face])


def make_greedy(game: Game[Any, Any, Any], options: Any, _seed: bytes) -> Callable[[Any], Any]:
    """Make the greedy player for one match."""
    return picking(game, options, _picked)
