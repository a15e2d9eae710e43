"""The input of Quincala Mixing: moves, options, layouts and positions as plain values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.chance import Dealer
from referee.games.base import BadSetup, MalformedMove
from referee.games.quincala import board as quincala_board
from referee.games.quincala import game as quincala
from referee.games.quincala.board import RECONSTRUCTION, find_field
from referee.games.quincala.game import Leg, Move, Options, Place, Stop

from .positions import GAME, broken_rule, leg, place, played, position, towers

FAR = 2**31 - 1
SPEC = Path(__file__).parents[3] / "protocol" / "SPEC.md"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"action": "stop"}, Stop()),
        ({"action": "place", "piece": "w1", "dot": [1, 2]}, Place("w1", (1, 2))),
        ({"action": "place", "piece": "b5", "dot": [-FAR - 1, FAR]}, Place("b5", (-FAR - 1, FAR))),
        ({"action": "leg", "start": [2, 4], "end": [3, 4]}, Leg((2, 4), (3, 4))),
        ({"action": "leg", "start": [0, 0], "end": [0, 0]}, Leg((0, 0), (0, 0))),
    ],
)
def test_moves_are_read(raw: Any, expected: Move) -> None:
    """A plain value with the form of a move is that move, legal or not."""
    assert expected == GAME.parse_move(raw)


DOTS: tuple[Any, ...] = (None, 0, "", {}, [], [1], [1, 2, 3], ["1", 2], [1, 2.0], [1, True], [1, FAR + 1], [[1, 2]])
PIECES: tuple[Any, ...] = (None, 1, "", "w", "w0", "w6", "W1", "1w", "w1 ", ["w1"])
MALFORMED: tuple[Any, ...] = (
    *(None, True, 0, "stop", [], ["stop"], {}, {"action": None}, {"action": "Stop"}, {"action": "pass"}),
    *({"action": "stop", "dot": [1, 2]}, {"action": "leg", "start": [1, 2]}, {"action": "leg", "end": [1, 2]}),
    *({"action": "place", "dot": [1, 2]}, {"action": "place", "piece": "w1"}, {"type": "stop"}),
    *({"action": "leg", "start": [1, 2], "end": [1, 3], "legs": []}, {"start": [1, 2], "end": [1, 3]}),
    *({"action": "place", "piece": "w1", "dot": dot} for dot in DOTS),
    *({"action": "place", "piece": piece, "dot": [1, 2]} for piece in PIECES),
    *({"action": "leg", "start": dot, "end": [1, 2]} for dot in DOTS),
    *({"action": "leg", "start": [1, 2], "end": dot} for dot in DOTS),
)


@pytest.mark.parametrize("raw", MALFORMED, ids=repr)
def test_malformed_moves_are_refused(raw: Any) -> None:
    """A plain value without the form of a move is malformed in any state; nothing is guessed."""
    with pytest.raises(MalformedMove, match=r"."):
        GAME.parse_move(raw)


def test_missing_options_take_their_defaults() -> None:
    """Without options there are five sizes, 400 turns at most, and the reconstructed board."""
    options = GAME.parse_options({})
    assert options == Options(sizes=5, layout=None, max_turns=400)
    assert options.board_layout == RECONSTRUCTION


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"size": 3}, "it knows: sizes, layout, max_turns"),
        ({"sizes": 2}, "sizes"),
        ({"sizes": 6}, "sizes"),
        ({"sizes": "3"}, "sizes"),
        ({"sizes": True}, "sizes"),
        ({"max_turns": 0}, "max_turns"),
        ({"max_turns": 100_001}, "max_turns"),
        ({"max_turns": 40.5}, "max_turns"),
        ({"layout": "quincala.toml"}, "layout"),
        ({"layout": {}}, "map"),
    ],
)
def test_bad_options_are_refused(raw: dict[str, Any], says: str) -> None:
    """An unknown option or a value out of range is named as the organiser's mistake."""
    with pytest.raises(BadSetup, match=says):
        GAME.parse_options(raw)


def test_the_board_is_called_a_reconstruction() -> None:
    """The layout, the modules and the protocol say that the board was reconstructed without the figures."""
    assert "reconstruction" in RECONSTRUCTION.note
    assert "reconstruction" in (quincala.__doc__ or "")
    assert "reconstruction" in (quincala_board.__doc__ or "")
    assert "reconstruction" in SPEC.read_text(encoding="utf-8")


def test_the_reconstruction_keeps_to_the_text() -> None:
    """There are 40 dots in two separate placing areas for each player, and paths that cover none of them."""
    field = find_field(RECONSTRUCTION.map)
    white, black = (set(area) for area in field.areas)
    assert (len(field.places), sum(field.is_dot), len(white), len(black)) == (121, 121, 40, 40)
    assert not white & black
    paths = {field.places[dot] for dot in range(121)} - {field.places[dot] for dot in white | black}
    expected = {(row, 6) for row in range(1, 12)} | {(row, column) for row in (5, 6, 7) for column in range(1, 12)}
    assert expected == paths


START = {"white": [[1, 1], [1, 2], [1, 3]], "black": [[4, 1], [4, 2], [4, 3]]}
OWN: dict[str, Any] = {"map": ["www.", "x. .", "....", "bbb."], "start": {"3": START}}


def own(**changes: Any) -> dict[str, Any]:
    """Return options with a changed small layout."""
    return {"sizes": 3, "layout": {**OWN, **changes}}


def starting(white: Any = None, black: Any = None) -> dict[str, Any]:
    """Return options whose starting position is changed."""
    return own(start={"3": {"white": white or START["white"], "black": black or START["black"]}})


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (own(map=[]), "not of one length"),
        (own(map=["www.", "x..", "....", "bbb."]), "not of one length"),
        (own(map=["www.", "x. .", "....", "bbbB"]), "map"),
        (own(map=["www.", "x. .", "....", "bbb\n"]), "map"),
        (own(map=["", "", "", ""]), "map"),
        (own(map=["w" * 27] * 4), "map"),
        (own(map=["wwbb"] * 27), "map"),
        (own(map=["....", "....", "....", "bbb."]), "white has no placing area"),
        (own(map=["www.", "....", "....", "...."]), "black has no placing area"),
        (own(start={}), "no start.3"),
        (own(start={"5": START}), "start.5: white has 3 towers, not 5"),
        (own(start={"2": START}), "start"),
        (own(start={"3": {"white": START["white"]}}), "black"),
        (own(towers=[]), "towers"),
        (starting(white=[[1, 1], [1, 2]]), "start.3: white has 2 towers, not 3"),
        (starting(black=[[4, 1], [4, 2], [4, 3], [4, 4]]), "start.3: black has 4 towers, not 3"),
        (starting(white=[[1, 1], [1, 2], [1, 5]]), "row 1, column 5 is no dot"),
        (starting(white=[[1, 1], [1, 2], [0, 1]]), "row 0, column 1 is no dot"),
        (starting(white=[[1, 1], [1, 2], [2, 3]]), "row 2, column 3 is no dot"),
        (starting(white=[[1, 1], [1, 2], [1, 2]]), "two towers stand on one dot"),
        (starting(white=[[1, 1], [1, 2], [4, 1]]), "two towers stand on one dot"),
        (starting(white=[[1, 1], [1, 2], [1]]), "start"),
        ({**own(), "sizes": 4}, "no start.4"),
    ],
)
def test_bad_layouts_are_refused(raw: dict[str, Any], says: str) -> None:
    """A layout on which no game can be played is refused, and the text says what to fix."""
    with pytest.raises(BadSetup, match=says):
        GAME.parse_options(raw)


def test_a_layout_of_ones_own_is_played_on() -> None:
    """Towers stand where the layout says; a hole ends a leg; both players may place on a dot of both areas."""
    options = GAME.parse_options(own())
    state = GAME.new(options, 2, Dealer(bytes(32)))
    full = {1: "w1 w2 w3", 4: "b1 b2 b3"}
    expected = {(row, column): full[row] for row in (1, 4) for column in (1, 2, 3)}
    assert expected == towers(state)
    assert GAME.view(state, 0).layout == tuple(OWN["map"])
    assert broken_rule(state, leg(1, 3, 2, 3)) == "quincala.leg.area"
    assert broken_rule(state, leg(1, 1, 3, 3)) is None
    assert broken_rule(state, leg(1, 2, 3, 4)) == "quincala.leg.area"
    for seat in (0, 1):
        hands = [["w1"], []] if seat == 0 else [[], ["w1"]]
        state = position({(1, 4): "w2", (4, 4): "b2"}, options=own(), to_move=seat, hands=hands)
        assert broken_rule(state, place("w1", 2, 1)) is None
        assert broken_rule(state, place("w1", 2, 2)) == "quincala.place.area"


ONE = [[5, 5, ["w1"]], [6, 6, ["b1"]]]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (None, "position of quincala"),
        ({}, "board"),
        ({"board": [[5, 5]]}, "board"),
        ({"board": [[5, 5, []]]}, "board"),
        ({"board": [[5, 5, ["w6"]]]}, "board"),
        ({"board": [[5, 12, ["w1"]]]}, "row 5, column 12 is not in the playing area"),
        ({"board": [[5, 5, ["w1"]], [5, 5, ["w2"]]]}, "row 5, column 5 is named twice"),
        ({"board": [[5, 5, ["w1", "w1"]]]}, "two pieces of one size"),
        ({"board": [[5, 5, ["w1", "b1"]]]}, "two pieces of one size"),
        ({"board": [[5, 5, ["w4"]]]}, "w4 is not played with 3 sizes"),
        ({"board": [[5, 5, ["w3"]]], "hands": [["w3", "w3"], ["w3"]]}, "4 of w3, there are 3"),
        ({"board": ONE, "hands": [["w4"], []]}, "w4 is not played with 3 sizes"),
        ({"board": ONE, "hands": [[]]}, "hands"),
        ({"board": ONE, "to_move": 2}, "to_move"),
        ({"board": ONE, "turns": -1}, "turns"),
        ({"board": ONE, "skipped": 1}, "skipped"),
        ({"board": ONE, "immune": [[5, 5, ["w1"]]]}, "not all immune pieces"),
        ({"board": ONE, "immune": [[6, 6, ["b2"]]]}, "not all immune pieces"),
        ({"board": ONE, "immune": [[6, 7, ["b1"]]]}, "not all immune pieces"),
        ({"board": ONE, "pile": []}, "pile"),
    ],
)
def test_bad_positions_are_refused(raw: Any, says: str) -> None:
    """A position that is malformed, or has pieces that the game does not have, is refused with the reason."""
    with pytest.raises(BadSetup, match=says):
        GAME.restore(GAME.parse_options({"sizes": 3}), raw)


def test_a_view_is_the_state() -> None:
    """A state that a seat imagines from its view plays on as the real state does, even in the middle of a turn."""
    state = position({(2, 4): "w1 w2 w3", (3, 4): "b1", (9, 9): "b2"}, hands=[["w1"], []])
    for move in (place("w1", 1, 1), leg(2, 4, 3, 4), leg(3, 4, 3, 6)):
        imagined = GAME.imagine(Options(), GAME.view(state, 1), Dealer(bytes(32)))
        assert GAME.is_same_turn(state) == GAME.is_same_turn(imagined)
        assert GAME.play(state, move) == GAME.play(imagined, move)
        state = played(state, move)


def test_the_view_describes_itself() -> None:
    """The schema names every field of a view; authors in other languages read nothing else."""
    view: Mapping[str, Any] = msgspec.json.schema(GAME.view_type)["$defs"]["View"]
    shown = msgspec.to_builtins(GAME.view(GAME.new(Options(), 2, Dealer(bytes(32))), 0))
    assert view["properties"].keys() == shown.keys()
