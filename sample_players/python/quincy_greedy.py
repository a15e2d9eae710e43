"""Greedy for Quincy: the move that makes most of its square, as its playouts rate it (quincy_playouts.py)."""

from collections.abc import Callable
from typing import Any

from referee.games.base import Game
from referee.games.quincy.board import DOMINOES, SQUARES
from referee.games.quincy.forms import Add, Discard, Move, Remove, State

from .imagined import picking
from .quincy_playouts import Stones


def _picked(state: State) -> Move:
    seat = state.order[0]
    choice = Stones(state.stones).choice(seat % 2, list(state.hands[seat]), can_draw=bool(state.pile))
    domino, square = DOMINOES[choice.domino], SQUARES[choice.square]
    if choice.action == "discard":
        return Discard(domino)
    return Add(domino, square) if choice.action == "add" else Remove(domino, square)


def make_greedy(game: Game[Any, Any, Any], options: Any, _seed: bytes) -> Callable[[Any], Any]:
    """Make the greedy player for one match."""
    return picking(game, options, _picked)
