"""Finds the possible ends of a turn of Quincala Mixing quickly, by playing legs on boards alone.

It ignores what does not matter within one turn: which pieces become immune in the next one, and the news of legs.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from referee.games.quincala.board import (
    MAX_SIZES,
    NAMES,
    OWN,
    Board,
    ends,
    find_knocked,
    find_mixed,
    first_legs,
    lifted_further,
    pieces,
)
from referee.games.quincala.game import Leg, Move, Place, Stop
from referee.games.quincala.turns import State

WON = 1000.0
_MIXED = (0.0, 85.0, 190.0, 310.0, 455.0)
"""Worth of a colour by its number of sizes in mixed towers. These numbers come from many games of players that look
only at their own turn."""
_IN_MIXED, _OTHERS_IN_MIXED = 10.0, 7.0
_TOWER = 6.0
_OTHERS_IN_HAND, _OWN_IN_HAND = -5.0, -9.0
"""Worth of an opponent's or an own piece in the other seat's hand, which may place it freely."""
_REACHES, _IS_REACHED = 4.0, 5.0
_TOWER_COST, _EMPTY_COST = 1, 4
"""Cost of a leg that ends on a tower or on an empty dot; cheaper turns are examined first."""
_TOWERS = range(1 << len(NAMES))
"""All possible towers, as bits. A tally of towers is a number with an octal digit for each piece, which counts the
mixed towers with this piece. Eight values are enough, since no colour has more than five towers."""


class TurnEnd(NamedTuple):
    """One way to end the turn."""

    worth: float
    """Worth of the end to the seat whose turn it is."""
    board: Board
    path: tuple[int, ...]
    """The dot where the first leg begins, and the dots where the legs end. After earlier legs of the turn, it begins
    where the last one ended."""


class _Reached(NamedTuple):
    board: Board
    path: tuple[int, ...]
    """The path as in TurnEnd; empty before the first leg."""
    tally: int
    points: float
    """The worth, without that of the tally."""


class _Waiting:
    """Legs that are not examined yet. Iterating removes them, the cheapest turns first; meanwhile more may be added."""

    def __init__(self) -> None:
        self._by_cost: list[deque[tuple[_Reached, int, int]]] = [deque()]

    def add(self, cost: int, reached: _Reached, legs: Iterable[tuple[int, int]]) -> None:
        """Add the next legs after a position that was reached at a cost."""
        while len(self._by_cost) <= cost + _EMPTY_COST:
            self._by_cost.append(deque())
        to_tower, to_empty = self._by_cost[cost + _TOWER_COST], self._by_cost[cost + _EMPTY_COST]
        board = reached.board
        for start, end in legs:
            (to_tower if board[end] else to_empty).append((reached, start, end))

    def __iter__(self) -> Iterator[tuple[int, _Reached, int, int]]:
        """Yield for each leg the cost of the turn so far, the position before the leg, its start and its end."""
        for cost, waiting in enumerate(self._by_cost):  # the list grows in this loop
            while waiting:
                yield cost, *waiting.popleft()


def turn_ends(state: State, most_steps: int) -> list[TurnEnd]:
    """Return possible ends of the present turn; the seat to move has nothing to place.

    Most of the best turns consist of legs to other towers, and these are fewer than legs to empty dots. So they are
    examined first, and short turns before long ones.

    Args:
        state: state of a game that is not over.
        most_steps: most legs to examine; the ends of all of them are returned.
    """
    here = _Reached(state.board, state.path[-1:] if state.phase == "continue" else (), *_counted(state, state.seat))
    found = [_end(state, here)] if here.path else []
    seen, waiting = {(here.path[-1] if here.path else -1, here.board)}, _Waiting()
    waiting.add(0, here, _legs(state, here))
    for cost, before, start, end in islice(waiting, most_steps):
        after = _after(state, before, start, end)
        key = end, after.board
        if key not in seen:
            seen.add(key)
            found.append(_end(state, after))
            waiting.add(cost, after, _legs(state, after))
    return found


def turn_steps(state: State, end: TurnEnd) -> tuple[Move, ...]:
    """Return the steps to an end of the turn, with a final stop if further legs would be possible.

    Args:
        state: the present state of the turn.
        end: one of its `turn_ends`.
    """
    places, path = state.field.places, end.path
    legs = tuple(Leg(places[start], places[stop]) for start, stop in pairwise(path))
    moving = lifted_further(end.board[path[-1]], state.seat)
    goes_on = not legs or any(True for _ in ends(state.field, end.board, state.immune, path[-1], moving))
    return (*legs, Stop()) if goes_on else legs


def board_worth(state: State, seat: int) -> float:
    """Return the worth of the board and of the other seat's hand to a seat, at the end of its turn."""
    return _worth(state.sizes, *_counted(state, seat), seat)


def _counted(state: State, seat: int) -> tuple[int, float]:
    """Return the tally of the board, and all other points for a seat, including those for the other seat's hand."""
    points = sum(_POINTS[seat][tower] for tower in state.board)
    points += sum(_IN_HAND[seat][1 << piece] for piece in state.hands[1 - seat])
    return sum(_TALLIES[tower] for tower in state.board), points


def _end(state: State, reached: _Reached) -> TurnEnd:
    return TurnEnd(_worth(state.sizes, reached.tally, reached.points, state.seat), reached.board, reached.path)


def _worth(sizes: int, tally: int, points: float, seat: int) -> float:
    """Return the worth of the end of a seat's turn to that seat; if both have reached the aim, the other seat wins."""
    found = (tally | tally >> 1 | tally >> 2) & _ONES
    both = (found & _ONES_OF_WHITE).bit_count(), (found & ~_ONES_OF_WHITE).bit_count()
    own, other = both[seat], both[1 - seat]
    if sizes in (own, other):
        return -WON if other == sizes else WON
    return points + _MIXED[own] - _MIXED[other]


def rated_places(state: State) -> list[tuple[float, Place]]:
    """Return the worth of placing the first piece of the hand, for each dot where it can stand."""
    piece = state.hands[state.seat][0]
    free = (dot for dot in state.field.areas[state.seat] if not state.board[dot])
    return [(_place_worth(state, piece, dot), Place(NAMES[piece], state.field.places[dot])) for dot in free]


def _place_worth(state: State, piece: int, dot: int) -> float:
    """Return the worth of placing a piece: with whom it could mix, and who could reach it."""
    seat, done = state.seat, find_mixed(state.board)
    color = piece // MAX_SIZES
    points = 0.0
    for ray in state.field.rays[dot]:
        distance, tower = next(
            ((steps, state.board[end]) for steps, end in enumerate(ray, 1) if state.board[end]), (0, 0)
        )
        if distance == 1 and tower & OWN[1 - color] and 1 << piece & ~done:
            points += _REACHES if color == seat else -_IS_REACHED
        if not tower & OWN[color] and distance and tower.bit_count() >= distance and tower & ~done:
            points += _REACHES if color != seat else -_IS_REACHED
    return points


def _legs(state: State, reached: _Reached) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of every possible next leg."""
    board = reached.board
    if not reached.path:
        yield from first_legs(state.field, board, state.immune, state.seat)
        return
    here = reached.path[-1]
    moving = lifted_further(board[here], state.seat)
    for end in ends(state.field, board, state.immune, here, moving):
        yield here, end


def _after(state: State, reached: _Reached, start: int, end: int) -> _Reached:
    """Return the position after a leg."""
    board, tower_points = reached.board, _POINTS[state.seat]
    left, met = board[start], board[end]
    moving = lifted_further(left, state.seat) if reached.path else left
    gone = find_knocked(met, moving)
    leaving, arrived = left & ~moving, met & ~gone | moving
    changed = list(board)
    changed[start], changed[end] = leaving, arrived
    return _Reached(
        tuple(changed),
        (*reached.path, end) if reached.path else (start, end),
        reached.tally + _TALLIES[leaving] + _TALLIES[arrived] - _TALLIES[left] - _TALLIES[met],
        reached.points
        + (tower_points[leaving] + tower_points[arrived] - tower_points[left] - tower_points[met])
        + _IN_HAND[state.seat][gone],
    )


def _tally(tower: int) -> int:
    is_mixed = tower & OWN[0] and tower & OWN[1]
    return sum(1 << 3 * piece for piece in pieces(tower)) if is_mixed else 0


def _points(tower: int, seat: int) -> float:
    own, other = tower & OWN[seat], tower & OWN[1 - seat]
    if own and other:
        return _IN_MIXED * own.bit_count() - _OTHERS_IN_MIXED * other.bit_count()
    return _TOWER if own.bit_count() > 1 else 0.0


def _in_hand(knocked_pieces: int, seat: int) -> float:
    own = knocked_pieces & OWN[seat]
    return _OWN_IN_HAND * own.bit_count() + _OTHERS_IN_HAND * (knocked_pieces ^ own).bit_count()


_ONES = _tally(_TOWERS[-1])
_ONES_OF_WHITE = sum(1 << 3 * piece for piece in range(MAX_SIZES))
_TALLIES = tuple(map(_tally, _TOWERS))
_POINTS = tuple(tuple(_points(tower, seat) for tower in _TOWERS) for seat in (0, 1))
_IN_HAND = tuple(tuple(_in_hand(gone, seat) for gone in _TOWERS) for seat in (0, 1))
"""Seat and knocked pieces -> worth to the seat if the other seat has these in hand."""
