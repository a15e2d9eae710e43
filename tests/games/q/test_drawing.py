"""The drawing of Q: all tiles differ, even without colours, and everything lies in its place."""

from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.text import Text

from referee.games.q.forms import State
from referee.games.q.game import QGame
from referee.games.q.tiles import COLORS, NAMES, SHAPES
from referee.testing import check_drawing

from ...match.folding import place

GAME = QGame()
SVG = "{http://www.w3.org/2000/svg}"
SIDE = 40
RGB = tuple[float, float, float]


def state_of(
    *hands: list[str], board: tuple[tuple[int, int, str], ...] = ((0, 0, "red-star"),), scores: tuple[int, ...] = ()
) -> State:
    """Return a position with these hands."""
    points = [*scores, *([0] * len(hands))]
    players = [{"score": points[seat], "hand": hand} for seat, hand in enumerate(hands)]
    position = {"map": [list(spot) for spot in board], "pile": ["blue-clover"] * 3, "players": players}
    return GAME.restore(GAME.parse_options({}), position)


def drawn(state: State) -> ET.Element:
    """Return the drawing of a state after checks."""
    svg = GAME.draw_svg(state)
    check_drawing(svg)
    return ET.fromstring(svg)


def played(state: State, raw: Any) -> State:
    """Return a state after a plain move."""
    return GAME.deliver(GAME.play(state, GAME.parse_move(raw)))


def placed(root: ET.Element) -> list[tuple[int, int, str]]:
    """Return (row, column, element) of everything on the map."""
    return [
        (int(use.get("y", "")) // SIDE, int(use.get("x", "")) // SIDE, href(use)) for use in root.findall(f"{SVG}use")
    ]


def href(use: ET.Element) -> str:
    """Return the symbol that a `use` shows, without the game's prefix."""
    return (use.get("href") or "").removeprefix("#q-")


def texts(element: ET.Element) -> list[str]:
    """Return all texts inside an element but the hidden titles."""
    return [found.text or "" for found in element.iter(f"{SVG}text")]


def cards(root: ET.Element) -> list[ET.Element]:
    """Return the seats' groups."""
    return [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}text[@data-seat]") is not None]


# --- tiles

ROOT = drawn(state_of([], []))
SYMBOLS = {(symbol.get("id") or "").removeprefix("q-"): symbol for symbol in ROOT.iter(f"{SVG}symbol")}


def look(name: str) -> tuple[str, str, str]:
    """Return shape, colour and letter of a tile."""
    symbol = SYMBOLS[name]
    shape = next(use for use in symbol.iter(f"{SVG}use") if href(use) in SHAPES)
    return href(shape), shape.get("fill", ""), texts(symbol)[0]


def test_every_kind_looks_different() -> None:
    """The 36 kinds are six outlines times six colours times six letters, and each has its name as a title."""
    looks = {name: look(name) for name in NAMES}
    assert len(set(looks.values())) == 36
    for name, (shape, _, letter) in looks.items():
        color, _, expected = name.partition("-")
        assert (expected, color[0].upper()) == (shape, letter)
        assert SYMBOLS[name].findtext(f"{SVG}title") == f"{color} {expected}"
    for color in COLORS:
        assert len({looks[f"{color}-{shape}"][1:] for shape in SHAPES}) == 1
    outlines = {ET.tostring(SYMBOLS[shape][0]) for shape in SHAPES}
    assert len(outlines) == 6


TONES = {color: look(f"{color}-star")[1] for color in COLORS}
# Machado, Oliveira and Fernandes, 2009, severity 1: linear RGB as protanopes, deuteranopes and tritanopes see it.
SIGHTS: dict[str, tuple[RGB, RGB, RGB]] = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def linear(tone: str) -> RGB:
    """Return the linear red, green and blue of `#rrggbb`."""
    red, green, blue = (int(tone[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def times(rows: tuple[RGB, RGB, RGB], color: RGB) -> RGB:
    """Multiply a matrix with a colour, kept within 0 and 1."""
    first, second, third = (
        min(max(sum(factor * part for factor, part in zip(row, color, strict=True)), 0.0), 1.0) for row in rows
    )
    return first, second, third


def lab(color: RGB) -> RGB:
    """Return CIE L*a*b* of linear RGB; the rows are those of sRGB to XYZ, each divided by D65's white."""
    rows = ((0.4338, 0.3762, 0.1899), (0.2127, 0.7152, 0.0722), (0.0177, 0.1095, 0.8728))
    x, y, z = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in times(rows, color)
    )  # fmt: skip
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("sight", SIGHTS)
def test_no_two_colours_look_alike(sight: str) -> None:
    """For every kind of colour vision, two colours differ by at least 20 of CIE 1976; 2 can just be seen."""
    seen = {color: lab(times(SIGHTS[sight], linear(tone))) for color, tone in TONES.items()}
    for one, other in combinations(seen, 2):
        apart = sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5
        assert apart >= 20, f"{one} and {other} are {apart:.0f} apart"


@pytest.mark.parametrize(
    ("color", "least", "most"),
    [
        ("red", 345, 375),
        ("green", 120, 170),
        ("blue", 205, 235),
        ("yellow", 48, 65),
        ("orange", 22, 42),
        ("purple", 260, 295),
    ],
)
def test_the_colours_are_those_of_the_names(color: str, least: int, most: int) -> None:
    """A red tile is red: its hue lies where people name it so."""
    red, green, blue = (int(TONES[color][at : at + 2], 16) for at in (1, 3, 5))
    high, spread = max(red, green, blue), max(red, green, blue) - min(red, green, blue)
    turn = {red: (green - blue) / spread, green: 2 + (blue - red) / spread, blue: 4 + (red - green) / spread}[high]
    hue = turn * 60 % 360
    assert any(least <= hue + turned <= most for turned in (0, 360))


def luminance(tone: str) -> float:
    """Return the relative luminance of `#rrggbb`, 0 to 1."""
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear(tone), strict=True))


@pytest.mark.parametrize("color", COLORS)
def test_the_letter_can_be_read(color: str) -> None:
    """A letter stands out from its colour by WCAG's 4.5 to 1."""
    letter = next(SYMBOLS[f"{color}-circle"].iter(f"{SVG}text")).get("fill", "")
    dark, light = sorted(luminance(tone) for tone in (letter, TONES[color]))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


# --- the map


def test_tiles_lie_on_their_squares() -> None:
    """Every tile of the map is drawn once, on its row and column, within the document."""
    board = ((0, 0, "red-star"), (0, 1, "red-clover"), (-3, 0, "blue-8star"), (12, 0, "purple-diamond"))
    root = drawn(state_of([], [], board=board))
    assert sorted(board) == sorted(placed(root))
    left, top, width, height = map(int, root.get("viewBox", "").split())
    for row, column, _ in board:
        assert left <= column * SIDE <= left + width - SIDE
        assert top <= row * SIDE <= top + height - SIDE


def test_rows_and_columns_are_numbered() -> None:
    """Each number stands at both ends of its row or column, with one free row and column around the tiles."""
    board = ((0, 0, "red-star"), (-8, 0, "red-star"), (0, 30, "red-star"))
    numbers = texts(drawn(state_of([], [], board=board)))
    for number in range(-9, 2):
        assert numbers.count(str(number)) >= 2
    for number in range(2, 32):
        assert numbers.count(str(number)) >= 2
    assert "32" not in numbers
    assert "-10" not in numbers


def test_the_last_tiles_are_marked() -> None:
    """The tiles of the last placement are marked; after an exchange there are none."""
    state = state_of(["red-clover", "red-circle", "blue-star"], ["blue-star"])
    after = played(state, place((0, 1, "red-clover"), (0, 2, "red-circle")))
    marked = [(row, column) for row, column, what in placed(drawn(after)) if what == "fresh"]
    assert marked == [(0, 1), (0, 2)]
    passed = played(after, {"action": "exchange"})
    assert "fresh" not in [what for _, _, what in placed(drawn(passed))]


def test_a_board_of_two_hundred_tiles_stays_small() -> None:
    """A tile costs only the element that places it."""
    board = tuple((row, column, NAMES[(row * 20 + column) % 36]) for row in range(10) for column in range(20))
    assert len(GAME.draw_svg(state_of(["red-star"] * 6, ["red-star"] * 6, board=board))) < 32_000


# --- the seats


def test_hands_and_points_are_shown() -> None:
    """Every seat has a stand-in for its name, its points and its tiles."""
    hands: tuple[list[str], ...] = (["red-star", "blue-clover"], ["green-8star"], [])
    root = drawn(state_of(*hands, scores=(7, 12, 30)))
    for seat, (card, hand) in enumerate(zip(cards(root), hands, strict=True)):
        assert texts(card)[:2] == [f"seat {seat}", ("7", "12", "30")[seat]]
        assert sorted(hand) == sorted(href(use) for use in card.iter(f"{SVG}use"))
    assert "3 tiles left to hand out" in texts(root)


def turns(root: ET.Element) -> list[bool]:
    """Return for each seat whether it is marked as the one to move."""
    return [any(title.text == "to move" for title in card.iter(f"{SVG}title")) for card in cards(root)]


def test_whose_turn_it_is() -> None:
    """Only the seat to move is marked; a dropped seat is out; after the end no seat is marked."""
    state = state_of(["red-clover"], ["blue-star"], ["blue-star"])
    assert turns(drawn(state)) == [True, False, False]
    dropped = GAME.drop(state, 0)
    assert turns(drawn(dropped)) == [False, True, False]
    assert ["out" in texts(card) for card in cards(drawn(dropped))] == [True, False, False]
    finished = played(state, place((0, 1, "red-clover")))
    assert GAME.outcome(finished) is not None
    assert turns(drawn(finished)) == [False, False, False]


PASS = {"action": "pass"}
ENDS: tuple[tuple[str, State, list[int]], ...] = (
    ("a whole hand was placed", played(state_of(["red-clover"], ["blue-star"]), place((0, 1, "red-clover"))), [0]),
    ("nobody placed a tile in a round", played(played(state_of(["red-star"], ["red-star"]), PASS), PASS), [0, 1]),
    ("nobody is left", GAME.drop(GAME.drop(state_of(["red-star"], ["red-star"]), 0), 1), []),
)


@pytest.mark.parametrize(("how", "over", "winners"), ENDS, ids=[row[0] for row in ENDS])
def test_the_last_board_says_who_won_and_how(how: str, over: State, winners: list[int]) -> None:
    """All seats that share the first place have won, in both drawings."""
    root, lines = drawn(over), Text.from_markup(GAME.draw_text(over)).plain.splitlines()
    assert [seat for seat, card in enumerate(cards(root)) if "won" in texts(card)] == winners
    assert [line[5] for line in lines if line.endswith(f"  won: {how}")] == [str(seat) for seat in winners]
    assert [text for text in texts(root) if text.endswith(f"the game is over: {how}")]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("seats", [1, 2, 3, 4])
def test_long_hands_stay_in_the_picture(seats: int) -> None:
    """Given positions may have hands of any length; they wrap, and the document grows with them."""
    root = drawn(state_of(*([["red-star"] * 40] * seats)))
    _, top, width, height = map(int, root.get("viewBox", "").split())
    below = next(group for group in root.findall(f"{SVG}g") if "translate" in group.get("transform", ""))
    start = int(below.get("transform", "").removesuffix(")").split()[1])
    for card in cards(root):
        x, y = map(int, card.get("transform", "").removeprefix("translate(").removesuffix(")").split())
        for use in card.iter(f"{SVG}use"):
            assert x + int(use.get("x", "")) + SIDE <= width
            assert start + y + int(use.get("y", "")) + SIDE <= top + height


# --- what a drawing must not be


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        ("<script>1</script>", "has a"),
        ("<foreignObject/>", "has a"),
        ("<style>*{}</style>", "has a"),
        ("<image href='#a'/>", "has a"),
        ('<rect onload="1"/>', "acts"),
        ('<rect style="fill:url(http://a)"/>', "attribute style"),
        ('<use href="http://a/b#c"/>', "links outside"),
        ('<use xmlns:x="http://www.w3.org/1999/xlink" x:href="data:a"/>', "links outside"),
        ('<rect fill="url(http://a)"/>', "loads"),
        ("<rect>", "well-formed"),
    ],
)
def test_a_drawing_that_acts_is_found_out(inside: str, says: str) -> None:
    """The conformance suite refuses drawings that could run, load or restyle anything."""
    with pytest.raises(AssertionError, match=says):
        check_drawing(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">{inside}</svg>')


@pytest.mark.parametrize(("svg", "says"), [("<svg/>", "is a svg"), (f"<svg xmlns='{SVG[1:-1]}'/>", "no viewBox")])
def test_a_drawing_is_an_svg_document(svg: str, says: str) -> None:
    """The root element is SVG's, with a size."""
    with pytest.raises(AssertionError, match=says):
        check_drawing(svg)
