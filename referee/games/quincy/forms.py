"""The structs of Quincy: options, moves, views and positions, as they are on the wire; and the state of a game.

A square is `[row, column]`, both from 1 to 9: `[1, 1]` is the top left one, `[1, 9]` the top right one. A domino is
`[end, end]`, 0 for a blank. A move may give the ends in either order; a view has the smaller end first.
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
    """A domino of the player's own hand: `[end, end]` in either order. An end is 0 to 9; 0 is a blank."""


class Add(DominoMove, frozen=True, tag="add"):
    """Play a domino and add a stone."""

    square: SquareForm
    """`[row, column]` of the square for the stone, both from 1: row 1 is the top one, column 1 the left one."""


class Remove(DominoMove, frozen=True, tag="remove"):
    """Play a domino with a blank and remove a stone of the opponents."""

    square: SquareForm
    """`[row, column]` of the stone's square, both from 1: row 1 is the top one, column 1 the left one."""


class Discard(DominoMove, frozen=True, tag="discard"):
    """Discard an unplayable domino, draw another, and be asked again in the same turn."""


Move = Add | Remove | Discard


class PublicEvent(Struct, frozen=True):
    """One thing that everybody saw happen."""

    seat: int
    """The seat, from 0, that made the move, was skipped or was expelled."""
    action: Literal["add", "remove", "discard", "skip", "expelled"]
    """One of the moves; or `skip`: the seat could do nothing; or `expelled`: the seat left, its hand face down."""
    dominoes: tuple[DominoForm, ...]
    """Dominoes that were laid face up: one for a move; for `skip` the whole hand, none of it playable; for `expelled`
    none."""
    square: SquareForm | None
    """`[row, column]`, both from 1, of the square where a stone was added or removed; null if no stone was."""


class StoneLine(Struct, frozen=True):
    """A line: 4 or more stones side by side, which nobody can remove any more. Two lines win."""

    stone: Stone
    """The stones of the line: `A` of seats 0 and 2, `B` of seats 1 and 3."""
    squares: list[SquareForm]
    """`[row, column]` of all its squares, from the top or left end to the other end."""


class View(Struct, frozen=True, kw_only=True):
    """The view of one seat: all that it may know."""

    seat: int
    """The seat that this view is for, 0 to 3, in turn order at the start."""
    stone: Stone
    """The stones of the seat and its partner: `A` for seats 0 and 2, `B` for seats 1 and 3."""
    hand: list[DominoForm]
    """The seat's own dominoes, the newest last: `[end, end]` each, the smaller end first. An end is 0 to 9; 0 is a
    blank."""
    drew: list[DominoForm]
    """Dominoes that the seat drew after its last move, one or none. It is the last one of the hand, too."""
    same_turn: bool
    """True if the seat to move has discarded in this turn and continues the turn."""
    order: list[int]
    """The seats still in the game in the order of their turns, the one to move first."""
    hand_sizes: list[int]
    """Number of dominoes by seat; 0 for an expelled seat."""
    pile: int
    """Number of dominoes left to draw, 0 to 45."""
    board: BoardForm
    """Nine strings, the top row first, each from column 1 on: `.` for an empty square, `A` or `B` for a stone.

    In a language where lists count from 0, the stone on `[row, column]` is `board[row - 1][column - 1]`.
    """
    lines: list[StoneLine]
    """The lines on the board; their stones can't be removed."""
    face_up: list[DominoForm]
    """Every domino that was played or discarded, the oldest first. A domino that is neither here nor in the seat's own
    hand is in another hand or in the pile, or lies face down, out of play."""
    since: list[PublicEvent]
    """Events since this seat's last move, the oldest first; all events if this seat has not moved yet."""


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """A position to start from; seat 0 is to move. Dominoes that are named nowhere lie face down, out of play."""

    board: BoardForm
    """The board, written as in a view; no player may have two lines yet."""
    hands: Annotated[list[list[DominoForm]], Meta(min_length=2, max_length=4)]
    """Hands by seat: 2 or 4 hands."""
    pile: list[DominoForm]
    """Dominoes left to draw, the next one first."""
    face_up: list[DominoForm] = []
    """Dominoes that were played before."""


class State(Struct, frozen=True):
    """One moment of a game. A domino is written as its index in board.py:DOMINOES."""

    stones: Pair
    """Stones by team."""
    unbreakable: Pair
    """The stones of lines, by team."""
    pile: tuple[int, ...]
    """Dominoes left to draw, the next one first."""
    hands: tuple[tuple[int, ...], ...]
    """Hands by seat, the newest domino last; empty for an eliminated seat."""
    order: tuple[int, ...]
    """Seats still in the game, the one to move first."""
    face_up: tuple[int, ...]
    """Dominoes that were played or discarded, the oldest first."""
    face_down: tuple[int, ...]
    """Dominoes out of play, which nobody sees."""
    drew: tuple[tuple[int, ...], ...]
    """By seat, the dominoes that it drew after its last move."""
    log: tuple[PublicEvent, ...] = ()
    """All events that everybody saw, the oldest first."""
    same_turn: bool = False
    """True if the seat to move has discarded in this turn."""
    arriving: tuple[int, ...] | None = None
    """Dominoes that `mover` drew after the last play and does not hold yet; None if there is nothing to deliver."""
    mover: int = -1
    """The seat that made the last play."""
    end: str | None = None
    """The id of the rule that ended the game; None while it goes on."""
    winner: int | None = None
    """The team that won, 0 or 1; None if none has won."""
