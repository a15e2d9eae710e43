"""A move chosen place by place: every legal move can be chosen, no other one, and each step can be taken back."""

from random import Random
from typing import Any

import msgspec
import pytest

from referee.chance import Dealer
from referee.games.base import Game
from referee.plugins import load
from referee.web.person.seat import Choosing

GAMES = load().games


def _after(game: Game[Any, Any, Any], moves: int, source: Random) -> Any:
    """Return a state in the middle of a game."""
    state = game.new(game.parse_options({}), game.seats[0], Dealer(source.randbytes(32)))
    for _ in range(moves):
        if game.outcome(state) is None:
            state = game.deliver(game.play(state, source.choice(game.legal_moves(state))))
    return state


def _chosen(game: Game[Any, Any, Any], state: Any, source: Random) -> Choosing:
    """Choose at random until there is a move and chance wants it, or nothing is left to choose."""
    choosing = Choosing(game, state)
    while choosing.options and (choosing.move is None or source.random() < 0.6):
        choosing.touch(source.choice(choosing.options))
    return choosing


@pytest.mark.parametrize("name", sorted(GAMES))
def test_whatever_is_chosen_becomes_a_legal_move(name: str) -> None:
    """There is always a choice until there is a move, and the game plays that move."""
    game, source = GAMES[name], Random(name)
    state = _after(game, 0, source)
    for _ in range(40):
        choosing = _chosen(game, state, source)
        state = game.deliver(game.play(state, game.parse_move(choosing.move)))
        if game.outcome(state) is not None:
            break


@pytest.mark.parametrize("name", sorted(GAMES))
def test_all_that_was_chosen_can_be_taken_back(name: str) -> None:
    """Each step back offers the earlier choices, down to the beginning, where another step does nothing."""
    game, source = GAMES[name], Random(name)
    for moves in range(12):
        state = _after(game, moves, source)
        if game.outcome(state) is not None:
            break
        choosing = _chosen(game, state, source)
        touched = choosing.touched
        for left in range(len(touched) - 1, -1, -1):
            choosing.undo()
            assert choosing.touched == touched[:left]
            assert touched[left] in choosing.options
        choosing.undo()
        assert (choosing.touched, choosing.move, choosing.options) == ((), None, Choosing(game, state).options)


@pytest.mark.parametrize("name", sorted(GAMES))
def test_every_legal_move_can_be_chosen(name: str) -> None:
    """The ways of choosing lead to all listed moves."""
    game = GAMES[name]
    state = _after(game, 2, Random(name))
    moves: set[str] = set()
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        choosing = Choosing(game, state)
        for option in waiting.pop():
            choosing.touch(option)
        if choosing.move is not None:
            moves.add(str(choosing.move))
        elif len(choosing.touched) < 4:
            waiting += [(*choosing.touched, option) for option in choosing.options]
    assert {str(msgspec.to_builtins(move)) for move in game.legal_moves(state)} <= moves


def test_another_choice_takes_the_place_of_the_last_one() -> None:
    """Touching another domino selects that one; a square that neither fits changes nothing."""
    game = GAMES["quincy"]
    choosing = Choosing(game, _after(game, 4, Random(1)))
    first, second = choosing.options[:2]
    choosing.touch(first)
    choosing.switch(second)
    assert choosing.touched[0] == second
    before = choosing.touched
    choosing.switch("row 0, column 0")
    assert choosing.touched == before


@pytest.mark.parametrize("name", ["q", "quincy", "quadominos"])
def test_a_seat_is_shown_no_other_hand(name: str) -> None:
    """Drawn for a seat, states that differ only in the other hands look the same; drawn for all, they do not."""
    game, source = GAMES[name], Random(name)
    state = _after(game, 6, source)
    other = msgspec.structs.replace(
        state, hands=(state.hands[0], tuple((piece + 1) % 36 for piece in state.hands[1]), *state.hands[2:])
    )
    for draw in (game.draw_svg, game.draw_text):
        assert draw(state, (0,)) == draw(other, (0,))
        assert draw(state) != draw(other)


@pytest.mark.parametrize("name", sorted(GAMES))
def test_what_can_be_touched_first_is_in_the_drawing(name: str) -> None:
    """Tiles and squares have their places there; everything else is a word, for a button."""
    game, source = GAMES[name], Random(name)
    state = _after(game, 5, source)
    if game.outcome(state) is None and name in {"q", "quincy", "quincala", "quadominos"}:
        drawing = game.draw_svg(state, (game.to_move(state),), ())
        missing = {option for option in Choosing(game, state).options if f'data-place="{option}"' not in drawing}
        assert missing <= {"pass", "exchange", "points", "done", "stop"}
