"""The input of Q: moves, options and positions as plain values, well formed or not."""

from typing import Any

import pytest

from referee.games.base import BadSetup, MalformedMove
from referee.games.q.forms import Exchange, Move, Options, Pass, Place, Placement
from referee.games.q.game import QGame

GAME = QGame()
R, G, B = "red-star", "green-star", "blue-star"
MAP = [(0, 0, R)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"action": "pass"}, Pass()),
        ({"action": "exchange"}, Exchange()),
        ({"action": "place", "tiles": []}, Place([])),
        ({"action": "place", "tiles": [[0, -1, R]]}, Place([Placement(0, -1, R)])),
        ({"action": "place", "tiles": [[-(2**31), 2**31 - 1, R]]}, Place([Placement(-(2**31), 2**31 - 1, R)])),
    ],
)
def test_moves_are_read(raw: Any, expected: Move) -> None:
    """A plain value with the form of a move is that move, legal or not."""
    assert expected == GAME.parse_move(raw)


WRONG_LISTS: tuple[Any, ...] = (None, 0, "", {}, [[]], [None], [0, 1, R])
WRONG_SPOTS: tuple[Any, ...] = ([0, 1], [0, 1, R, 0], {"row": 0, "column": 1, "tile": R})
WRONG_ROWS: tuple[Any, ...] = (None, "0", 0.5, 1.0, True, 2**31, -(2**31) - 1)
WRONG_TILES: tuple[Any, ...] = (None, 0, "", "star-red", "red star", "Red-star", [R])
MALFORMED: tuple[Any, ...] = (
    *(None, True, 0, 1.5, "pass", [], ["pass"], {}, {"action": None}, {"action": 0}, {"action": "Pass"}),
    *({"action": "pass", "tiles": []}, {"action": "exchange", "count": 2}, {"action": "place"}),
    *({"action": "place", "tiles": value} for value in WRONG_LISTS),
    *({"action": "place", "tiles": [value]} for value in WRONG_SPOTS),
    *({"action": "place", "tiles": [[value, 0, R]]} for value in WRONG_ROWS),
    *({"action": "place", "tiles": [[0, 0, value]]} for value in WRONG_TILES),
    {"action": "place", "tiles": [[0, 1, G], [0, 2, B], [0, 3]]},
    {"type": "place", "tiles": []},
)


@pytest.mark.parametrize("raw", MALFORMED, ids=repr)
def test_malformed_moves_are_refused(raw: Any) -> None:
    """A plain value without the form of a move is malformed in any state; nothing is guessed."""
    with pytest.raises(MalformedMove, match=r"."):
        GAME.parse_move(raw)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"bonus": 6}, "it knows: q_bonus, finish_bonus"),
        ({"q_bonus": -1}, "q_bonus"),
        ({"q_bonus": 1001}, "q_bonus"),
        ({"q_bonus": "6"}, "q_bonus"),
        ({"finish_bonus": 6.5}, "finish_bonus"),
        ({"finish_bonus": True}, "finish_bonus"),
        ({"finish_bonus": None}, "finish_bonus"),
    ],
)
def test_bad_options_are_refused(raw: dict[str, Any], says: str) -> None:
    """An unknown option or a value out of range is named as the organiser's mistake."""
    with pytest.raises(BadSetup, match=says):
        GAME.parse_options(raw)


def test_missing_options_take_their_defaults() -> None:
    """Without options, both bonuses are six."""
    assert GAME.parse_options({}) == Options(q_bonus=6, finish_bonus=6)


ONE = [{"score": 0, "hand": []}]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (None, "position of q"),
        ([], "position of q"),
        ({}, "map"),
        ({"map": [], "pile": [], "players": ONE}, "map"),
        ({"map": MAP, "pile": []}, "players"),
        ({"map": MAP, "pile": [], "players": []}, "players"),
        ({"map": MAP, "pile": [], "players": ONE * 5}, "players"),
        ({"map": MAP, "pile": ["star"], "players": ONE}, "pile"),
        ({"map": MAP, "pile": [], "players": [{"score": -1, "hand": []}]}, "score"),
        ({"map": MAP, "pile": [], "players": [{"score": 0}]}, "hand"),
        ({"map": MAP, "pile": [], "players": ONE, "turn": 3}, "turn"),
        ({"map": [(0, 0, R), (0, 0, R)], "pile": [], "players": ONE}, "same row and column"),
    ],
)
def test_bad_positions_are_refused(raw: Any, says: str) -> None:
    """A position without the form of one, or with two tiles on one square, is refused with the reason."""
    with pytest.raises(BadSetup, match=says):
        GAME.restore(Options(), raw)
