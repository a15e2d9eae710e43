"""The drawings of Quad-Ominos: all numbers differ, even without colours, and everything lies in its place."""

from itertools import combinations
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace
from rich.text import Text

from referee.games.quadominos.rounds import State
from referee.games.quadominos.tiles import FACE_BY_NAME, lay_all
from referee.testing import check_drawing

from ..q.test_drawing import SIGHTS, lab, linear, luminance, times
from .states import ARC, CORNER, GAME, POINTS, ZEROS, Spot, dealt, lay, played, state_of

SVG = "{http://www.w3.org/2000/svg}"
SIDE = 40


def drawn(state: State) -> ET.Element:
    """Return the drawing of a state after checks."""
    svg = GAME.draw_svg(state)
    check_drawing(svg)
    return ET.fromstring(svg)


def href(use: ET.Element) -> str:
    """Return the symbol that a `use` shows, without the game's prefix."""
    return (use.get("href") or "").removeprefix("#quadominos-")


def placed(root: ET.Element) -> list[Spot]:
    """Return (row, column, element) of everything on the table."""
    return [
        (int(use.get("y", "")) // SIDE, int(use.get("x", "")) // SIDE, href(use)) for use in root.findall(f"{SVG}use")
    ]


def texts(element: ET.Element) -> list[str]:
    """Return all texts inside an element."""
    return [found.text or "" for found in element.iter(f"{SVG}text")]


def cards(root: ET.Element) -> list[ET.Element]:
    """Return the seats' groups."""
    return [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}text[@data-seat]") is not None]


def symbols(root: ET.Element) -> dict[str, ET.Element]:
    """Return every definition by its name."""
    return {(symbol.get("id") or "").removeprefix("quadominos-"): symbol for symbol in root.iter(f"{SVG}symbol")}


ROOT = drawn(state_of(["0001"], ["0002"]))
CORNERS = {name: symbol for name, symbol in symbols(ROOT).items() if len(name) == 2}

# --- tiles


def test_a_tile_shows_its_numbers_clockwise() -> None:
    """Each of the four corners has its number, and the tile's name is their title."""
    shown = symbols(ROOT)["0224"]
    assert shown.findtext(f"{SVG}title") == "0224"
    assert [href(use) for use in shown.iter(f"{SVG}use")] == ["tile", "a0", "b2", "c2", "d4"]


def test_corners_are_where_they_belong() -> None:
    """The digits of the corners a, b, c, d stand top left, top right, bottom right, bottom left."""
    where = {}
    for name, symbol in CORNERS.items():
        digit = next(symbol.iter(f"{SVG}text"))
        assert digit.text == name[1]
        where[name[0]] = (float(digit.get("x", "")) > SIDE / 2, float(digit.get("y", "")) > SIDE / 2)
    assert where == {"a": (False, False), "b": (True, False), "c": (True, True), "d": (False, True)}


TONES = {name[1]: next(symbol.iter(f"{SVG}path")).get("fill", "") for name, symbol in CORNERS.items()}


def test_every_number_has_its_tone() -> None:
    """A number has the same tone in every corner, and no other number has it."""
    assert len(CORNERS) == 4 * 6
    assert len(set(TONES.values())) == 6
    for name, symbol in CORNERS.items():
        assert TONES[name[1]] == next(symbol.iter(f"{SVG}path")).get("fill")


@pytest.mark.parametrize("sight", SIGHTS)
def test_no_two_tones_look_alike(sight: str) -> None:
    """For every kind of colour vision, two tones differ by at least 20 of CIE 1976; 2 can just be seen."""
    seen = {number: lab(times(SIGHTS[sight], linear(tone))) for number, tone in TONES.items()}
    for one, other in combinations(seen, 2):
        apart = sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5
        assert apart >= 20, f"{one} and {other} are {apart:.0f} apart"


@pytest.mark.parametrize("number", "012345")
def test_the_digit_can_be_read(number: str) -> None:
    """A digit stands out from its tone by WCAG's 4.5 to 1."""
    ink = next(CORNERS[f"a{number}"].iter(f"{SVG}text")).get("fill", "")
    dark, light = sorted(luminance(tone) for tone in (ink, TONES[number]))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


# --- the table


def test_tiles_lie_on_their_places() -> None:
    """Every tile of the table is drawn once, as it lies, within the document, and is defined there."""
    root = drawn(state_of(["0015", "0005"], ["0055"], board=ARC))
    assert sorted(ARC) == sorted(placed(root))
    left, top, width, height = map(int, root.get("viewBox", "").split())
    for row, column, name in ARC:
        assert left <= column * SIDE <= left + width - SIDE
        assert top <= row * SIDE <= top + height - SIDE
        assert name in symbols(root)


def test_rows_and_columns_are_numbered() -> None:
    """Each number stands at both ends of its row or column, with one free row and column around the tiles."""
    numbers = texts(drawn(state_of(["0015", "0005"], ["0055"], board=ARC)))
    for number in range(-1, 4):
        assert numbers.count(str(number)) >= 4


def test_the_tiles_of_the_last_turn_are_marked() -> None:
    """All tiles of a turn are marked, until another turn lays one."""
    state = state_of(["2223", "0000", "0001", "0333"], ["0002", "1111"], board=CORNER)
    turn = (lay(1, 1, "2223"), lay(0, -1, "0000"), lay(-1, 0, "0010"))
    for moves in range(4):
        root = drawn(played(state, *turn[:moves]))
        marked = {(row, column) for row, column, what in placed(root) if what == "fresh"}
        assert {(raw["row"], raw["column"]) for raw in turn[:moves]} == marked
    assert [spot[:2] for spot in placed(drawn(played(state, turn[0], POINTS))) if spot[2] == "fresh"] == [(1, 1)]


def test_an_empty_table_is_drawn() -> None:
    """Before the opening, there is the grid and every hand."""
    root = drawn(state_of(["5555", "0000"], ["0001"], board=()))
    assert placed(root) == []
    assert len(cards(root)) == 2


def test_a_large_table_stays_small() -> None:
    """With all tiles in sight, a drawing takes no more than 60 kB, one element a line."""
    state, source = dealt(3, 12, rounds=1), Random(3)
    while GAME.outcome(state) is None:
        state = GAME.deliver(GAME.play(state, source.choice(GAME.legal_moves(state))))
    svg = GAME.draw_svg(state)
    assert len(svg) < 60_000
    assert max(map(len, svg.splitlines()[1:])) < 2000


# --- the seats


def test_hands_and_points_are_shown() -> None:
    """Every seat has a stand-in for its name, its points, its number of tiles and its tiles."""
    hands = (["0002", "0223", "1222"], ["0024", "1234"], ["4444"])
    root = drawn(state_of(*hands, scores=(7, -20, 300), well=["5555"]))
    for seat, (card, hand) in enumerate(zip(cards(root), hands, strict=True)):
        words = ("3 tiles", "2 tiles", "1 tile")[seat]
        assert texts(card) == [f"seat {seat}", ("7", "-20", "300")[seat], words]
        assert sorted(hand) == sorted(href(use) for use in card.iter(f"{SVG}use"))
    assert "round 1 · 1 tile in the well · to move: lay a tile" in texts(root)


def test_what_was_drawn_and_skipped_is_shown() -> None:
    """A card shows what the referee did for a seat since its last move, and what it cost."""
    state = played(state_of(["0001", "0005"], ["2222"], board=ZEROS, well=["1111"]), lay(0, 1, "0010"))
    assert "2 tiles · drew 1 · skipped · -40" in texts(cards(drawn(state))[1])


def turns(root: ET.Element) -> list[bool]:
    """Return for each seat whether it is marked as the one to move."""
    return [any(title.text == "to move" for title in card.iter(f"{SVG}title")) for card in cards(root)]


def test_whose_turn_it_is() -> None:
    """Only the seat to move is marked; a dropped seat is out; after the end no seat is marked."""
    state = state_of(["0001"], ["0002"], ["0003"], board=ZEROS, rounds=1)
    assert turns(drawn(state)) == [True, False, False]
    dropped = GAME.drop(state, 0)
    assert turns(drawn(dropped)) == [False, True, False]
    assert ["out" in texts(card) for card in cards(drawn(dropped))] == [True, False, False]
    over = drawn(played(state, lay(0, 1, "0010")))
    assert turns(over) == [False, False, False]
    assert "round 1 · 0 tiles in the well · the game is over: this was the last round" in texts(over)


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ({"target": 8}, "the game is over: 8 points are reached"),
        ({"rounds": 1}, "the game is over: this was the last round"),
        ({"max_rounds": 1}, "the game is over: there are no more rounds"),
    ],
)
@pytest.mark.parametrize(("scores", "winners"), [((0, 0, 0), [0]), ((0, 0, 8), [0, 2])])
def test_the_last_board_says_who_won_and_how(
    options: dict[str, Any], how: str, scores: tuple[int, ...], winners: list[int]
) -> None:
    """All seats that share the first place have won, in both drawings."""
    before = state_of(["0001"], ["0002"], ["0005"], board=ZEROS, scores=scores, **options)
    over = played(before, lay(0, 1, "0010"))
    root, lines = drawn(over), Text.from_markup(GAME.draw_text(over)).plain.splitlines()
    assert [seat for seat, card in enumerate(cards(root)) if "won" in texts(card)] == winners
    assert [line[5] for line in lines if "points  won" in line] == [str(seat) for seat in winners]
    assert [text for text in texts(root) if how in text]
    assert [line for line in lines if line.endswith(how)]


def test_the_last_board_says_that_no_opponent_is_left() -> None:
    """The last seat has won."""
    root = drawn(GAME.drop(state_of(["0001"], ["0002"], board=ZEROS), 0))
    assert ["won" in texts(card) for card in cards(root)] == [False, True]
    assert [text for text in texts(root) if text.endswith("the game is over: no opponent is left")]


@pytest.mark.parametrize("seats", range(2, 13))
def test_everything_stays_in_the_picture(seats: int) -> None:
    """With any number of seats, cards stand side by side within the document, and hands within their cards."""
    root = drawn(dealt(seats, seats))
    _, _, width, height = map(int, root.get("viewBox", "").split())
    below = next(group for group in root.findall(f"{SVG}g") if "scale" in group.get("transform", ""))
    move, _, scaled = below.get("transform", "").partition(" scale(")
    scale = float(scaled.rstrip(")"))
    start = int(move.removesuffix(")").split()[1]) - int(root.get("viewBox", "").split()[1])
    corners = []
    for card in cards(root):
        x, y = map(int, card.get("transform", "").removeprefix("translate(").removesuffix(")").split())
        frame = next(card.iter(f"{SVG}rect"))
        card_width, card_height = int(frame.get("width", "")), int(frame.get("height", ""))
        corners.append((x, y))
        assert (x + card_width) * scale <= width
        assert start + (y + card_height) * scale <= height
        for use in card.iter(f"{SVG}use"):
            assert int(use.get("x", "")) + int(use.get("width", "")) <= card_width
            assert int(use.get("y", "")) + int(use.get("height", "")) <= card_height
    assert len(set(corners)) == len(corners) == seats


# --- text


def test_text_reads_without_colours() -> None:
    """Without its markup, the text has the table with its numbers, the last tile marked, and a line for each seat."""
    state = played(state_of(["0001", "0005"], ["0002", "0012"], board=ZEROS), lay(0, 1, "0010"))
    lines = Text.from_markup(GAME.draw_text(state)).plain.splitlines()
    assert [line.rstrip() for line in lines] == [
        "       0   1",
        "   0  00 >00",
        "      00  01",
        "",
        "round 1 · 0 tiles in the well · to move: lay a tile",
        "seat 0    1 points           0005",
        "seat 1    0 points  to move  0002 0012",
        "a hand's tiles read clockwise from the upper left; >: laid in the last turn",
    ]


@pytest.mark.parametrize("columns", [2, 11, 19, 20, 25])
def test_the_text_fits_a_terminal_and_columns_do_not_touch(columns: int) -> None:
    """Up to 25 columns need at most 80 characters, and no two numbers touch."""
    table = lay_all({(0, -column): FACE_BY_NAME["0000"] for column in range(columns)})
    state = replace(state_of(["0001"], ["0002"], board=ZEROS), table=table)
    numbers, upper, lower, *_ = Text.from_markup(GAME.draw_text(state)).plain.splitlines()
    assert max(map(len, (numbers, upper, lower))) <= 80
    assert [int(number) for number in numbers.split()][-1] == 0
    assert len(upper.split()) == len(lower.split()) + 1 == columns + 1
