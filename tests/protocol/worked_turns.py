"""One worked turn of each game; SPEC.md shows it in bytes, and docs/games as a picture.

Every position is made up for its turn, so that one move shows what the game is about. The game itself judges the move
and says what follows; nothing here repeats a rule.
"""

from typing import Any, NamedTuple

from protocol.messages import Move, Told, Turn
from referee import chance
from referee.games.base import Game
from referee.plugins import load
from referee.testing.seats import plain

from .tables import HEAD, SEED


class WorkedTurn(NamedTuple):
    """The messages of one turn, and the states before and after the move."""

    game: Game[Any, Any, Any]
    before: Any
    after: Any
    turn: Turn
    move: Move
    told: Told


QUINCY = {
    "board": [
        ".........",
        ".BBB.....",
        "......B..",
        ".........",
        "..AAAA...",
        ".....A...",
        ".....A...",
        ".......B.",
        "B........",
    ],
    "hands": [[[4, 6], [0, 6], [1, 8], [7, 7], [2, 9]], [[2, 5], [0, 4], [3, 9], [1, 1], [6, 8]]],
    "pile": [[0, 9], [1, 3], [4, 4]],
    "face_up": [
        *([3, 5], [2, 2], [5, 5], [2, 3], [4, 5], [3, 7], [5, 6], [8, 8], [6, 6], [2, 4], [6, 7], [1, 9]),
    ],
}
"""A has one line, and three stones below its end; domino 4-6 makes them four."""

QUINCALA = {
    "board": [
        [2, 4, ["w1", "w2", "w3"]],
        [3, 7, ["w3"]],
        [6, 4, ["w1", "w2"]],
        [6, 6, ["b2", "b3"]],
        [8, 3, ["b1"]],
        [10, 4, ["b1", "b2", "b3"]],
        [10, 8, ["b1", "b2", "b3"]],
    ],
    "turns": 10,
}
"""White's tower of two reaches Black's, knocks the piece of its size, and is mixed."""

QUADOMINOS = {
    "board": [[0, 0, "5555"], [0, 1, "5235"], [1, 0, "5551"], [0, -1, "2550"]],
    "players": [
        {"score": 61, "hand": ["0123", "3555", "0055", "1335", "2225"]},
        {"score": 27, "hand": ["0144", "1122", "2244", "3345", "0005"]},
    ],
    "well": ["0012", "3344", "1455"],
}
"""The corner at row 1, column 1 has tiles on two sides and diagonally: a tile there meets three corners."""

Q = {
    "map": [
        [0, 0, "red-star"],
        [0, 1, "red-square"],
        [0, 2, "red-circle"],
        [1, 0, "blue-star"],
        [2, 0, "green-star"],
    ],
    "pile": ["yellow-star", "green-clover", "purple-8star", "orange-circle"],
    "players": [
        {
            "score": 6,
            "hand": [
                *("blue-square", "blue-circle", "red-clover", "green-8star", "purple-diamond", "yellow-star"),
            ],
        },
        {
            "score": 8,
            "hand": [
                *("green-star", "yellow-clover", "orange-star", "purple-square", "green-circle", "blue-diamond"),
            ],
        },
    ],
}
"""Two tiles fit below the row of red ones, next to the blue star."""

_POSITIONS: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "q": ({}, Q, {"action": "place", "tiles": [[1, 1, "blue-square"], [1, 2, "blue-circle"]]}),
    "quincy": ({}, QUINCY, {"action": "add", "domino": [4, 6], "square": [4, 6]}),
    "quincala": ({"sizes": 3}, QUINCALA, {"action": "leg", "start": [6, 4], "end": [6, 6]}),
    "quadominos": ({}, QUADOMINOS, {"action": "lay", "row": 1, "column": 1, "tile": "5355"}),
}
"""Options, position, and the move of seat 0, by game."""


def worked_turn(name: str) -> WorkedTurn:
    """Play the move of a game's position, and return the messages.

    Args:
        name: name of a game that is built in.
    """
    game = load().game(name)
    options, position, raw_move = _POSITIONS[name]
    before = game.restore(game.parse_options(options), position)
    after = game.play(before, game.parse_move(raw_move))
    news = game.news(after)
    match = f"{name}-1"
    turn = Turn(match=match, turn=9, view=plain(game.view(before, 0)), left_ms=6000.0, bank_ms=None, head=HEAD)
    move = Move(match=match, turn=9, move=raw_move)
    draws = None if news.draws is None else plain(news.draws)
    told = Told(match=match, turn=9, what={"kind": "played", **plain(news.public)}, draws=draws)
    return WorkedTurn(game, before, game.deliver(after), turn, move, told)


def shuffle_of_seed() -> chance.Dealer:
    """Return the chance with which a view's unknown part is dealt in tests."""
    return chance.Dealer(SEED)
