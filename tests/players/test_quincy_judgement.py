"""The search player's judgement of moves of Quincy: their order, not their exact worth."""

from random import Random
from typing import Any

import pytest

from referee import chance
from sample_players.python.quincy_playouts import WIN
from sample_players.python.quincy_search import rating

from ..games.quincy.playing import GAME, OPTIONS, begun, column, move, row

TWO = row(3, 4, 5)
"""Stones of a row, to which the domino 36 adds a third."""


def rated(played: str, hand: str, **fields: Any) -> float:
    """Return the worth of a move with a hand, on a board."""
    return rating(begun(hand, "88 89", pile="99 66 67", **fields), move(played))


def test_a_line_is_worth_what_is_left_to_complete_it_with() -> None:
    """It is worth most with the domino in hand, less if anybody may have it, least if only a blank is left for it."""
    held = rated("36 +36", "36 37", a=TWO)
    unseen = rated("36 +36", "36 19", a=TWO)
    gone = rated("36 +36", "36 19", a=TWO, face_up="37")
    assert held > unseen > gone


@pytest.mark.parametrize("where", ["hand", "face_up"])
def test_what_the_others_can_hardly_complete_is_less_of_a_threat(where: str) -> None:
    """Their third stone weighs less if the domino that they lack is in the own hand, or gone."""
    threat = row(9, 1, 3)
    safe = rated("55 +55", "55 49", b=threat) if where == "hand" else rated("55 +55", "55 15", b=threat, face_up="49")
    assert safe > rated("55 +55", "55 15", b=threat)


PREFERENCES: tuple[tuple[str, dict[str, Any], str, str, str], ...] = (
    ("two lines to anything", {"a": [*row(4, 1, 3), *column(4, 5, 7)]}, "44 37", "44 +44", "37 +37"),
    ("a line to three", {"a": [*row(2, 5, 7), *row(6, 1, 2)]}, "36 28", "28 +28", "36 +63"),
    ("another domino to a blank", {"a": TWO}, "36 03", "36 +36", "03 +36"),
    ("to take a stone of a second line", {"b": [*row(2, 1, 4), *row(8, 1, 3)]}, "08 55", "08 -82", "55 +55"),
    ("to be rid of what can't be played", {"a": [(1, 1)]}, "35 11", "11", "35 +35"),
)


@pytest.mark.parametrize(
    ("_name", "fields", "hand", "better", "worse"), PREFERENCES, ids=[preference[0] for preference in PREFERENCES]
)
def test_it_prefers(_name: str, fields: dict[str, Any], hand: str, better: str, worse: str) -> None:
    """The better move comes first."""
    assert rated(better, hand, **fields) > rated(worse, hand, **fields)


def test_two_lines_win() -> None:
    assert rated("00 +44", "00 37", a=[*row(4, 1, 3), *column(4, 5, 7)]) == WIN


@pytest.mark.parametrize("seats", [2, 4])
def test_it_knows_no_more_than_the_seat_does(seats: int) -> None:
    """Every move has the same worth, whatever the others hold and the pile brings, in a whole game."""
    source = Random(seats)
    state = GAME.new(OPTIONS, seats, chance.Dealer(source.randbytes(32)))
    while GAME.outcome(state) is None:
        moves = GAME.legal_moves(state)
        view = GAME.view(state, GAME.to_move(state))
        imagined = GAME.imagine(OPTIONS, view, chance.Dealer(source.randbytes(32)))
        assert [rating(imagined, item) for item in moves] == [rating(state, item) for item in moves]
        state = GAME.deliver(GAME.play(state, source.choice(moves)))
