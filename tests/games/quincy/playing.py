"""Positions and moves of Quincy for tests, in a short form."""

from collections.abc import Iterable
from typing import Any

from referee.games.quincy.board import DOMINOES, Square
from referee.games.quincy.forms import Add, Discard, Move, Remove, State
from referee.games.quincy.game import QuincyGame

GAME = QuincyGame()
OPTIONS = GAME.parse_options({})


def domino(text: str) -> tuple[int, int]:
    """Return the domino that is written like `35`."""
    return int(text[0]), int(text[1])


def dominoes(text: str) -> list[tuple[int, int]]:
    """Return the dominoes that are written like `35 19`."""
    return [domino(item) for item in text.split()]


def rows(a: Iterable[Square] = (), b: Iterable[Square] = ()) -> list[str]:
    """Return a board with these stones."""
    signs = {**dict.fromkeys(a, "A"), **dict.fromkeys(b, "B")}
    return ["".join(signs.get((row, column), ".") for column in range(1, 10)) for row in range(1, 10)]


def position(
    *hands: str, pile: str = "", a: Iterable[Square] = (), b: Iterable[Square] = (), face_up: str = ""
) -> dict[str, Any]:
    """Return a plain position: hands in the order of seats, and where the stones of each team lie."""
    given = [dominoes(hand) for hand in hands]
    return {"board": rows(a, b), "hands": given, "pile": dominoes(pile), "face_up": dominoes(face_up)}


def begun(*hands: str, **fields: Any) -> State:
    """Return the state of a position."""
    return GAME.restore(OPTIONS, position(*hands, **fields))


def move(text: str) -> Move:
    """Return a move written like `35 +53` (add on row 5, column 3), `04 -42` (remove) or `44` (discard)."""
    played, _, rest = text.partition(" ")
    if not rest:
        return Discard(domino(played))
    kind = Add if rest[0] == "+" else Remove
    return kind(domino(played), domino(rest[1:]))


def play(state: State, *moves: str) -> State:
    """Return the state after these moves, with all drawn dominoes delivered."""
    for text in moves:
        state = GAME.deliver(GAME.play(state, move(text)))
    return state


def held(state: State, seat: int) -> str:
    """Return a seat's hand in the form that `dominoes` reads."""
    return written(state.hands[seat])


def written(numbers: Iterable[int]) -> str:
    """Return dominoes given by number in the form that `dominoes` reads."""
    return " ".join(f"{DOMINOES[number][0]}{DOMINOES[number][1]}" for number in numbers)


def row(number: int, first: int, last: int) -> list[Square]:
    """Return a part of a row, both ends included."""
    return [(number, column) for column in range(first, last + 1)]


def column(number: int, first: int, last: int) -> list[Square]:
    """Return a part of a column, both ends included."""
    return [(row_number, number) for row_number in range(first, last + 1)]
