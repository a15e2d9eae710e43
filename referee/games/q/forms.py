"""The structs of the Q game: options, moves, views and positions, as they are on the wire; and the state of a game."""

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
    """Its own tiles, each `colour-shape`; what was handed out last is in front."""
    scores: list[int]
    """Points by seat, from 0, of eliminated seats too."""
    order: list[int]
    """The seats still in the game in the order of their turns, the one to move first."""
    tiles_left: int
    """Number of tiles that the referee still has to hand out, from 0: a hand of more tiles can't be exchanged."""
    map: tuple[tuple[int, int, TileName], ...]
    """`[row, column, tile]` of every tile on the map, in the order in which they were laid: rows grow downwards,
    columns to the right, both can be negative, and the first tile lies on row 0, column 0."""


class PositionPlayer(Struct, frozen=True, forbid_unknown_fields=True):
    """A player of a given position."""

    score: Annotated[int, Meta(ge=0)]
    hand: list[TileName]


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """A position to start from; players in turn order, the first is to move; the pile's front is its first tile."""

    map: Annotated[list[Placement], Meta(min_length=1)]
    pile: list[TileName]
    players: Annotated[list[PositionPlayer], Meta(min_length=1, max_length=4)]


class State(Struct, frozen=True):
    """One moment of a game."""

    options: Options
    board: Board
    free: Openings
    laid: tuple[tuple[int, int, str], ...]
    """The same map as views show it, in the order in which the tiles were laid."""
    pile: bytes
    """The referee's tiles, front first, a byte each: up to a thousand of them are copied in every turn."""
    hands: tuple[tuple[Tile, ...], ...]
    """Hands by seat; empty for a dropped seat."""
    scores: tuple[int, ...]
    """Points by seat."""
    order: tuple[int, ...]
    """Seats still in the game, the one to move first."""
    to_go: int
    """Number of seats that have yet to move in this round."""
    placed: bool = False
    """True if this round has seen a legal placement."""
    arriving: tuple[Tile, ...] | None = None
    """Handed out by the last play and not yet confirmed; belongs to `mover`."""
    mover: int = -1
    """The seat that made the last play."""
    finished: bool = False
    """True if the last play placed a whole hand."""
    lost: int = 0
    """Tiles that left the game with players who never confirmed them."""
    last: Mapping[str, Any] | None = None
    """The last play, plain, as everybody may know it."""

    @property
    def openings(self) -> dict[Cell, int]:
        """Free cells next to the map where any tile fits, each with the kinds that fit as bits."""
        return self.free.compute(self.board)

    def __hash__(self) -> int:
        """Return a hash; what follows from the other fields is left out."""
        return hash((self.laid, self.pile, self.hands, self.scores, self.order, self.to_go))
