"""Ends of a turn of Quincala Mixing, quickly: legs on bare boards. Knows what legs do; refuses to judge moves.

It leaves out what a single turn needs not know: which pieces become immune in the next one, and what is told of legs.
"""

from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from referee.games.quincala import Leg, Move, Stop
from referee.games.quincala_board import (
    MAX_SIZES,
    OWN,
    Board,
    ends,
    first_legs,
    knocked,
    lifted_further,
    mixed,
    mixed_counts,
    pieces,
)
from referee.games.quincala_turns import State

WON = 1000.0
_MIXED, _OTHERS_MIXED = 100.0, 90.0
_IN_MIXED, _OTHERS_IN_MIXED = 6.0, 5.0
_TOWER = 3.0
_OWN_IN_HAND = 4.0
_REACHES, _IS_REACHED = 4.0, 5.0


class End(NamedTuple):
    """One way to end the turn."""

    worth: float
    """To the seat whose turn it is."""
    moves: tuple[Move, ...]


class _Reached(NamedTuple):
    board: Board
    hand: tuple[int, ...]
    """Of the other seat, with what was knocked."""
    path: tuple[int, ...]
    """Where the first leg began and where each ended; empty before it."""


def turn_ends(state: State, most_steps: int) -> list[End]:
    """Return ends of the turn of the seat to move, which has nothing to place, the shortest first.

    Args:
        state: of a game that is not over.
        most_steps: how many legs are looked at; the ends of all of them are returned.
    """
    here = _Reached(state.board, state.hands[1 - state.seat], state.path[-1:] if state.phase == "continue" else ())
    found = [End(worth(state.sizes, here.board, here.hand, state.seat), (Stop(),))] if here.path else []
    waiting, seen, steps = deque([here]), {(here.path, here.board)}, 0
    while waiting and steps < most_steps:
        for after in _legs(state, waiting.popleft()):
            steps += 1
            key = after.path[-1:], after.board
            if key in seen:
                continue
            seen.add(key)
            waiting.append(after)
            found.append(End(worth(state.sizes, after.board, after.hand, state.seat), _moves(state, after)))
    return found


def worth(sizes: int, board: Board, hand: tuple[int, ...], seat: int) -> float:
    """Return what a board at the end of a turn is worth to the seat that had it.

    Args:
        sizes: how many are played with.
        board: the towers.
        hand: what the other seat has to place.
        seat: whose turn it was.
    """
    counts = mixed_counts(board)
    if max(counts) == sizes:  # with both aims reached, who did not have the turn wins
        return -WON if counts[1 - seat] == sizes else WON
    points = _MIXED * counts[seat] - _OTHERS_MIXED * counts[1 - seat]
    own, other = OWN[seat], OWN[1 - seat]
    for tower in filter(None, board):
        if tower & own and tower & other:
            points += _IN_MIXED * (tower & own).bit_count() - _OTHERS_IN_MIXED * (tower & other).bit_count()
        elif tower & own and tower & (tower - 1):
            points += _TOWER
    return points + sum(1 if piece // MAX_SIZES != seat else -_OWN_IN_HAND for piece in hand)


def place_worth(state: State, piece: int, dot: int) -> float:
    """Return what it is worth to place a piece: whom it could mix with, and who could come to it.

    Args:
        state: of a turn that begins with placing.
        piece: of the hand.
        dot: an empty one of the placing areas.
    """
    seat, done = state.seat, mixed(state.board)
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


def _legs(state: State, reached: _Reached) -> Iterator[_Reached]:
    """Yield what every next leg leads to."""
    board, seat = reached.board, state.seat
    legs: Iterator[tuple[int, int]]
    if reached.path:
        here = reached.path[-1]
        moving = lifted_further(board[here], seat)
        legs = ((here, end) for end in ends(state.field, board, state.immune, here, moving))
    else:
        legs = first_legs(state.field, board, state.immune, seat)
    for start, end in legs:
        tower = board[start]
        moving = lifted_further(tower, seat) if reached.path else tower
        gone = knocked(board[end], moving)
        changed = list(board)
        changed[start] = tower & ~moving
        changed[end] = board[end] & ~gone | moving
        path = (*reached.path, end) if reached.path else (start, end)
        yield _Reached(tuple(changed), (*reached.hand, *pieces(gone)), path)


def _moves(state: State, reached: _Reached) -> tuple[Move, ...]:
    """Return the steps of a turn, with the stop that it needs unless no further leg is possible."""
    places, path = state.field.places, reached.path
    legs = tuple(Leg(places[start], places[end]) for start, end in pairwise(path))
    moving = lifted_further(reached.board[path[-1]], state.seat)
    goes_on = any(True for _ in ends(state.field, reached.board, state.immune, path[-1], moving))
    return (*legs, Stop()) if goes_on else legs
