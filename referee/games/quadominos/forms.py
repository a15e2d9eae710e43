"""The structs of Quad-Ominos on the wire: moves, views and positions.

A tile is written as its four numbers, clockwise from its top left corner, wherever it stands.
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
4 bottom left. In a hand a tile stands as it is printed, its numbers ascending. A quarter turn clockwise takes the last
digit to the front."""


class Lay(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="lay"):
    """Lay one tile."""

    row: Coordinate
    """Rows grow downwards; row 0 is that of the round's first tile."""
    column: Coordinate
    """Columns grow to the right; column 0 is that of the round's first tile."""
    tile: Digits
    """A tile of the hand as it is to lie, in one of its four rotations: its numbers clockwise from the top left corner.
    A quarter turn clockwise takes the last digit to the front."""


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
    """Its own tiles as they are printed, their numbers from 0 to 5 ascending; what was drawn last at the end."""
    step: Task
    """Task of the seat to move. `open`: the first tile of the round, on row 0 and column 0: its highest quad or, if it
    holds that, too, 0000. `lay`: a tile. `bonus`: `points`, or the first of two additional tiles, after which
    a second can be laid. `second`: the second additional tile. `extra`: an additional tile after an opening 0000, or
    `done`."""
    additional: int
    """Number of additional tiles that it may still lay in this turn, 0 to 2."""
    bonuses: int
    """Number of bonuses that it still has to choose, from 0, the present one included; more than 1 only with
    chain_bonus."""
    board: tuple[tuple[int, int, Digits], ...]
    """`[row, column, tile]` of every tile on the table as it lies, in the order in which they were laid: rows grow
    downwards, columns to the right, both can be negative, and the first of a round lies on row 0, column 0."""
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
    """The tiles that the referee drew for this seat since its last move in this round, as they are printed: the last
    ones of its hand."""
    drew: list[int]
    """Number of tiles by seat that were drawn for it since its last move in this round."""
    skipped: list[int]
    """Number of turns by seat that were skipped since its last move in this round, for want of a tile that fits."""
    lost: list[int]
    """Points by seat that these draws and skipped turns cost it, 20 each; not negative."""
    passes: int
    """Number of turns in a row that were skipped just now; as many as there are seats in the game end the round."""


class PositionPlayer(Struct, frozen=True, forbid_unknown_fields=True):
    """A player of a given position."""

    score: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
    hand: Annotated[list[Digits], Meta(min_length=1)]
    """Tiles as they are printed."""


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """A position in a first round; the first player is to move. Later rounds are always dealt the same."""

    board: list[tuple[Coordinate, Coordinate, Digits]]
    """`[row, column, tile]` in an order in which they could be laid; if it is empty, the round has yet to be opened."""
    well: list[Digits]
    """Front first, as they are printed."""
    players: Annotated[list[PositionPlayer], Meta(min_length=2, max_length=12)]


def read_table(board: Sequence[tuple[int, int, str]]) -> LaidTiles:
    """Return the table of a view or a position, its tiles laid one after the other.

    Raises:
        BadSetup: one of them does not exist, or could not be laid.
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
        BadSetup: one of them does not exist, or is not written as it is printed.
    """
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise BadSetup(f"not a position of quadominos: no tile is printed {unknown[0]}, its numbers ascending")
    return tuple(BY_NAME[name] for name in names)
