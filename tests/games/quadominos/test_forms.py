"""The input of Quad-Ominos: moves, options and positions as plain values, well formed or not."""

from typing import Any

import msgspec
import pytest

from referee.games.base import BadSetup, MalformedMove
from referee.games.quadominos.forms import Done, Lay, Move, Points
from referee.games.quadominos.game import FIXED_DEALS, QuadOminos
from referee.games.quadominos.rounds import Options

from .states import ONE, position, state_of

GAME = QuadOminos()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"action": "points"}, Points()),
        ({"action": "done"}, Done()),
        ({"action": "lay", "row": 0, "column": -1, "tile": "2240"}, Lay(0, -1, "2240")),
        ({"action": "lay", "row": -(2**31), "column": 2**31 - 1, "tile": "0245"}, Lay(-(2**31), 2**31 - 1, "0245")),
    ],
)
def test_moves_are_read(raw: Any, expected: Move) -> None:
    """A plain value with the form of a move is that move, legal or not."""
    assert expected == GAME.parse_move(raw)


WRONG_PLACES: tuple[Any, ...] = (None, "0", 0.5, 1.0, True, 2**31, -(2**31) - 1, [0])
WRONG_TILES: tuple[Any, ...] = (None, 224, "", "224", "02244", "0226", "0224\n", " 0224", "٠٢٢٤", "0-24", [0, 2, 2, 4])
LAY = {"action": "lay", "row": 0, "column": 1, "tile": "0224"}
MALFORMED: tuple[Any, ...] = (
    *(None, True, 0, 1.5, "points", [], ["done"], {}, {"action": None}, {"action": 0}, {"action": "Points"}),
    *({"action": "points", "tile": "0224"}, {"action": "done", "count": 2}, {"action": "draw"}, {"action": "pass"}),
    *({**LAY, "row": value} for value in WRONG_PLACES),
    *({**LAY, "column": value} for value in WRONG_PLACES),
    *({**LAY, "tile": value} for value in WRONG_TILES),
    *({name: value for name, value in LAY.items() if name != left_out} for left_out in LAY),
    *({**LAY, "rotation": 1}, {**LAY, "action": "Lay"}, [0, 1, "0224"]),
)


@pytest.mark.parametrize("raw", MALFORMED, ids=repr)
def test_malformed_moves_are_refused(raw: Any) -> None:
    """A plain value without the form of a move is malformed in any state; nothing is guessed."""
    with pytest.raises(MalformedMove, match=r"."):
        GAME.parse_move(raw)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"bonus": 25}, "it knows: target, rounds, max_rounds, chain_bonus"),
        ({"target": 0}, "target"),
        ({"target": 1_000_001}, "target"),
        ({"target": "800"}, "target"),
        ({"target": None}, "target"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 1001}, "rounds"),
        ({"rounds": 1.5}, "rounds"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_rounds": None}, "max_rounds"),
        ({"chain_bonus": 1}, "chain_bonus"),
    ],
)
def test_bad_options_are_refused(raw: dict[str, Any], says: str) -> None:
    """An unknown option or a value out of range is named as the organiser's mistake."""
    with pytest.raises(BadSetup, match=says):
        GAME.parse_options(raw)


def test_missing_options_take_their_defaults() -> None:
    """Without options, 800 points end the game, and additional tiles earn nothing."""
    expected = Options(target=800, rounds=None, max_rounds=100, chain_bonus=False)
    assert expected == GAME.parse_options({}) == GAME.parse_options({"rounds": None})


HANDS = [{"score": 0, "hand": ["0002"]}, {"score": 0, "hand": ["1111"]}]
GIVEN = {"board": [[0, 0, "0224"]], "well": [], "players": HANDS}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (None, "position of quadominos"),
        ([], "position of quadominos"),
        ({}, "board"),
        ({**GIVEN, "round": 3}, "round"),
        ({**GIVEN, "players": HANDS[:1]}, "players"),
        ({**GIVEN, "players": HANDS * 7}, "players"),
        ({**GIVEN, "players": [HANDS[0], {"score": 0, "hand": []}]}, "hand"),
        ({**GIVEN, "players": [HANDS[0], {"score": 0.5, "hand": ["1111"]}]}, "score"),
        ({**GIVEN, "players": [HANDS[0], {"hand": ["1111"]}]}, "score"),
        ({**GIVEN, "well": ["22"]}, "well"),
        ({**GIVEN, "well": ["2211"]}, "no tile is printed 2211"),
        ({**GIVEN, "well": ["0245"]}, "no tile is printed 0245"),
        ({**GIVEN, "well": ["1111"]}, "a tile twice"),
        ({**GIVEN, "well": ["0224"]}, "a tile twice"),
        ({**GIVEN, "board": [[0, 0, "0242"]]}, "no tile has the numbers 0242 in this order"),
        ({**GIVEN, "board": [[0, 0, "0224"], [0, 0, "2312"]]}, "2312 can't be laid on row 0, column 0"),
        ({**GIVEN, "board": [[0, 0, "0224"], [0, 1, "1223"]]}, "1223 can't be laid on row 0, column 1"),
        ({**GIVEN, "board": [[0, 0, "0224"], [1, 1, "2312"]]}, "2312 can't be laid on row 1, column 1"),
        ({**GIVEN, "board": [[0, 1, "2312"], [5, 5, "0224"]]}, "0224 can't be laid on row 5, column 5"),
    ],
)
def test_bad_positions_are_refused(raw: Any, says: str) -> None:
    """A position without the form of one, or that no game can reach, is refused with the reason."""
    with pytest.raises(BadSetup, match=says):
        GAME.restore(Options(), raw)


def test_a_position_is_restored() -> None:
    """Table, hands, well, scores and the turn are those that were given."""
    given = position(["0002", "1234"], ["1111"], board=ONE, well=["0012", "0001"], scores=[-20, 7])
    view = GAME.view(GAME.restore(Options(), given), 0)
    assert (view.hand, view.hand_sizes, view.board) == (["0002", "1234"], [2, 1], ONE)
    assert (view.scores, view.order, view.well, view.round, view.step) == ([-20, 7], [0, 1], 2, 1, "lay")


def test_a_position_is_given_what_its_turn_brings() -> None:
    """If the first player can't lay a tile, the referee draws for it at once."""
    state = state_of(["1111"], ["0002"], well=["3333", "0012"])
    assert (state.scores, state.drew, GAME.to_move(state)) == ((-40, 0), (2, 0), 0)


def test_later_deals_of_a_position_differ() -> None:
    """A given position has no chance of its own: its later deals are always the same, and all of them differ."""
    deals = [FIXED_DEALS.later(deal)(range(125)) for deal in range(1, 100)]
    assert all(sorted(deal) == list(range(125)) for deal in deals)
    assert len({tuple(deal) for deal in deals}) == len(deals)
    assert deals[0] == FIXED_DEALS.later(1)(range(125))


def test_the_schema_documents_every_field() -> None:
    """The JSON Schema of view and move has the coordinates and numbers as plain types."""
    _, parts = msgspec.json.schema_components([GAME.view_type, Lay], ref_template="{name}")
    assert {"row", "column", "tile", "action"} == parts["Lay"]["properties"].keys()
    assert parts["Lay"]["properties"]["tile"]["pattern"] == "^[0-5]*$"
    assert parts["View"]["properties"]["step"]["enum"] == ["bonus", "extra", "lay", "open", "second"]
