"""Nim for two: each move takes some objects from one of the heaps, and the player that takes the last object wins."""

from collections.abc import Collection
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from referee.games.base import BadSetup, Game, IllegalMove, News, Outcome, Shuffle, Step

from .drawing import draw_svg
from .rules import RULES

Count = Annotated[int, Meta(ge=0, le=20)]


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options that an organiser may set."""

    heaps: Annotated[int, Meta(ge=1, le=9)] = 3
    """How many heaps there are."""
    largest: Annotated[int, Meta(ge=1, le=20)] = 7
    """How many objects a heap may have at the start."""


class Move(Struct, frozen=True, forbid_unknown_fields=True):
    """Take objects from a heap."""

    heap: int
    """The heap's number, from 0."""
    take: int
    """How many objects to take, at least 1."""


class View(Struct, frozen=True, kw_only=True):
    """What a seat may know: in Nim, everything."""

    seat: int
    """The seat that this view is for, 0 or 1."""
    to_move: int
    """The seat whose turn it is."""
    heaps: list[int]
    """How many objects each heap has."""


class State(Struct, frozen=True):
    """One moment of a game. A move makes a new state and leaves the old one as it was."""

    heaps: tuple[int, ...]
    to_move: int = 0
    seats: tuple[int, ...] = (0, 1)
    """The seats that are still in the game."""
    last: Move | None = None
    """The move that led here."""


class NimGame(Game[State, View, Move]):
    """The rules of Nim."""

    name = "nim"
    title = "Nim"
    seats = range(2, 3)
    options_type = Options
    view_type = View
    move_type = Move
    position_type = tuple[Count, ...]
    rules = RULES

    def new(self, options: Options, seats: int, shuffle: Shuffle) -> State:
        """Make heaps of random sizes; the shuffle is the only source of chance."""
        sizes = [size for size in range(1, options.largest + 1) for _ in range(options.heaps)]
        return State(tuple(shuffle(sizes)[: options.heaps]))

    def restore(self, options: Options, position: Any) -> State:
        """Return the state of a position: a list with the size of each heap."""
        heaps: tuple[int, ...] = self.parse_position(position)
        if not any(heaps):
            raise BadSetup("not a position of nim: all heaps are empty")
        return State(heaps)

    def imagine(self, options: Options, view: View, shuffle: Shuffle) -> State:
        """Return the state that the view shows: nothing is hidden in Nim."""
        return State(tuple(view.heaps), view.to_move)

    def seat_count(self, state: State) -> int:
        """Return 2: Nim has two seats."""
        return 2

    def to_move(self, state: State) -> int:
        """Return the seat whose turn it is."""
        return state.to_move

    def view(self, state: State, seat: int) -> View:
        """Return the heaps."""
        return View(seat=seat, to_move=state.to_move, heaps=list(state.heaps))

    def play(self, state: State, move: Move) -> State:
        """Take objects from a heap."""
        if move.heap not in range(len(state.heaps)):
            raise IllegalMove("nim.take.heap", f"there is no heap {move.heap}; there are {len(state.heaps)}, from 0")
        if not 1 <= move.take <= state.heaps[move.heap]:
            raise IllegalMove("nim.take.some", f"{move.take} of {state.heaps[move.heap]} on heap {move.heap}")
        heaps = list(state.heaps)
        heaps[move.heap] -= move.take
        return replace(state, heaps=tuple(heaps), to_move=1 - state.to_move, last=move)

    def news(self, state: State) -> News:
        """Return the move as public news; nothing is drawn."""
        assert state.last is not None
        return News({"heap": state.last.heap, "take": state.last.take}, None)

    def deliver(self, state: State) -> State:
        """Return the state as it is: nothing is drawn."""
        return state

    def drop(self, state: State, seat: int) -> State:
        """Take a seat out of the game."""
        return replace(state, seats=tuple(other for other in state.seats if other != seat), to_move=1 - seat)

    def outcome(self, state: State) -> Outcome | None:
        """Return the outcome: the seat that took the last object wins, or the seat that is left."""
        if len(state.seats) < 2:
            ranking = (state.seats,) if state.seats else ()
            return Outcome(ranking, self._scores(*state.seats), state.seats, "nim.end.alone")
        if any(state.heaps):
            return None
        winner = 1 - state.to_move
        return Outcome(((winner,), (state.to_move,)), self._scores(winner), state.seats, "nim.end.last")

    def _scores(self, *winners: int) -> tuple[int, ...]:
        """Return the scores: one point for the winner."""
        return tuple(int(seat in winners) for seat in range(2))

    def legal_moves(self, state: State) -> list[Move]:
        """Return all legal moves."""
        return [Move(heap, take) for heap, size in enumerate(state.heaps) for take in range(1, size + 1)]

    def check_invariants(self, state: State) -> None:
        """Check that heaps and seats are possible."""
        assert all(size >= 0 for size in state.heaps)
        assert set(state.seats) <= {0, 1}

    def draw_text(self, state: State, eyes: Collection[int] | None = None) -> str:
        """Return a line for each heap."""
        return "\n".join(f"heap {number}  {'o ' * size}".rstrip() for number, size in enumerate(state.heaps))

    def draw_svg(
        self, state: State, eyes: Collection[int] | None = None, chosen: tuple[Step, ...] | None = None
    ) -> str:
        """Return the heaps as rows of dots."""
        return draw_svg(state.heaps)
