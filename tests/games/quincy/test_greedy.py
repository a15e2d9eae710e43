"""The greedy player of Quincy: it makes obvious moves, and wins against chance."""

from random import Random
from typing import Any

import pytest

from referee import chance
from referee.games.quincy.forms import State
from referee.testing import plain
from sample_players.python.greedy import make_greedy

from .playing import GAME, OPTIONS, begun, column, move, row

GREEDY = make_greedy(GAME, OPTIONS, bytes(32))


def choice(state: State) -> Any:
    """Return greedy's plain move for the seat to move."""
    return plain(GREEDY(plain(GAME.view(state, GAME.to_move(state)))))


CHOICES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("wins with a stone in two lines", {"a": [*row(4, 1, 3), *column(4, 5, 7)]}, "55 44 37", "44 +44"),
    ("makes a line rather than three", {"a": [*row(2, 5, 7), *row(6, 1, 2)]}, "36 28", "28 +28"),
    ("lengthens what is growing", {"a": row(3, 4, 5)}, "36 19", "36 +36"),
    ("stops a second line", {"b": [*row(2, 1, 4), *column(9, 7, 9)]}, "12 69 39 49", "69 +69"),
    ("keeps its blanks at the start", {}, "00 05 34", "34 +34"),
    ("discards for nothing", {"a": [(1, 1)], "pile": "99"}, "35 11", "11"),
    ("keeps what it can't replace", {"a": [(1, 1)]}, "35 11", "35 +35"),
    ("takes a stone that nothing else can stop", {"a": [(2, 7)], "b": [*row(2, 1, 3)]}, "03 08", "03 -23"),
)


@pytest.mark.parametrize(("_name", "fields", "hand", "expected"), CHOICES, ids=[row[0] for row in CHOICES])
def test_it_sees_what_is_there(_name: str, fields: dict[str, Any], hand: str, expected: str) -> None:
    """In small positions, it makes the obvious move."""
    assert plain(move(expected)) == choice(begun(hand, "88 89", **fields))


@pytest.mark.parametrize("seats", [2, 4])
def test_it_wins_against_chance(seats: int) -> None:
    """All its moves are legal, and it wins at least nine games of ten against random players, on either side."""
    source = Random(seats)
    won = 0
    for number in range(20):
        state = GAME.new(OPTIONS, seats, chance.Dealer(source.randbytes(32)))
        while GAME.outcome(state) is None:
            is_greedy = GAME.to_move(state) % 2 == number % 2
            played = GAME.parse_move(choice(state)) if is_greedy else source.choice(GAME.legal_moves(state))
            state = GAME.deliver(GAME.play(state, played))
        won += state.winner == number % 2
    assert won >= 18
