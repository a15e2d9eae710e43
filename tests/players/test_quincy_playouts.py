"""Quick playouts of Quincy, compared with the rules and with the greedy player, which they imitate."""

from functools import partial
from random import Random
from typing import Any

import pytest

from referee import chance
from referee.games.quincy.forms import State
from sample_players.python.quincy_playouts import Stones, winner

from ..games.quincy.playing import GAME
from .quincy_rating import rating


def greedy(state: State) -> Any:
    """Return the greedy player's move."""
    return max(GAME.legal_moves(state), key=partial(rating, state))


def on_the_way(number: int) -> list[State]:
    """Return every state of a game of two or four with mostly greedy and some random moves."""
    source, found = Random(number), []
    state = GAME.new(GAME.parse_options({}), (2, 4)[number % 2], chance.Dealer(source.randbytes(32)))
    while GAME.outcome(state) is None:
        found.append(state)
        move = greedy(state) if source.random() < 0.7 else source.choice(GAME.legal_moves(state))
        state = GAME.deliver(GAME.play(state, move))
    return found


@pytest.mark.parametrize("number", range(6))
def test_what_it_chooses_is_what_the_greedy_player_rates_highest(number: int) -> None:
    """This holds in every position of a game, for added stones, removals and discards."""
    for state in on_the_way(number):
        seat = state.order[0]
        choice = Stones(state.stones).choice(seat % 2, list(state.hands[seat]), can_draw=bool(state.pile))
        assert choice.rating == pytest.approx(rating(state, greedy(state)))


@pytest.mark.parametrize("number", range(6))
def test_the_winner_is_who_wins_by_the_rules(number: int) -> None:
    """This holds from any position; the board at the start is not changed."""
    state = Random(number).choice(on_the_way(number))
    stones = Stones(state.stones)
    found = winner(state, stones)
    assert found == winner(state, stones)
    while GAME.outcome(state) is None:
        state = GAME.deliver(GAME.play(state, greedy(state)))
    assert found == state.winner


def test_nobody_wins_when_all_dominoes_are_gone() -> None:
    """A seat that can do nothing is skipped, and all seats may be skipped."""
    hands = [[[1, 2]], [[1, 3]]]
    state = GAME.restore(GAME.parse_options({}), {"board": ["." * 9] * 9, "hands": hands, "pile": []})
    assert winner(state, Stones(state.stones)) is None
