"""The drawings of Quincala Mixing: all pieces differ, and everything stands in its place."""

import re
from typing import Any, Literal
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from referee.chance import Dealer
from referee.games.quincala.game import Options
from referee.games.quincala.turns import State
from referee.testing import check_drawing

from .positions import GAME, STOP, Towers, leg, place, played, position

SVG = "{http://www.w3.org/2000/svg}"
STEP, MARGIN = 56, 24
BOARD: Towers = {(2, 4): "w1 w2 b3", (5, 5): "w4 w5", (9, 9): "b1 b2 w3 w4 b5", (11, 11): "b4"}


def drawn(state: State) -> ET.Element:
    """Return the drawing of a state after checks."""
    svg = GAME.draw_svg(state)
    check_drawing(svg)
    return ET.fromstring(svg)


def spot(x: float, y: float) -> tuple[int, int]:
    """Return (row, column) of a point on the board; row 1 is at the bottom."""
    return 11 - int(y - MARGIN) // STEP, int(x - MARGIN) // STEP + 1


def shown(root: ET.Element, pattern: str) -> list[tuple[tuple[int, int], str]]:
    """Return ((row, column), name) of the board's symbols, but not of those on the seats' cards, from top to bottom."""
    uses = ((use, (use.get("href") or "").removeprefix("#n-")) for use in root.findall(f"{SVG}use"))
    return [
        (spot(float(use.get("x", "")), float(use.get("y", ""))), name)
        for use, name in uses
        if re.fullmatch(pattern, name)
    ]


def cards(root: ET.Element) -> dict[int, ET.Element]:
    """Return the seats' groups by seat."""
    found = ((group, group.find(f"{SVG}text[@data-seat]")) for group in root.iter(f"{SVG}g"))
    return {int(text.get("data-seat", "")): group for group, text in found if text is not None}


def texts(element: ET.Element) -> list[str]:
    """Return all texts inside an element but the hidden titles."""
    return [found.text or "" for found in element.iter(f"{SVG}text")]


def test_every_piece_stands_on_its_dot() -> None:
    """Each tower is drawn once, its pieces within the square of the dot, the smallest on top."""
    root = drawn(position(BOARD))
    pieces: dict[tuple[int, int], list[str]] = {}
    for where, name in shown(root, r"[wb][1-5]-[1-5]"):
        pieces.setdefault(where, []).append(name[:2])
    assert {dot: " ".join(names) for dot, names in pieces.items()} == dict(BOARD)


def test_every_piece_looks_different() -> None:
    """A size has its figure and its length, a colour its fill, so any two pieces differ even without hues."""
    symbols = drawn(position({(5, 5): "w1"})).iter(f"{SVG}symbol")
    looks = {}
    for symbol in symbols:
        name = (symbol.get("id") or "").removeprefix("n-")
        if re.fullmatch(r"[wb][1-5]-1", name):
            bar, figure = symbol.find(f"{SVG}rect"), symbol.find(f"{SVG}text")
            assert bar is not None
            assert figure is not None
            assert figure.text == name[1]
            looks[name] = (bar.get("width"), bar.get("fill"))
            assert bar.get("fill") != figure.get("fill")
    assert len(looks) == len(set(looks.values())) == 10
    assert len({fill for _, fill in looks.values()}) == 2


@pytest.mark.parametrize("sizes", [3, 4, 5])
def test_towers_of_any_height_fit_their_dots(sizes: int) -> None:
    """No piece of a full tower reaches into the next square."""
    root = drawn(GAME.new(GAME.parse_options({"sizes": sizes}), 2, Dealer(bytes(32))))
    tall = {
        (symbol.get("id") or "").removeprefix("n-"): float(bar.get("height", "")) / 2
        for symbol in root.iter(f"{SVG}symbol")
        if (bar := symbol.find(f"{SVG}rect")) is not None
    }
    for use in root.findall(f"{SVG}use"):
        name = (use.get("href") or "").removeprefix("#n-")
        if re.fullmatch(r"[wb][1-5]-[1-5]", name):
            middle = (float(use.get("y", "")) - MARGIN) % STEP
            assert tall[name] <= middle <= STEP - tall[name]


def test_the_placing_areas_are_tinted() -> None:
    """40 dots of each player's colour, White's below, and a dot on every empty one."""
    root = drawn(position(BOARD))
    white, black = (dict(shown(root, f"area-{letter}")).keys() for letter in "wb")
    assert (len(white), len(black)) == (40, 40)
    assert {row for row, _ in white} == {1, 2, 3, 4}
    assert {row for row, _ in black} == {8, 9, 10, 11}
    assert len(shown(root, "dot")) == 121 - len(BOARD)


@pytest.mark.parametrize("sizes", [3, 4, 5])
def test_the_figure_of_an_immune_piece_is_free(sizes: Literal[3, 4, 5]) -> None:
    """At every size and height of the tower, the marks lie within the piece, on both sides of its figure."""
    root = drawn(GAME.new(Options(sizes=sizes), 2, Dealer(bytes(32))))
    symbols = {symbol.get("id", ""): symbol for symbol in root.iter(f"{SVG}symbol")}
    marked = [name for name in symbols if name.endswith("-immune")]
    assert len(marked) >= 2 * sizes
    for name in marked:
        piece = symbols[name.removesuffix("-immune")]
        (bar,), (figure,) = piece.findall(f"{SVG}rect"), piece.findall(f"{SVG}text")
        half_figure = 0.35 * float(figure.get("font-size", ""))  # a bold digit is 0.7 em wide
        left, right = symbols[name].iter(f"{SVG}rect")
        assert float(left.get("x", "")) == float(bar.get("x", ""))
        assert float(left.get("x", "")) + float(left.get("width", "")) <= -half_figure
        assert half_figure <= float(right.get("x", ""))
        assert float(right.get("x", "")) + float(right.get("width", "")) == -float(bar.get("x", ""))
        for end in (left, right):
            assert (end.get("y"), end.get("height")) == (bar.get("y"), bar.get("height"))


def test_immune_pieces_are_marked() -> None:
    """The marks are on pieces that may not be knocked, and on a piece that has just knocked."""
    root = drawn(position({(5, 5): "b1 b2", (9, 9): "w1"}, immune={(5, 5): "b2"}))
    assert shown(root, ".*-immune") == [((5, 5), "b2-1-immune")]
    state = played(position({(5, 5): "w1 w2", (5, 6): "b1", (9, 9): "b3"}), leg(5, 5, 5, 6))
    assert shown(drawn(state), ".*-immune") == [((5, 6), "w1-1-immune")]


def path(root: ET.Element) -> list[tuple[int, int]]:
    """Return the dots that the line of the last move connects."""
    line = root.find(f"{SVG}polyline")
    points = [] if line is None else line.get("points", "").split()
    return [spot(*map(float, point.split(","))) for point in points]


def test_the_last_move_is_a_line() -> None:
    """The line goes from the start of the first leg over the end of each leg.

    It stays until the next turn has a step.
    """
    state = position({(2, 4): "w1 w2 w3", (9, 9): "b2", (8, 1): "w5"}, hands=[[], ["b1"]])
    assert path(drawn(state)) == []
    state = played(state, leg(2, 4, 4, 6), leg(4, 6, 5, 6))
    assert path(drawn(state)) == [(2, 4), (4, 6), (5, 6)]
    state = played(state, STOP)
    assert path(drawn(state)) == [(2, 4), (4, 6), (5, 6)]
    state = played(state, place("b1", 11, 1))
    assert path(drawn(state)) == []
    framed = [rect for rect in drawn(state).findall(f"{SVG}rect") if rect.get("stroke-dasharray")]
    assert len(framed) == 1
    assert spot(float(framed[0].get("x", "")) + STEP / 2, float(framed[0].get("y", "")) + STEP / 2) == (11, 1)


def test_hands_are_shown() -> None:
    """Each card has the kinds that its seat holds, how many of each, and how many in all."""
    found = cards(drawn(position(BOARD, hands=[["w1", "b5", "w1"], []])))
    uses = [(use.get("href") or "").removeprefix("#n-")[:2] for use in found[0].iter(f"{SVG}use")]
    assert uses == ["w1", "b5"]
    assert {"seat 0", "White", "in hand: 3", "x2", "x1", "to place"} <= set(texts(found[0]))
    assert {"seat 1", "Black", "in hand: nothing"} <= set(texts(found[1]))


def marked(root: ET.Element) -> list[bool]:
    """Return for each seat whether it is marked as the one to move."""
    found = cards(root)
    return [any(title.text == "to move" for title in found[seat].iter(f"{SVG}title")) for seat in (0, 1)]


def test_whose_turn_it_is() -> None:
    """The seat to move is marked, with its task; a seat that has left is out; after the end no seat is marked."""
    state = position({(2, 4): "w1 w2", (9, 9): "b2"})
    assert marked(drawn(state)) == [True, False]
    going_on = played(state, leg(2, 4, 3, 4))
    assert "to go on or stop" in texts(cards(drawn(going_on))[0])
    assert marked(drawn(played(going_on, STOP))) == [False, True]
    dropped = drawn(GAME.drop(state, 0))
    assert marked(dropped) == [False, False]
    assert "out" in texts(cards(dropped)[0])
    assert {"0 of 400 full turns over,", "each of one or more steps", "the game is over"} <= set(texts(dropped))


def test_the_winner_is_named() -> None:
    """After the end, the winner's card says so."""
    board = {(6, 1): "b2 w1", (6, 3): "b1 w2", (6, 5): "b1", (5, 5): "w3"}
    found = cards(drawn(played(position(board, options={"sizes": 3}), leg(5, 5, 6, 5))))
    assert ["won" in texts(found[seat]) for seat in (0, 1)] == [True, False]
    assert "mixed sizes: 3 of 3" in texts(found[0])


def test_a_layout_of_ones_own_is_drawn() -> None:
    """The document is as large as the board and the cards need, and has nothing where there is no dot."""
    start = {"white": [[1, 1], [1, 2], [1, 3]], "black": [[3, 1], [3, 2], [3, 3]]}
    raw: Any = {"sizes": 3, "layout": {"map": ["www", ". x", "bbb"], "start": {"3": start}}}
    root = drawn(GAME.new(GAME.parse_options(raw), 2, Dealer(bytes(32))))
    assert len(shown(root, "dot")) == 2
    _, _, width, height = map(float, root.get("viewBox", "").split())
    assert (width, height) >= (3 * STEP, 3 * STEP)


def text_of(state: State) -> str:
    """Return the drawing for a terminal that has no colours."""
    console = Console(color_system=None, width=120, file=None, record=False)
    with console.capture() as caught:
        console.print(GAME.draw_text(state), highlight=False)
    return caught.get()


def test_the_text_can_be_read_without_colours() -> None:
    """White's pieces are digits and Black's letters, each at the place of its size; rows go from Black to White."""
    lines = text_of(position(BOARD, hands=[["w1", "b2"], []])).splitlines()
    assert [line.split()[0] for line in lines[:11]] == [str(row) for row in range(11, 0, -1)]
    assert lines[9].split() == ["2", *"vvv", "12c--", "v", ".", *"vvvvv"]
    assert lines[2].split()[9] == "ab34e"
    assert "seat 0 white" in lines[13]
    assert "hand: 1x1 bx1" in lines[13]
    assert "to place" in lines[13]


def test_no_dot_looks_like_a_piece() -> None:
    """Black's piece of size 2 differs from each kind of dot by its character, and the line below names them all."""
    dots = set(
        "".join("".join(line.split()[1:]) for line in text_of(position({}, hands=[["w1"], []])).splitlines()[:11])
    )
    assert dots == set("v^.")
    lines = text_of(position({(11, 1): "b2", (1, 1): "w2"})).splitlines()
    assert lines[0].split()[1:3] == ["-b---", "^"]
    assert lines[10].split()[1:3] == ["-2---", "v"]
    assert "1-5: White's pieces, a-e: Black's; v, ^, x: White, Black, both place there" in lines


def test_the_text_tells_of_the_last_turn() -> None:
    """The last move, the placed pieces and the immune pieces are named in words."""
    state = position({(2, 4): "w1 w2 w3", (4, 4): "b3", (9, 9): "b1"}, hands=[["w5"], []])
    text = text_of(played(state, place("w5", 1, 1), leg(2, 4, 4, 4), STOP))
    assert text.splitlines()[-3:] == ["last move: 2,4 > 4,4", "placed on: 1,1", "immune: w3 on 4,4"]


def test_a_long_move_fits_on_a_line() -> None:
    """For a move of many legs the text shows its start and the ends of the last six legs."""
    state = position({(5, 5): "w1 w3", (5, 6): "w2", (11, 1): "b1"})
    for number in range(9):
        state = played(state, leg(5, 5 + number % 2, 5, 6 - number % 2))
    expected = "last move: 5,5 > ... > 5,5 > 5,6 > 5,5 > 5,6 > 5,5 > 5,6"
    assert text_of(state).splitlines()[-1] == expected
    assert max(len(line) for line in text_of(state).splitlines()) < 80


def test_a_drawing_stays_small() -> None:
    """A drawing of the start is no larger than its parts need, because pages hold hundreds of them."""
    assert len(GAME.draw_svg(GAME.new(Options(), 2, Dealer(bytes(32))))) < 40_000
