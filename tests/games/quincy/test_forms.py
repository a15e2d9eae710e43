"""The input of Quincy: moves, options and positions as plain values, well formed or not."""

from typing import Any

import msgspec
import pytest

from referee.games.base import BadSetup, MalformedMove
from referee.games.quincy.forms import Add, Discard, Move, Remove

from .playing import GAME, OPTIONS, position, row


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"action": "add", "domino": [3, 5], "square": [5, 3]}, Add((3, 5), (5, 3))),
        ({"action": "add", "domino": [0, 0], "square": [9, 1]}, Add((0, 0), (9, 1))),
        ({"action": "remove", "domino": [0, 9], "square": [1, 9]}, Remove((0, 9), (1, 9))),
        ({"action": "remove", "domino": [3, 3], "square": [1, 1]}, Remove((3, 3), (1, 1))),
        ({"action": "discard", "domino": [4, 4]}, Discard((4, 4))),
    ],
)
def test_moves_are_read(raw: Any, expected: Move) -> None:
    """A plain value with the form of a move is that move, legal or not."""
    assert expected == GAME.parse_move(raw)


WRONG_DOMINOES: tuple[Any, ...] = (
    *(None, 35, "35", [], [3], [3, 5, 5], [-1, 5], [3, 10], [3, "5"], [3.0, 5], [True, 5], {"3": 5}),
)
WRONG_SQUARES: tuple[Any, ...] = (
    *(None, 53, "53", [], [5], [5, 3, 1], [0, 3], [5, 0], [10, 3], [5, 10], [-1, 3], [5, 3.5], [5, None], [[5, 3]]),
)
MALFORMED: tuple[Any, ...] = (
    *(None, True, 0, "add", [], ["add", [3, 5], [5, 3]], {}, {"action": None}, {"action": "pass"}, {"action": "Add"}),
    *({"action": "add", "domino": value, "square": [5, 3]} for value in WRONG_DOMINOES),
    *({"action": "remove", "domino": [0, value], "square": [5, 3]} for value in (None, 10, "5")),
    *({"action": "discard", "domino": value} for value in WRONG_DOMINOES),
    *({"action": "add", "domino": [3, 5], "square": value} for value in WRONG_SQUARES),
    *({"action": "remove", "domino": [0, 5], "square": value} for value in WRONG_SQUARES),
    {"action": "add", "domino": [3, 5]},
    {"action": "discard", "domino": [4, 4], "square": [4, 4]},
    {"action": "add", "domino": [3, 5], "square": [5, 3], "stone": "A"},
    {"domino": [3, 5], "square": [5, 3]},
)


@pytest.mark.parametrize("raw", MALFORMED, ids=repr)
def test_malformed_moves_are_refused(raw: Any) -> None:
    """A plain value without the form of a move is malformed in any state; nothing is guessed."""
    with pytest.raises(MalformedMove, match=r"."):
        GAME.parse_move(raw)


@pytest.mark.parametrize(
    ("hand", "raw"),
    [
        ("49", {"action": "add", "domino": [9, 4], "square": [4, 9]}),
        ("04", {"action": "remove", "domino": [4, 0], "square": [4, 4]}),
        ("44", {"action": "discard", "domino": [4, 4]}),
        ("45", {"action": "discard", "domino": [5, 4]}),
    ],
)
def test_a_domino_has_no_direction(hand: str, raw: dict[str, Any]) -> None:
    """Both ways round it is the same play, and all seats are sent it in the same form."""
    state = GAME.restore(OPTIONS, position(hand, "11", pile="22 33", a=[(4, 5), (5, 4)], b=[(4, 4)]))
    again = {**raw, "domino": raw["domino"][::-1]}
    after, after_again = (GAME.play(state, GAME.parse_move(item)) for item in (raw, again))
    assert after == after_again
    assert GAME.news(after).public["domino"] == tuple(sorted(raw["domino"]))


@pytest.mark.parametrize("raw", [{"seats": 2}, {"": None}, {"hand_size": 5}])
def test_there_are_no_options(raw: dict[str, Any]) -> None:
    """An organiser who sets an option gets an error."""
    with pytest.raises(BadSetup, match=r"options of quincy: .*it knows: none"):
        GAME.parse_options(raw)


GIVEN = position("12", "34", pile="56")
TWO_LINES = position("12", "34", b=[*row(1, 1, 4), *row(5, 1, 4)])["board"]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (None, "position of quincy"),
        ([], "position of quincy"),
        ({}, "board"),
        ({**GIVEN, "turn": 0}, "turn"),
        ({**GIVEN, "board": GIVEN["board"][:8]}, "board"),
        ({**GIVEN, "board": [*GIVEN["board"], "........."]}, "board"),
        ({**GIVEN, "board": [*GIVEN["board"][:8], "........"]}, "board"),
        ({**GIVEN, "board": [*GIVEN["board"][:8], "........C"]}, "board"),
        ({**GIVEN, "board": [*GIVEN["board"][:8], ".........\n"]}, "board"),
        ({**GIVEN, "hands": [[[1, 2]]]}, "hands"),
        ({**GIVEN, "hands": [[], [], []]}, "3 hands, not 2 or 4"),
        ({**GIVEN, "hands": [[], [], [], [], []]}, "hands"),
        ({**GIVEN, "hands": [[[1, 10]], []]}, "hands"),
        ({**GIVEN, "pile": [[1, 2]]}, "a domino is in two places"),
        ({**GIVEN, "pile": [[2, 1]]}, "a domino is in two places"),
        ({**GIVEN, "pile": [[5, 6], [5, 6]]}, "a domino is in two places"),
        ({**GIVEN, "face_up": [[3, 4]]}, "a domino is in two places"),
        ({**GIVEN, "pile": None}, "pile"),
        ({**GIVEN, "board": TWO_LINES}, "somebody has two lines already"),
    ],
)
def test_bad_positions_are_refused(raw: Any, says: str) -> None:
    """A position without the form of one, or that can't be reached, is refused with the reason."""
    with pytest.raises(BadSetup, match=says):
        GAME.restore(OPTIONS, raw)


def test_a_position_is_kept_as_it_was_given() -> None:
    """Hands, the pile and the dominoes that lie face up come from the position; all others are out of play."""
    state = GAME.restore(OPTIONS, position("12 05", "34", pile="56 11", face_up="99 88", a=[(1, 2)], b=row(9, 1, 4)))
    GAME.check_invariants(state)
    view = GAME.view(state, 0)
    assert (view.hand, view.hand_sizes, view.pile) == ([(1, 2), (0, 5)], [2, 1], 2)
    assert view.face_up == [(9, 9), (8, 8)]
    assert (view.board[0], view.board[8]) == (".A.......", "BBBB.....")
    assert [(line.stone, line.squares) for line in view.lines] == [("B", row(9, 1, 4))]
    assert len(state.face_down) == 55 - 3 - 2 - 2


def test_the_schema_explains_every_action() -> None:
    """Authors in any language find the meaning of each action in the JSON Schema."""
    (view, move), components = msgspec.json.schema_components([GAME.view_type, GAME.move_type])
    assert view == {"$ref": "#/$defs/View"}
    assert set(move["discriminator"]["mapping"]) == {"add", "remove", "discard"}
    assert all(
        components[name]["description"] for name in ("View", "Add", "Remove", "Discard", "PublicEvent", "StoneLine")
    )
