"""The structs of Quincy: options, moves, views and positions, as they are on the wire; and the state of a game.

A square is `[row, column]`, both from 1 to 9: `[1, 1]` is the top left one, `[1, 9]` the top right one. A domino is
`[end, end]`, 0 for a blank; it has no direction, so it may come in either way, and views have the smaller end first.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from .board import Pair, Stone

End = Annotated[int, Meta(ge=0, le=9)]
"""One end of a domino; 0 is a blank."""
Number = Annotated[int, Meta(ge=1, le=9)]
"""A row or a column."""
DominoForm = tuple[End, End]
SquareForm = tuple[Number, Number]
BoardForm = Annotated[tuple[Annotated[str, Meta(pattern=r"^[.AB]{9}$(?!\n)")], ...], Meta(min_length=9, max_length=9)]
"""Nine rows from the top, each of nine characters from the left: `.` for an empty square, else a stone."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set: there are none."""


class DominoMove(Struct, frozen=True, cache_hash=True, forbid_unknown_fields=True, tag_field="action"):
    """Base of the moves."""

    domino: DominoForm
    """A domino of the own hand: `[end, end]`, either way round, from 0, a blank, to 9."""


class Add(DominoMove, frozen=True, tag="add"):
    """Play a domino and add a stone."""

    square: SquareForm
    """`[row, column]` of where the stone goes, both from 1: row 1 is the top one, column 1 the left one."""


class Remove(DominoMove, frozen=True, tag="remove"):
    """Play a domino with a blank and remove a stone of the opponents."""

    square: SquareForm
    """`[row, column]` of where the stone lies, both from 1: row 1 is the top one, column 1 the left one."""


class Discard(DominoMove, frozen=True, tag="discard"):
    """Discard an unplayable domino, draw another, and be asked again in the same turn."""


Move = Add | Remove | Discard


class PublicEvent(Struct, frozen=True):
    """One thing that everybody saw happen."""

    seat: int
    """The seat, from 0, that did it, or that it happened to."""
    action: Literal["add", "remove", "discard", "skip", "expelled"]
    """One of the moves; or `skip`: the seat could do nothing; or `expelled`: it left, its hand face down."""
    dominoes: tuple[DominoForm, ...]
    """Dominoes that went face up: one for a move; for `skip` all that the seat had, none playable; else none."""
    square: SquareForm | None
    """`[row, column]`, both from 1, of where the stone was added or removed; null if there was none."""


class StoneLine(Struct, frozen=True):
    """A line: 4 or more stones side by side, which nobody can remove any more. Two of them win."""

    stone: Stone
    """Whose line it is: `A` is the stone of seats 0 and 2, `B` of seats 1 and 3."""
    squares: list[SquareForm]
    """`[row, column]` of all its squares, from the top or left end to the other."""


class View(Struct, frozen=True, kw_only=True):
    """The view of one seat: all that it may know."""

    seat: int
    """The seat that this view is for, 0 to 3, in turn order at the start."""
    stone: Stone
    """The seat's own stones, which are its partner's too: `A` of seats 0 and 2, `B` of seats 1 and 3."""
    hand: list[DominoForm]
    """Its own dominoes, the newest last: `[end, end]` each, from 0, a blank, to 9, the smaller end first."""
    drew: list[DominoForm]
    """Dominoes that the seat drew after its last move, one or none: the end of the hand."""
    same_turn: bool
    """True if the seat to move has discarded in this turn and goes on with it."""
    order: list[int]
    """The seats still in the game in the order of their turns, the one to move first."""
    hand_sizes: list[int]
    """Number of dominoes by seat; 0 for an expelled one."""
    pile: int
    """Number of dominoes left to draw, 0 to 45."""
    board: BoardForm
    """Nine strings, the top row first, each from column 1 on: `.` for an empty square, `A` or `B` for a stone.

    The stone on `[row, column]` is `board[row - 1][column - 1]` where lists count from 0.
    """
    lines: list[StoneLine]
    """The lines on the board; their stones can't be removed."""
    face_up: list[DominoForm]
    """Every domino played or discarded, in that order. What is neither here nor in the own hand is in the other hands,
    in the pile, or lies face down since its player was expelled."""
    since: list[PublicEvent]
    """Events since this seat's last move, the oldest first; since the beginning if it has not moved yet."""


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """A position to start from; seat 0 is to move. Dominoes that are named nowhere lie face down, out of play."""

    board: BoardForm
    """Board in the form of a view's; no player has two lines yet."""
    hands: Annotated[list[list[DominoForm]], Meta(min_length=2, max_length=4)]
    """Hands by seat: 2 or 4 of them."""
    pile: list[DominoForm]
    """Dominoes left to draw, the next one first."""
    face_up: list[DominoForm] = []
    """Dominoes that were played before."""


class State(Struct, frozen=True):
    """One moment of a game. A domino is its number in board.py:DOMINOES."""

    stones: Pair
    """Stones by team."""
    unbreakable: Pair
    """The stones of lines, by team."""
    pile: tuple[int, ...]
    """The next one first."""
    hands: tuple[tuple[int, ...], ...]
    """Hands by seat, the newest domino last; empty for an eliminated seat."""
    order: tuple[int, ...]
    """Seats still in the game, the one to move first."""
    face_up: tuple[int, ...]
    """Played or discarded, in that order."""
    face_down: tuple[int, ...]
    """Out of play, seen by nobody."""
    drew: tuple[tuple[int, ...], ...]
    """Dominoes that each seat drew after its last move, by seat."""
    log: tuple[PublicEvent, ...] = ()
    """All that everybody saw, the oldest first."""
    same_turn: bool = False
    """True if the seat to move has discarded in this turn."""
    arriving: tuple[int, ...] | None = None
    """Drawn by the last play and not yet delivered; belongs to `mover`."""
    mover: int = -1
    """The seat that made the last play."""
    end: str | None = None
    """The id of the rule that ended the game."""
    winner: int | None = None
    """The team that won."""
