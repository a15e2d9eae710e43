"""The course's data, and the player's end of its wire: forms in both directions, calls in, results out."""

import json
from typing import Any, cast

import pytest

from referee.dialects.cs4500 import forms
from referee.dialects.cs4500.player_end import Call, PlayerEnd, parse_call
from referee.games.q import tiles as q_tiles
from referee.games.q.game import QGame

from ..net.wires import Wire
from .courses import POSITION, TILE

# --- the player's end


class Answers:
    """A player that returns the same from every call; None: nothing."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def handle_call(self, call: Call, end: PlayerEnd) -> None:
        """Answer at once."""
        end.reply(self._result)

    def handle_disconnect(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("name", ["A", "Bo", "ada"])
@pytest.mark.parametrize("result", [None, [], "pass", 7])
def test_no_value_of_a_players_is_too_short_to_be_seen(name: str, result: Any) -> None:
    """A reader that waits for five bytes of a value also sees a name of one letter: each value is one line."""
    end, wire = PlayerEnd(name, Answers(result)), Wire()
    end.transport = cast("Any", wire)
    end.connectionMade()
    end.dataReceived(b'["win", [true]]')
    lines = wire.written.splitlines(keepends=True)
    assert [json.loads(line) for line in lines] == [name, "void" if result is None else result]
    for line in lines:
        assert (len(line.lstrip()) >= 5, line[-1:]) == (True, b"\n")


# --- the data


def test_the_words_are_those_of_the_game() -> None:
    """Shapes and colours are the game's own, in its order."""
    assert (q_tiles.SHAPES, q_tiles.COLORS) == (forms.SHAPES, forms.COLORS)
    for name in q_tiles.NAMES:
        assert forms.tile_names(forms.jtiles([name])) == [name]


@pytest.mark.parametrize(
    "move", [{"action": "pass"}, {"action": "exchange"}, {"action": "place", "tiles": [[-1, 2, "red-star"]]}]
)
def test_choices_are_moves(move: Any) -> None:
    """A choice and a move have the same content, in both directions."""
    assert forms.parse_choice(forms.make_choice(move)) == move


def test_what_a_player_knows_is_a_view() -> None:
    """A player's own view has it on seat 0, and the others after it in turn order."""
    game = QGame()
    state = game.restore(game.parse_options({}), POSITION)
    public = forms.jpub(game.view(state, 1), 1, "ada")
    found = forms.parse_view(json.loads(json.dumps(public)))
    assert found["map"].sort() is None
    assert found == {
        "seat": 0,
        "hand": ["green-square"],
        "scores": [7, 5],
        "order": [0, 1],
        "tiles_left": 10,
        "map": [[-1, 0, "red-clover"], [0, 0, "red-star"]],
    }


WRONG: list[Any] = [None, "x", [[]], -1]
PUB: dict[str, Any] = {
    "map": [[0, [0, json.loads(TILE)]]],
    "tile*": 3,
    "players": [{"score": 0, "name": "a", "tile*": []}, 1],
}


@pytest.mark.parametrize(
    "value",
    [
        *("setup", ["setup"], ["setup", []], ["setup", [PUB]], ["setup", [PUB, []], 1], {"setup": [PUB, []]}),
        *(["take-turn", PUB], ["take-turn", [PUB, PUB]], ["new-tiles", []], ["new-tiles", [[1]]], ["name", []]),
        *(["win", [1]], ["win", ["true"]], ["win", []], ["win", [True, True]], ["Win", [True]], None, 3, []),
        *(["take-turn", [{**PUB, field: wrong}]] for field in PUB for wrong in WRONG),
        ["take-turn", [{**PUB, "more": 1}]],
        ["take-turn", [{**PUB, "players": []}]],
        ["take-turn", [{**PUB, "map": [[0, [0, {"color": "red"}]]]}]],
    ],
)
def test_a_referee_is_not_trusted(value: Any) -> None:
    """A message that is no call, or has wrong arguments, is refused."""
    with pytest.raises(forms.MalformedValue):
        parse_call(value)
