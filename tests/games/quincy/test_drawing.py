"""The drawings of Quincy: every stone on its square, teams and lines differ without colours, every seat is shown."""

from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.text import Text

from referee import chance
from referee.games.quincy.forms import State
from referee.pages.words import with_names
from referee.testing import check_drawing

from .playing import GAME, OPTIONS, begun, column, move, play, row

SVG = "{http://www.w3.org/2000/svg}"
SIDE, MARGIN = 52, 34


def drawn(state: State) -> ET.Element:
    """Return the drawing of a state after checks."""
    svg = GAME.draw_svg(state)
    check_drawing(svg)
    return ET.fromstring(svg)


def href(use: ET.Element) -> str:
    """Return the symbol that a `use` shows, without the game's prefix."""
    return (use.get("href") or "").removeprefix("#quincy-")


def laid(root: ET.Element) -> dict[tuple[int, int], list[str]]:
    """Return the symbols on each square of the board, the lowest first."""
    found: dict[tuple[int, int], list[str]] = {}
    for use in root.findall(f"{SVG}use"):
        row_number, column_number = (1 + (int(use.get(key, "")) - MARGIN) // SIDE for key in ("y", "x"))
        found.setdefault((row_number, column_number), []).append(href(use))
    return found


def cards(root: ET.Element) -> list[ET.Element]:
    """Return the seats' groups."""
    return [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}text[@data-seat]") is not None]


def texts(element: ET.Element) -> list[str]:
    """Return all texts inside an element but the hidden titles."""
    return [found.text or "" for found in element.iter(f"{SVG}text")]


def turns(root: ET.Element) -> list[bool]:
    """Return for each seat whether it is marked as the one to move."""
    return [any(title.text == "to move" for title in card.iter(f"{SVG}title")) for card in cards(root)]


MIDDLE = begun("35 09", "24 00", pile="66 77", a=[*row(1, 1, 4), (9, 1)], b=[(1, 9), *column(5, 2, 3)])


def test_stones_lie_on_their_squares() -> None:
    """Each stone is drawn once, with its team's shape and letter; stones of lines look different."""
    expected = {**{square: ["A-line"] for square in row(1, 1, 4)}, (9, 1): ["A"]}
    assert {**expected, (1, 9): ["B"], (2, 5): ["B"], (3, 5): ["B"]} == laid(drawn(MIDDLE))


def test_teams_and_lines_are_told_apart_without_colours() -> None:
    """Each of the four kinds of stone has an outline or an edge and a letter of its own."""
    symbols = {(found.get("id") or "").removeprefix("quincy-"): found for found in drawn(MIDDLE).iter(f"{SVG}symbol")}
    looks = {
        name: (symbols[name][0].tag, symbols[name][0].get("stroke-width"), *texts(symbols[name]))
        for name in ("A", "A-line", "B", "B-line")
    }
    assert len(set(looks.values())) == 4
    assert {name: look[2] for name, look in looks.items()} == {"A": "A", "A-line": "A", "B": "B", "B-line": "B"}
    assert looks["A"][0] != looks["B"][0]


def test_a_line_has_a_bar_from_end_to_end() -> None:
    """A line can be seen as one thing, and two crossing lines as two."""
    state = play(begun("44 12", "29", a=[*row(4, 1, 3), *column(4, 5, 7)]), "44 +44")
    bars = [path.get("d") for path in drawn(state).findall(f"{SVG}path") if path.get("stroke-width") == "14"]
    assert bars == ["M60 216L216 216", "M216 216L216 372"]


def test_rows_columns_and_marks_of_the_board() -> None:
    """Each number stands at both ends of its row and of its column; the doubles line and the fives are marked."""
    root = drawn(begun("12", "34"))
    numbers = texts(root)
    assert all(numbers.count(str(number)) >= 4 for number in range(1, 10))
    assert "the doubles line" in [title.text for title in root.iter(f"{SVG}title")]
    stripes = [path.get("d") for path in root.findall(f"{SVG}path") if path.get("fill-opacity")]
    assert stripes == ["M34 242h468v52h-468ZM242 34h52v468h-52Z"]


def test_the_last_move_is_marked() -> None:
    """The square of the last stone is framed, also if the stone was removed; after a discard no square is."""
    state = play(MIDDLE, "35 +53")
    assert laid(drawn(state))[5, 3] == ["fresh", "A"]
    removed = play(state, "00 -91")
    assert laid(drawn(removed))[9, 1] == ["fresh"]
    assert "fresh" not in laid(drawn(removed))[5, 3]
    discarded = play(begun("11 35", "24", pile="66", a=[(1, 1)]), "11")
    assert laid(drawn(discarded)) == {(1, 1): ["A"]}


def test_each_seat_shows_its_last_move() -> None:
    """Moves are in words; the latest of all is bold."""
    root = drawn(play(MIDDLE, "35 +53", "00 -91"))
    words = [card.findall(f"{SVG}text")[-1] for card in cards(root)]
    assert [text.text for text in words] == ["on row 5, column 3, by 3|5", "took row 9, column 1, by 0|0"]
    assert [text.get("font-weight") for text in words] == [None, "700"]


def hand(card: ET.Element) -> list[list[str]]:
    """Return the ends of each domino of a card that are no blanks."""
    shown: list[list[str]] = []
    for use in card.findall(f"{SVG}g/{SVG}use"):
        if href(use) == "domino":
            shown.append([])
        elif href(use).startswith("end-"):
            shown[-1].append(href(use).removeprefix("end-"))
    return shown


def test_hands_lines_and_names_are_shown() -> None:
    """Every seat has its stone, a stand-in for its name, its lines and its dominoes; blanks are blank."""
    root = drawn(MIDDLE)
    assert [texts(card)[:2] for card in cards(root)] == [["seat 0", "1 line"], ["seat 1", "0 lines"]]
    assert [hand(card) for card in cards(root)] == [[["3", "5"], ["9"]], [["2", "4"], []]]
    assert "2 dominoes left to draw" in texts(root)
    named = with_names(GAME.draw_svg(MIDDLE), ["ada & co", "bob"])
    assert [texts(card)[0] for card in cards(ET.fromstring(named))] == ["ada & co", "bob"]


@pytest.mark.parametrize(("eyes", "face_down"), [(None, [0, 0]), ((0,), [0, 2]), ((), [3, 2])])
def test_hands_that_are_not_seen_lie_face_down(eyes: tuple[int, ...] | None, face_down: list[int]) -> None:
    """There are as many as the seat holds, and none of a hand that is seen."""
    svg = GAME.draw_svg(begun("12 13 14", "23 24"), eyes)
    check_drawing(svg)
    root = ET.fromstring(svg)
    assert face_down == [sum(href(use) == "back" for use in card.iter(f"{SVG}use")) for card in cards(root)]
    shown = [len(hand(card)) for card in cards(root)]
    assert shown == [held - down for held, down in zip((3, 2), face_down, strict=True)]


def test_whose_turn_it_is() -> None:
    """Only the seat to move is marked; an expelled seat is out."""
    state = begun("12 13", "23 24", "34 35", "45 46")
    assert turns(drawn(state)) == [True, False, False, False]
    dropped = drawn(GAME.drop(state, 0))
    assert turns(dropped) == [False, True, False, False]
    assert ["out" in texts(card) for card in cards(dropped)] == [True, False, False, False]


ENDS: tuple[tuple[str, State, str], ...] = (
    ("lines", play(begun("44", "29", a=[*row(4, 1, 3), *column(4, 5, 7)]), "44 +44"), "A wins with two lines"),
    ("wash", play(begun("12", "34"), "12 +12", "34 +34"), "a wash: a draw"),
    ("expulsion", GAME.drop(begun("12", "34"), 0), "B wins: no opponent is left"),
)


@pytest.mark.parametrize(("_name", "state", "says"), ENDS, ids=[row[0] for row in ENDS])
def test_the_end_is_told(_name: str, state: State, says: str) -> None:
    """After the end no seat is marked, and both drawings say how the game ended."""
    assert turns(drawn(state)) == [False, False]
    assert says in texts(drawn(state))
    assert GAME.draw_text(state).splitlines()[-2] == says


@pytest.mark.parametrize("seats", [2, 4])
def test_long_hands_stay_in_the_picture(seats: int) -> None:
    """Given positions may have hands of any length; they wrap, and the document grows with them."""
    deck = [f"{low}{high}" for low in range(10) for high in range(low, 10)]
    root = drawn(begun(*(" ".join(deck[seat::seats]) for seat in range(seats))))
    _, _, width, height = map(int, root.get("viewBox", "").split())
    left = next(
        int(group.get("transform", "")[10:].split()[0]) for group in root.findall(f"{SVG}g") if group.get("transform")
    )
    for card in cards(root):
        top = int(card.get("transform", "").removesuffix(")").split()[1])
        frame = card.find(f"{SVG}rect")
        assert frame is not None
        bottom = top + int(frame.get("height", ""))
        assert bottom < height
        for use in card.findall(f"{SVG}g/{SVG}use"):
            assert left + int(use.get("x", "")) + 26 <= width
            assert top + int(use.get("y", "")) + 26 <= bottom


def test_a_crowded_drawing_stays_small() -> None:
    """However the game goes, a drawing has fewer than 20 000 characters."""
    state = GAME.new(OPTIONS, 4, chance.Dealer(bytes(32)))
    source = Random(1)
    sizes = []
    while GAME.outcome(state) is None:
        state = GAME.deliver(GAME.play(state, source.choice(GAME.legal_moves(state))))
        sizes.append(len(GAME.draw_svg(state)))
    assert max(sizes) < 20_000


# --- text


def lines_of(state: State) -> list[str]:
    """Return what a terminal without colours shows."""
    return [line.plain.rstrip() for line in Text.from_markup(GAME.draw_text(state)).split("\n")]


def test_text_reads_without_colours() -> None:
    """Stones are letters, lines are in parentheses, the last move is between angles; then each seat has a line."""
    expected: list[Any] = [
        "     1   2   3   4   5   6   7   8   9",
        " 1  (A) (A) (A) (A)  '   ·   ·   ·   B",
        " 2   ·   ╲   ·   ·   B   ·   ·   ·   ·",
        " 3   ·   ·   ╲   ·   B   ·   ·   ·   ·",
        " 4   ·   ·   ·   ╲   '   ·   ·   ·   ·",
        " 5   -   -  >A<  -   ╲   -   -   -   -",
        " 6   ·   ·   ·   ·   '   ╲   ·   ·   ·",
        " 7   ·   ·   ·   ·   '   ·   ╲   ·   ·",
        " 8   ·   ·   ·   ·   '   ·   ·   ╲   ·",
        " 9   A   ·   ·   ·   '   ·   ·   ·   ╲",
        "",
        "seat 0  A  1 line   0|9  6|6",
        "seat 1  B  0 lines  2|4  0|0  to move",
        "1 domino left to draw",
        "(A): in a line; >A<: the last move; ╲: the doubles; - and ': row and column 5",
    ]
    assert expected == lines_of(play(MIDDLE, "35 +53"))


def test_text_marks_where_a_stone_was_removed() -> None:
    """An empty square is marked like any other."""
    assert lines_of(play(MIDDLE, "35 +53", "00 -91"))[9].startswith(" 9  >·<")


def test_text_of_an_expelled_seat() -> None:
    """It is out, and holds nothing."""
    state = GAME.deliver(GAME.play(begun("12 13", "23 24", "34 35", "45 46"), move("12 +12")))
    assert lines_of(GAME.drop(state, 3))[-3] == "seat 3  B  0 lines  -  out"
