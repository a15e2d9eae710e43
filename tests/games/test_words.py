"""Plays in the words of their game, as spectators and replays show them."""

from typing import Any

import msgspec
import pytest

from referee.chance import Dealer
from referee.pages.words import move_words
from referee.plugins import installed

CASES: list[tuple[str, dict[str, Any], str]] = [
    (
        "q",
        {"action": "place", "tiles": [[-1, 0, "red-diamond"], [0, 1, "blue-8star"]]},
        "red diamond at row -1, column 0, then blue 8star at row 0, column 1",
    ),
    (
        "q",
        {"action": "place", "tiles": [[-1, 0, "red-diamond"]], "points": 7, "seat": 1, "score": 9},
        "red diamond at row -1, column 0; 7 points",
    ),
    ("q", {"action": "exchange"}, "exchanges the whole hand"),
    ("q", {"action": "exchange", "count": 6, "seat": 0}, "exchanges the whole hand"),
    ("quincy", {"action": "add", "domino": [2, 7], "square": [1, 9]}, "a stone on row 1, column 9, by the domino 2|7"),
    ("quincy", {"action": "discard", "domino": [2, 7], "seat": 1, "lines": 0}, "discards the domino 2|7"),
    ("quincala", {"action": "place", "piece": "b3", "dot": [1, 2]}, "the black piece of size 3 on row 1, column 2"),
    (
        "quincala",
        {"action": "leg", "start": [1, 2], "end": [3, 2], "moved": ["w1"], "knocked": ["b1"]},
        "from row 1, column 2 to row 3, column 2, knocks off b1",
    ),
    ("quadominos", {"action": "lay", "row": 0, "column": -1, "tile": "0224"}, "0224 at row 0, column -1"),
    ("quadominos", {"event": "drew", "seat": 0, "tiles": 1, "lost": 5}, "draws 1 tile; loses 5 points"),
    ("quadominos", {"event": "unheard-of"}, ""),
]


@pytest.mark.parametrize(("game", "play", "words"), CASES)
def test_a_play_in_words(game: str, play: dict[str, Any], words: str) -> None:
    """Moves, and what the other seats are sent about them, have words."""
    assert installed().game(game).describe(play) == words


@pytest.mark.parametrize("name", ["q", "quincy", "quincala", "quadominos"])
def test_each_legal_move_has_words(name: str) -> None:
    """No field is shown as JSON."""
    game = installed().game(name)
    state = game.deliver(game.new(game.parse_options({}), 2, Dealer(bytes(32))))
    for move in game.legal_moves(state):
        words = move_words(game, msgspec.to_builtins(move))
        assert words
        assert not set(words) & set('{}[]"')


@pytest.mark.parametrize(
    ("move", "shown"),
    [
        ({"action": "place", "tiles": "none"}, "place tiles none"),
        ({"action": "place", "tiles": [["\x1b", 0, 0]]}, r'place tiles [["\u001b", 0, 0]]'),
        (["\u202e"], r'["\u202e"]'),
        (7, "7"),
    ],
)
def test_what_is_no_move_is_shown_by_its_fields(move: Any, shown: str) -> None:
    """A player may send anything."""
    assert move_words(installed().game("q"), move) == shown
