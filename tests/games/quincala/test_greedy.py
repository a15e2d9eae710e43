"""The greedy player of Quincala Mixing: legal, always the same, with a bounded search, and better than chance."""

from random import Random
from typing import Any

import msgspec
import pytest

from referee.chance import Dealer
from referee.games.quincala.game import Move, Place
from referee.games.quincala.turns import State
from sample_players.python.greedy import MAX_LEGS, make_greedy
from sample_players.python.quincala_ends import turn_ends

from .positions import GAME, STOP, Towers, leg, position

NEAR: Towers = {(6, 1): "b2 w1", (6, 3): "b1 w2", (6, 5): "b1", (5, 5): "w3", (11, 11): "b2"}


def chosen(state: State) -> Move:
    """Return greedy's move, from plain values as on the wire."""
    options = GAME.parse_options({"sizes": state.sizes})
    view = msgspec.to_builtins(GAME.view(state, GAME.to_move(state)))
    return GAME.parse_move(make_greedy(GAME, options, b"")(view))


def winner(sizes: int, seat: int) -> tuple[int, ...]:
    """Play greedy on a seat against random moves; return the winner."""
    source = Random(sizes * 2 + seat)
    state = GAME.new(GAME.parse_options({"sizes": sizes}), 2, Dealer(bytes(32)))
    while GAME.outcome(state) is None:
        move = chosen(state) if GAME.to_move(state) == seat else source.choice(GAME.legal_moves(state))
        state = GAME.deliver(GAME.play(state, move))
    outcome = GAME.outcome(state)
    assert outcome is not None
    return outcome.ranking[0]


@pytest.mark.parametrize("sizes", [4, 5])
@pytest.mark.parametrize("seat", [0, 1])
def test_greedy_beats_chance(sizes: int, seat: int) -> None:
    """It wins against random legal moves on either side, and each of its moves is legal."""
    assert winner(sizes, seat) == (seat,)


def test_greedy_takes_a_win() -> None:
    """It makes a leg that wins."""
    assert chosen(position(NEAR, options={"sizes": 3})) == leg(5, 5, 6, 5)


def test_greedy_stops_where_it_has_won() -> None:
    """It ends a move that has achieved the aim."""
    state = GAME.play(position({**NEAR, (5, 5): "w2 w3"}, options={"sizes": 3}), leg(5, 5, 6, 5))
    assert chosen(state) == STOP


def test_greedy_does_not_win_for_the_opponent() -> None:
    """It makes no leg after which only the opponent has all its sizes in mixed towers."""
    board = {(6, 1): "b2 w1", (6, 3): "b1 w2", (6, 5): "b3", (5, 5): "w1"}
    assert chosen(position(board, options={"sizes": 3})) != leg(5, 5, 6, 5)


def test_greedy_places() -> None:
    """It places a piece of the opponent's colour where a tower of its own reaches it at once."""
    state = position({(5, 5): "w1 w2", (11, 1): "b2"}, hands=[["b4"], []])
    move = chosen(state)
    assert isinstance(move, Place)
    assert leg(5, 5, *move.dot) in GAME.legal_moves(GAME.play(state, move))


def test_the_search_is_bounded() -> None:
    """Within a move of many legs, it tries at most as many steps as the limit says."""
    board: dict[tuple[int, int], Any] = {(row, column): "b1" for row in (3, 5) for column in (2, 8)}
    board |= {(row, column): "w1 w2 w3 w4 w5" for row in (4, 7) for column in (3, 7)}
    state = position(board)
    assert len(turn_ends(state, MAX_LEGS)) <= MAX_LEGS < len(turn_ends(state, 2 * MAX_LEGS))
