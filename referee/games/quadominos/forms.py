"""The structs of Quad-Ominos on the wire: moves, views and positions.

In all of them, a tile is written as its four numbers, clockwise from its top left corner.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from ..base import BadSetup, Coordinate
from . import tiles
from .rounds import Task
from .tiles import BY_NAME, EMPTY, FACE_BY_NAME, LaidTiles, Tile

Digits = Annotated[str, Meta(pattern="^[0-5]*$", min_length=4, max_length=4)]
"""The four numbers of a tile, clockwise from its top left corner, e.g. `0224`: 0 top left, 2 top right, 2 bottom right,
4 bottom left. A tile in a hand is written as it is printed, with ascending numbers. A quarter turn clockwise moves the
last digit to the front."""


class Lay(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="lay"):
    """Lay one tile."""

    row: Coordinate
    """Row of the tile. Row numbers grow downwards; the round's first tile lies in row 0."""
    column: Coordinate
    """Column of the tile. Column numbers grow to the right; the round's first tile lies in column 0."""
    tile: Digits
    """A tile of the hand, in the rotation in which it is laid: its numbers clockwise from the top left corner. A
    quarter turn clockwise moves the last digit to the front."""


class Points(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="points"):
    """Take 25 points as a bonus, and no additional tiles."""


class Done(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="done"):
    """Lay no more of the additional tiles of an opening quad-zero."""


Move = Lay | Points | Done


class View(Struct, frozen=True, kw_only=True):
    """The view of one seat: all that it may know."""

    seat: int
    """The seat that this view is for, 0 to 11, in turn order at the start."""
    hand: list[Digits]
    """The seat's own tiles as they are printed, with ascending numbers from 0 to 5; the newest tile is last."""
    step: Task
    """Task of the seat to move. `open`: lay the first tile of the round on row 0, column 0: the highest quad of the
    hand, or 0000 if it is in the hand, too. `lay`: lay a tile. `bonus`: choose `points`, or lay the first of two
    additional tiles, such that a second can follow. `second`: lay the second additional tile. `extra`: lay an
    additional tile after an opening 0000, or choose `done`."""
    additional: int
    """Number of additional tiles that the seat to move may still lay in this turn, 0 to 2."""
    bonuses: int
    """Number of bonuses that the seat to move still has to choose, from 0, with the present one; more than 1 only with
    chain_bonus."""
    board: tuple[tuple[int, int, Digits], ...]
    """`[row, column, tile]` of every tile on the table as it lies, the oldest first. Row numbers grow downwards, column
    numbers to the right; both can be negative. The first tile of a round lies on row 0, column 0."""
    order: list[int]
    """The seats still in the game in the order of their turns, the one to move first."""
    scores: list[int]
    """Points by seat, which can be negative; 0 for an eliminated seat."""
    hand_sizes: list[int]
    """Number of tiles by seat; 0 for an eliminated seat."""
    well: int
    """Number of tiles left to draw, from 0."""
    round: int
    """Number of the round, 1 for the first."""
    drawn: list[Digits]
    """The tiles that the referee drew for this seat since its last move in this round, as they are printed. They are
    the last tiles of its hand."""
    drew: list[int]
    """By seat, the number of tiles that the referee drew for it since its last move in this round."""
    skipped: list[int]
    """By seat, the number of its turns that were skipped since its last move in this round: it had no tile that fits.
    """
    lost: list[int]
    """By seat, the points that it lost by these draws and skipped turns, 20 each; not negative."""
    passes: int
    """Number of turns in a row that were skipped just now. The round ends when every seat in the game was skipped."""


class PositionPlayer(Struct, frozen=True, forbid_unknown_fields=True):
    """A player of a given position."""

    score: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
    hand: Annotated[list[Digits], Meta(min_length=1)]
    """Tiles, written as they are printed."""


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """A position in a first round; the first player is to move. The deals of later rounds are fixed."""

    board: list[tuple[Coordinate, Coordinate, Digits]]
    """`[row, column, tile]` of the tiles, in an order in which they could be laid. If it is empty, the first move opens
    the round."""
    well: list[Digits]
    """Tiles left to draw, the next one first, written as they are printed."""
    players: Annotated[list[PositionPlayer], Meta(min_length=2, max_length=12)]


def read_table(board: Sequence[tuple[int, int, str]]) -> LaidTiles:
    """Return the table of a view or a position, its tiles laid one after the other.

    Raises:
        BadSetup: a tile does not exist, or could not be laid.
    """
    table = EMPTY
    for row, column, name in board:
        cell, face = (row, column), FACE_BY_NAME.get(name)
        if face is None:
            raise BadSetup(f"not a position of quadominos: no tile has the numbers {name} in this order")
        if table.board and (cell in table.board or not tiles.touches(table, cell) or not tiles.fits(table, cell, face)):
            raise BadSetup(f"not a position of quadominos: {name} can't be laid on row {row}, column {column}")
        table = tiles.lay(table, cell, face)
    return table


def read_tiles(names: Sequence[str]) -> tuple[Tile, ...]:
    """Return the tiles of a hand or a well.

    Raises:
        BadSetup: a tile does not exist, or is not written as it is printed.
    """
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise BadSetup(f"not a position of quadominos: no tile is printed {unknown[0]}, its numbers ascending")
    return tuple(BY_NAME[name] for name in names)
