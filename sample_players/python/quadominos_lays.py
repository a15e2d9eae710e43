"""Finds the best lays of Quad-Ominos, by points and by the chances to lay the remaining tiles later.

The worth of a lay is its points, 25 more if it meets three or four corners, and a share of a point for every place
where a remaining tile would then fit. Such places matter: a player that can't lay loses 20 points for each tile drawn.
"""

from collections.abc import Iterable

from referee.games.quadominos.rounds import BONUS_POINTS
from referee.games.quadominos.tiles import (
    FITTING,
    TILE_OF,
    TOTALS,
    Cell,
    Face,
    LaidTiles,
    Tile,
    all_faces,
    count_corners,
    firsts_of_two,
    lay,
    lays,
)

PER_PLACE = 0.25
"""Estimated worth of a place where a tile of the hand fits, in points; values from 0.1 to 1 play about equally well."""
MAX_PLACES = 12
"""Most places that count; more of them do not make the next turn safer."""
OUT_POINTS = 30
"""Estimated points for going out, in addition to the tile; opponents seldom hold less."""
MAX_FIRSTS, MAX_SECONDS = 8, 12
"""Most lays that are judged closely as the first and as the second of two additional tiles."""
Found = tuple[Cell, Face]
"""A place, and the face of the tile that can be laid there."""


def tried(
    table: LaidTiles, hand: tuple[Tile, ...], cell: Cell, face: Face, *, earns: bool
) -> tuple[int, LaidTiles, tuple[Tile, ...]]:
    """Return the points of a lay, and the table and the hand after it.

    Args:
        table: the table before it.
        hand: the hand before it.
        cell: place of the tile.
        face: face of the tile.
        earns: whether meeting three or four corners earns a bonus.
    """
    tile = TILE_OF[face]
    points = TOTALS[tile] + BONUS_POINTS * (earns and count_corners(table, cell) >= 3)
    return points, lay(table, cell, face), tuple(other for other in hand if other != tile)


def outlook(table: LaidTiles, hand: tuple[Tile, ...]) -> float:
    """Return the worth of the places where the tiles of a hand would fit; for an empty hand, that of going out."""
    if not hand:
        return OUT_POINTS
    faces = all_faces(hand)
    places = sum(1 for pattern in table.around.values() if FITTING[pattern] & faces)
    return PER_PLACE * min(places, MAX_PLACES)


def promising(found: Iterable[Found], most: int) -> list[Found]:
    """Return the lays with the most points, at most `most`; equal ones are ordered by place."""
    return sorted(found, key=lambda lay: (-TOTALS[TILE_OF[lay[1]]], lay))[:most]


def best_lay(
    table: LaidTiles, hand: tuple[Tile, ...], found: Iterable[Found], *, earns: bool
) -> tuple[float, Found | None]:
    """Return the best of some lays, after its worth.

    Args:
        table: before it.
        hand: with the tile.
        found: the lays to choose from, the most promising first.
        earns: whether meeting three or four corners earns a bonus.
    """
    best: tuple[float, Found | None] = (float("-inf"), None)
    for cell, face in found:
        points, after, rest = tried(table, hand, cell, face, earns=earns)
        worth = points + outlook(after, rest)
        if worth > best[0]:
            best = worth, (cell, face)
    return best


def best_two(table: LaidTiles, hand: tuple[Tile, ...], *, earns: bool) -> tuple[float, Found | None]:
    """Return the worth of the best two additional tiles, and the lay of the first one."""
    best: tuple[float, Found | None] = (float("-inf"), None)
    for cell, face in promising(firsts_of_two(table, hand), MAX_FIRSTS):
        points, after, rest = tried(table, hand, cell, face, earns=earns)
        worth, _ = best_lay(after, rest, promising(lays(after, all_faces(rest)), MAX_SECONDS), earns=earns)
        if worth + points > best[0]:
            best = worth + points, (cell, face)
    return best
