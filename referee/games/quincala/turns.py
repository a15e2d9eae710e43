"""Turns of Quincala Mixing: placing, legs, whose turn is next, and the end.

Source: Short Rules for Quincala Game 1 - Quincala Mixing (02/06/2010). Where the source is silent, we have decided:

* A seat may reach the aim with several mixed towers.
* A seat that can move has to move.
* A seat that can do nothing is skipped. Its turn counts, also for immunity.
* A piece that is knocked off loses its immunity.
* A move ends with its 100th leg, or when no further leg is possible.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ..base import IllegalMove
from . import board as boards
from .board import OWN, Board, Marks, PreparedMap

MAX_LEGS = 100
"""Largest number of legs in one move. The source has no limit, but two towers can exchange a piece forever. The number
is a guess, far above what any player needs."""

# The phase is stored in the state and in each view. It can't be derived from the last play, because a state that a
# player imagines from its view has no last play.
Phase = Literal["place", "move", "continue", "over"]
Hands = tuple[tuple[int, ...], tuple[int, ...]]
"""Pieces by seat, in the order of their numbers."""


class GameEnding(NamedTuple):
    """The id of the rule that ended the game, and the winner; None for a draw."""

    rule: str
    winner: int | None


class State(Struct, frozen=True, kw_only=True):
    """One moment of a game."""

    field: PreparedMap
    sizes: int
    max_turns: int
    board: Board
    hands: Hands = ((), ())
    seat: int = 0
    """Seat whose turn it is."""
    phase: Phase = "move"
    """Task of that seat: to place a piece, to begin its move, or to continue or stop it; `over` after the end."""
    steps: int = 0
    """Number of plays in this turn so far."""
    turns: int = 0
    """Number of turns that are over; skipped turns count, too."""
    skips: int = 0
    """Number of turns in a row that were skipped just before this one."""
    immune: Marks = {}
    """Pieces that may not be knocked off in this turn; no empty sets."""
    fresh: Marks = {}
    """Pieces that have knocked off the other colour in this turn, by the dot where they stand now; no empty sets."""
    path: tuple[int, ...] = ()
    """The dot where the move's first leg began, and the dots where its legs ended. It is the last turn's path until
    this turn has a play."""
    placed: tuple[int, ...] = ()
    """Dots on which pieces were placed, in the same turn as `path`."""
    order: tuple[int, ...] = (0, 1)
    """Seats still in the game."""
    last: Mapping[str, Any] | None = None
    """The last play as plain data; everything in it is public."""
    ending: GameEnding | None = None

    def __hash__(self) -> int:
        """Return a hash; fields in which few states differ are left out."""
        return hash((self.board, self.hands, self.seat, self.phase, self.steps, self.turns, self.path, self.ending))


def place(state: State, piece: int, row: int, column: int) -> State:
    """Return the state after one piece was placed.

    Raises:
        IllegalMove: the player can't place a piece at this time, or may not use this piece or this dot.
    """
    where = f"row {row}, column {column}"
    hand, field = state.hands[state.seat], state.field
    if state.phase == "continue":
        raise IllegalMove("quincala.turn.order", "the move has begun")
    if piece not in hand:
        raise IllegalMove("quincala.place.owned", f"{boards.NAMES[piece]} is not in hand")
    dot = field.number(row, column)
    if dot not in field.areas[state.seat]:
        raise IllegalMove("quincala.place.area", f"{where} is not in {boards.COLOURS[state.seat]}'s placing areas")
    if state.board[dot]:
        raise IllegalMove("quincala.place.empty", f"on {where} stand {_list_names(state.board[dot])}")
    at = hand.index(piece)
    after = _end_step(
        state,
        {"action": "place", "piece": boards.NAMES[piece], "dot": (row, column)},
        board=_with(state.board, {dot: 1 << piece}),
        hands=_with(state.hands, {state.seat: hand[:at] + hand[at + 1 :]}),
        path=(),
        placed=(*state.placed, dot) if state.steps else (dot,),
    )
    if can_place(after):
        return after
    return replace(after, phase="move") if can_move(after) else _end_turn(after)


def leg(state: State, start: tuple[int, int], end: tuple[int, int]) -> State:
    """Return the state after one leg, from (row, column) to (row, column).

    Raises:
        IllegalMove: the player can't make a leg at this time, or the leg breaks a rule.
    """
    origin, moving = _lift(state, start)
    target = _line_end(state, start, end, moving)
    tower = state.board[target]
    gone = boards.find_knocked(tower, moving)
    guarded = gone & state.immune.get(target, 0)
    if guarded:
        where = f"row {end[0]}, column {end[1]}"
        raise IllegalMove("quincala.knock.immune", f"{_list_names(guarded)} on {where} may not be knocked in this turn")
    other = 1 - state.seat
    last = {"action": "leg", "start": start, "end": end, "moved": boards.names(moving), "knocked": boards.names(gone)}
    after = _end_step(
        state,
        last,
        board=_with(state.board, {origin: state.board[origin] & ~moving, target: tower & ~gone | moving}),
        hands=_with(state.hands, {other: tuple(sorted((*state.hands[other], *boards.pieces(gone))))}),
        fresh=_mark_fresh(state, origin, target, moving, gone),
        path=(*state.path, target) if state.phase == "continue" else (origin, target),
        placed=state.placed if state.steps else (),
        phase="continue",
    )
    return after if next_legs_exist(after) else _end_turn(after)


def stop(state: State) -> State:
    """Return the state after the player stops a move that could have a further leg.

    Raises:
        IllegalMove: no leg has been made in this turn.
    """
    if state.phase != "continue":
        raise IllegalMove("quincala.leg.stop", "no leg has been made in this turn")
    return _end_turn(_end_step(state, {"action": "stop"}))


def begin(state: State) -> State:
    """Return the state with the task of the seat to move; seats that can do nothing are skipped."""
    while state.turns < state.max_turns:
        if can_place(state):
            return replace(state, phase="place")
        if can_move(state):
            return replace(state, phase="move")
        skipped = [*(state.last or {}).get("skipped", ()), state.seat]
        state = _pass_turn(replace(state, skips=state.skips + 1, last={**(state.last or {}), "skipped": skipped}))
        if state.skips == 2:
            return _end_game(state, "quincala.end.skips", None)
    return _end_game(state, "quincala.end.cap", None)


def can_place(state: State) -> bool:
    """Return whether the seat to move has a piece in hand and an empty dot for it."""
    board = state.board
    return bool(state.hands[state.seat]) and not all(board[dot] for dot in state.field.areas[state.seat])


def can_move(state: State) -> bool:
    """Return whether the seat to move can make a first leg."""
    return any(True for _ in boards.first_legs(state.field, state.board, state.immune, state.seat))


def next_legs_exist(state: State) -> bool:
    """Return whether the present move may have one more leg."""
    if len(state.path) > MAX_LEGS:
        return False
    return any(True for _ in further_ends(state))


def further_ends(state: State) -> Iterator[int]:
    """Return an iterator over the dots where the next leg of the move may end."""
    here = state.path[-1]
    moving = boards.lifted_further(state.board[here], state.seat)
    return boards.ends(state.field, state.board, state.immune, here, moving)


def _lift(state: State, start: tuple[int, int]) -> tuple[int, int]:
    """Return the dot where a leg starts, and the pieces that it lifts.

    Raises:
        IllegalMove: a piece has to be placed first, or the leg can't start there.
    """
    if state.phase == "place":
        count = len(state.hands[state.seat])
        raise IllegalMove("quincala.turn.order", f"{count} in hand, and there is an empty dot to place on")
    origin = state.field.number(*start)
    where = f"row {start[0]}, column {start[1]}"
    if state.phase == "continue":
        if origin != state.path[-1]:
            row, column = state.field.places[state.path[-1]]
            detail = f"starts on {where}, the last leg ended on row {row}, column {column}"
            raise IllegalMove("quincala.leg.adjoining", detail)
        return origin, boards.lifted_further(state.board[origin], state.seat)
    tower = state.board[origin] if origin >= 0 else 0
    moving = boards.lifted_first(tower, state.seat)
    if not moving:
        raise IllegalMove("quincala.leg.own", f"on {where} stand {_list_names(tower)}")
    return origin, moving


def _line_end(state: State, start: tuple[int, int], end: tuple[int, int], moving: int) -> int:
    """Return the dot where a leg ends.

    Raises:
        IllegalMove: the leg is not straight, is too long, leaves the playing area, or crosses a piece.
    """
    down, right = end[0] - start[0], end[1] - start[1]
    steps = max(abs(down), abs(right))
    if down and right and abs(down) != abs(right):
        raise IllegalMove("quincala.leg.straight", f"{abs(down)} rows and {abs(right)} columns are no straight line")
    if not 1 <= steps <= moving.bit_count():
        raise IllegalMove("quincala.leg.length", f"{steps} steps, {moving.bit_count()} pieces move")
    dot = -1
    for step in range(1, steps + 1):
        row, column = start[0] + down // steps * step, start[1] + right // steps * step
        dot = state.field.number(row, column)
        if dot < 0:
            raise IllegalMove("quincala.leg.area", f"row {row}, column {column} is not in the playing area")
        if state.board[dot] and step < steps:
            crossed = _list_names(state.board[dot])
            raise IllegalMove("quincala.leg.jump", f"on row {row}, column {column} stand {crossed}")
    return dot


def _mark_fresh(state: State, origin: int, target: int, moving: int, gone: int) -> Marks:
    """Return the fresh pieces after a leg: a piece stays fresh wherever it moves, until it is knocked off."""
    winners = boards.same_sizes(gone & OWN[1 - state.seat])
    if not (winners or state.fresh):
        return state.fresh
    carried = state.fresh.get(origin, 0) & moving
    arrived = state.fresh.get(target, 0) & ~gone | carried | winners
    changed = {**state.fresh, origin: state.fresh.get(origin, 0) & ~moving, target: arrived}
    return {dot: marked for dot, marked in changed.items() if marked}


def _end_step(state: State, last: dict[str, Any], **changes: Any) -> State:
    """Return the state after a play of the seat to move, before its turn is over."""
    last["seat"] = state.seat
    last["skipped"] = ()
    return replace(state, last=last, steps=state.steps + 1, skips=0, **changes)


def _end_turn(state: State) -> State:
    """Check the aim, and begin the next turn if nobody has won."""
    counts = boards.count_mixed(state.board)
    reached = [seat for seat, count in enumerate(counts) if count == state.sizes]
    after = _pass_turn(state)
    # One leg can bring both sides to the aim, because a mixed tower has pieces of both. Then the other player wins.
    if len(reached) == 2:
        return _end_game(after, "quincala.end.both", after.seat)
    return _end_game(after, "quincala.end.aim", reached[0]) if reached else begin(after)


def _pass_turn(state: State) -> State:
    """Pass the turn to the other seat."""
    return replace(state, seat=1 - state.seat, turns=state.turns + 1, steps=0, immune=state.fresh, fresh={})


def _end_game(state: State, rule: str, winner: int | None) -> State:
    return replace(state, phase="over", ending=GameEnding(rule, winner))


def _with(values: tuple[Any, ...], changes: dict[int, Any]) -> tuple[Any, ...]:
    changed = list(values)
    for index, value in changes.items():
        changed[index] = value
    return tuple(changed)


def _list_names(tower: int) -> str:
    return ", ".join(boards.names(tower)) or "no pieces"
