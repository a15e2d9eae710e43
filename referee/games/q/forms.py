"""The structs of the Q game: options, moves, views and positions in the form of the wire, and the state of a game."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, Struct

from ..base import Coordinate
from . import tiles
from .tiles import Board, Cell, Openings, Tile

Bonus = Annotated[int, Meta(ge=0, le=1000)]
if TYPE_CHECKING:
    TileName = str
else:
    TileName = Literal[tiles.NAMES]
"""`colour-shape`, e.g. `red-8star`: one of the 36 kinds."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    q_bonus: Bonus = 6
    """Points for a Q, a run of exactly six tiles of all six colours or of all six shapes; 0 to 1000."""
    finish_bonus: Bonus = 6
    """Points for placing all tiles of the hand in one turn; 0 to 1000."""


class Placement(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One tile on the map: `[row, column, tile]`."""

    row: Coordinate
    """Rows grow downwards; row 0 is that of the first tile."""
    column: Coordinate
    """Columns grow to the right; column 0 is that of the first tile."""
    tile: TileName
    """`colour-shape`: one of the 36 kinds."""


class Pass(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="pass"):
    """Do nothing."""


class Exchange(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="exchange"):
    """Exchange the whole hand."""


class Place(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="place"):
    """Place tiles of the hand, one after the other."""

    tiles: list[Placement]
    """`[row, column, tile]` of each, in the order in which they are laid: at least one, all in one row or column."""


Move = Pass | Exchange | Place


class View(Struct, frozen=True, kw_only=True):
    """The view of one seat: all that it may know."""

    seat: int
    """The seat that this view is for, 0 to 3, in turn order at the start."""
    hand: list[TileName]
    """The seat's own tiles, each `colour-shape`, beginning with those that it drew last."""
    scores: list[int]
    """Points of each seat, including eliminated seats."""
    order: list[int]
    """Seats that are still in the game in the order of their turns, beginning with the seat to move."""
    tiles_left: int
    """Number of tiles that the referee can still hand out. A larger hand can't be exchanged."""
    map: tuple[tuple[int, int, TileName], ...]
    """`[row, column, tile]` of every tile on the map, in the order in which they were laid.

    Rows grow downwards, and columns grow to the right. Both can be negative. The first tile lies on row 0, column 0.
    """


class PositionPlayer(Struct, frozen=True, forbid_unknown_fields=True):
    """A player of a given position."""

    score: Annotated[int, Meta(ge=0)]
    hand: list[TileName]


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """A position to start from. The first player is to move, and the first tile of the pile is drawn first."""

    map: Annotated[list[Placement], Meta(min_length=1)]
    pile: list[TileName]
    players: Annotated[list[PositionPlayer], Meta(min_length=1, max_length=4)]


class State(Struct, frozen=True):
    """One moment of a game."""

    options: Options
    board: Board
    free: Openings
    laid: tuple[tuple[int, int, str], ...]
    """The map in the form of views, in the order in which the tiles were laid."""
    pile: bytes
    """The referee's tiles in the order of drawing. Bytes are fast to copy: each turn copies up to a thousand tiles."""
    hands: tuple[tuple[Tile, ...], ...]
    """Hands by seat; empty for a dropped seat."""
    scores: tuple[int, ...]
    """Points by seat."""
    order: tuple[int, ...]
    """Seats that are still in the game, beginning with the seat to move."""
    to_go: int
    """Number of seats that have not moved in this round."""
    placed: bool = False
    """True if there was a legal placement in this round."""
    arriving: tuple[Tile, ...] | None = None
    """Tiles that `mover` drew in the last play and has not confirmed; None if the play drew none."""
    mover: int = -1
    """The seat that made the last play."""
    finished: bool = False
    """True if the last play placed a whole hand."""
    lost: int = 0
    """Number of tiles that left the game because their players were dropped before they confirmed them."""
    last: Mapping[str, Any] | None = None
    """The last play as public news, in plain values."""

    @property
    def openings(self) -> dict[Cell, int]:
        """Free cells next to the map where at least one kind of tile fits -> the kinds that fit, as bits."""
        return self.free.compute(self.board)

    def __hash__(self) -> int:
        """Return a hash of the fields from which the others follow."""
        return hash((self.laid, self.pile, self.hands, self.scores, self.order, self.to_go))
