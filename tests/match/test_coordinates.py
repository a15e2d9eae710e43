"""A bad move that would be legal with other coordinates says which."""

from typing import Any

import pytest

from referee.check.steps_games import near_end
from referee.match import commands as c
from referee.match.coordinates import add_hint
from referee.match.fouls import Cause, Foul
from referee.plugins import load
from referee.testing.seats import plain

from .folding import G, R, moved, new_match, opened, place, ready

GAMES = load().games


def expel(move: Any) -> Foul:
    """Return the foul of a first move, in a match where it is judged in the fold."""
    match = new_match([G, R], [R])
    for event in (opened(), ready(0), ready(1), moved(0, 1, move, 3.0)):
        commands = match.handle(event)
    return next(command.foul for command in commands if isinstance(command, c.ExpelSeat))


def test_the_foul_itself_has_the_hint() -> None:
    foul = expel(place((9, 8, G)))
    assert foul.cause is Cause.ILLEGAL_MOVE
    assert "would be legal" not in foul.detail
    foul = expel(place((1, 2, G)))
    assert foul.detail.endswith("; with rows and columns one smaller the move would be legal")


def test_a_place_off_the_board_has_the_hint_too() -> None:
    """A program that counts from 0 names row 0, so its move does not even have the form of a move of Quincy."""
    game, state = GAMES["quincy"], near_end(GAMES["quincy"]).state
    moves = [plain(move) for move in game.legal_moves(state) if "square" in plain(move)]
    counted = [{**move, "square": [number - 1 for number in move["square"]]} for move in moves]
    off_board = [move for move in counted if min(move["square"]) < 1]
    assert off_board
    for move in off_board:
        assert "one larger the move would be legal" in add_hint("so", game, state, move)


@pytest.mark.parametrize(
    ("down", "right", "words"),
    [(1, 1, "rows and columns one smaller"), (-1, -1, "rows and columns one larger"), (0, 1, "columns one smaller")],
)
def test_a_move_that_counts_otherwise_is_explained(down: int, right: int, words: str) -> None:
    """The hint names the change that makes the move legal."""
    game, state = GAMES["q"], near_end(GAMES["q"]).state
    moves = [plain(move) for move in game.legal_moves(state) if plain(move)["action"] == "place"]
    shifted = [
        {**move, "tiles": [[row + down, column + right, tile] for row, column, tile in move["tiles"]]} for move in moves
    ]
    assert f"so; with {words} the move would be legal" in [add_hint("so", game, state, move) for move in shifted]


def test_row_and_column_in_the_wrong_order_are_explained() -> None:
    """This also works if a pair of numbers next to the place is no place, such as Quincy's domino."""
    game, state = GAMES["quincy"], near_end(GAMES["quincy"]).state
    moves = [plain(move) for move in game.legal_moves(state) if "square" in plain(move)]
    hints = [add_hint("so", game, state, {**move, "square": move["square"][::-1]}) for move in moves]
    assert "so; with row and column exchanged the move would be legal" in hints


def test_another_mistake_is_not_explained_by_coordinates() -> None:
    """A tile that is not in the hand fits nowhere; a move without coordinates has none."""
    game, state = GAMES["q"], near_end(GAMES["q"]).state
    assert add_hint("so", game, state, {"action": "place", "tiles": [[9, 9, "red-clover"]]}) == "so"
    assert add_hint("so", game, state, "pass") == "so"
