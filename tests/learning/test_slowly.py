"""Observations and masks are what the manual's tables say, number by number, computed slowly from views alone."""

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from random import Random
from typing import Any

import numpy as np
import pytest

from referee.learning import Encoding, encoding_of
from referee.learning.window import CELLS, WINDOW, Window
from referee.testing.seats import plain

from .test_encodings import begun, restored

_STEPS = 150
_DOMINOES = [[low, high] for low in range(10) for high in range(low, 10)]
_SQUARES = [[row, column] for row in range(1, 10) for column in range(1, 10)]
_TILES = [four for four in map("".join, combinations_with_replacement("012345", 4)) if four != "0245"]
_FACES = [*dict.fromkeys(name[turn:] + name[:turn] for name in _TILES for turn in range(4))]
_SHAPES = ("star", "8star", "square", "circle", "clover", "diamond")
_COLORS = ("red", "green", "blue", "yellow", "orange", "purple")
_KINDS = [f"{color}-{shape}" for shape in _SHAPES for color in _COLORS]


def _from_own(values: Sequence[Any], seat: int) -> list[Any]:
    return [values[(seat + number) % len(values)] for number in range(len(values))]


def _points(view: Any) -> list[float]:
    return [min(10.0, max(-10.0, score / 100)) for score in _from_own(view["scores"], view["seat"])]


def _cells(board: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the cells of the window on a board, row by row."""
    rows, columns = [row for row, _, _ in board] or [0], [column for _, column, _ in board] or [0]
    top, left = ((min(values) + max(values)) // 2 - WINDOW // 2 for values in (rows, columns))
    return [(top + row, left + column) for row in range(WINDOW) for column in range(WINDOW)]


def _planes(board: Sequence[Any], laid: Sequence[Any], signs: Callable[[Any], list[float]]) -> list[float]:
    """Return the tiles in the window on a board, and those of the move so far, plane by plane."""
    lying = {(row, column): signs([tile]) for row, column, tile in board}
    lying |= {(row, column): signs([tile, "new"]) for row, column, tile in laid}
    shown = [lying.get(cell, [0.0] * len(signs([]))) for cell in _cells(board)]
    return [value for plane in zip(*shown, strict=True) for value in plane]


def _q(view: Any, chosen: Sequence[Any]) -> list[float]:
    def signs(marks: Any) -> list[float]:
        shape, color = (marks[0].split("-")[::-1]) if marks else ("", "")
        return [*(shape == other for other in _SHAPES), *(color == other for other in _COLORS), "new" in marks]

    laid = [[*square, tile] for tile, square in zip(chosen[::2], chosen[1::2], strict=False)]
    held = [view["hand"].count(kind) - [*chosen[::2]].count(kind) for kind in _KINDS]
    tile = chosen[-1] if len(chosen) % 2 else ""
    end = [*(tile == kind for kind in _KINDS), *_points(view), view["tiles_left"] / 1080]
    return [*_planes(view["map"], laid, signs), *(count / 6 for count in held), *end]


def _quadominos(view: Any, chosen: Sequence[Any]) -> list[float]:
    def signs(marks: Any) -> list[float]:
        return [1.0, *(int(number) / 5 for number in marks[0])] if marks else [0.0] * 5

    sizes = [size / 30 for size in _from_own(view["hand_sizes"], view["seat"])]
    return [
        *_planes(view["board"], [], signs),
        *(tile in view["hand"] for tile in _TILES),
        *signs(chosen[:1]),
        *(view["step"] == task for task in ("open", "lay", "bonus", "second", "extra")),
        *(view["additional"] / 2, *_points(view), *sizes, view["well"] / 125, min(view["round"] / 100, 10)),
    ]


def _quincy(view: Any, chosen: Sequence[Any]) -> list[float]:
    own, other = view["stone"], "AB".replace(view["stone"], "")
    lines = {stone: [square for line in view["lines"] if line["stone"] == stone for square in line["squares"]]
             for stone in "AB"}  # fmt: skip
    return [
        *("".join(view["board"])[at] == stone for stone in (own, other) for at in range(81)),
        *(square in lines[stone] for stone in (own, other) for square in _SQUARES),
        *(domino in view[pile] for pile in ("hand", "face_up") for domino in _DOMINOES),
        *(size / 5 for size in _from_own(view["hand_sizes"], view["seat"])),
        *(view["pile"] / 45, view["same_turn"]),
    ]


def _named(domino: list[int], square: list[int]) -> bool:
    return not any(domino) or (sorted(square) == domino if all(domino) else domino[1] in square)


def _quincy_moves() -> list[Any]:
    moves = [{"domino": domino, "square": square} for domino in _DOMINOES for square in _SQUARES
             if _named(domino, square)]  # fmt: skip
    removes = [{"action": "remove", **move} for move in moves if not move["domino"][0]]
    discards = [{"action": "discard", "domino": domino} for domino in _DOMINOES]
    return [*({"action": "add", **move} for move in moves), *removes, *discards]


OBSERVED = {"q": _q, "quadominos": _quadominos, "quincy": _quincy}
ACTIONS: dict[str, Callable[[Any], list[Any]]] = {
    "q": lambda view: ["pass", "exchange", "stop", *_KINDS, *map(list, _cells(view["map"])), "elsewhere"],
    "quadominos": lambda view: ["points", "done", *_FACES, *map(list, _cells(view["board"])), "elsewhere"],
    "quincy": lambda view: _quincy_moves(),
}


def _line(length: int) -> Any:
    """Return a position of the Q game whose map is one row of tiles."""
    board = [[0, column, "red-star"] for column in range(length)]
    return {"map": board, "pile": ["red-star"] * 9, "players": [{"score": 1200, "hand": ["red-star"] * 6}] * 2}


STARTS: tuple[tuple[str, int, Any], ...] = (
    *((game, seats, None) for game, seats in (("q", 2), ("q", 3), ("quincy", 2), ("quincy", 4))),
    *(("quadominos", seats, None) for seats in (2, 5)),
    *(("q", 2, _line(length)) for length in (29, 31, 40)),
)
"""Games, numbers of seats, and positions; None: the start."""


@pytest.mark.parametrize(("game", "seats", "position"), STARTS)
def test_arrays_are_what_the_tables_say(game: str, seats: int, position: Any) -> None:
    """All seats observe their views, step by step, and the mask has the legal steps."""
    encoding, source = encoding_of(game, seats), Random(seats)
    rules, steps = encoding.rules, 0
    state = begun(encoding, seats) if position is None else restored(encoding, position)
    while steps < _STEPS and rules.outcome(state) is None:
        chosen: tuple[Any, ...] = ()
        while (move := rules.move_of(chosen)) is None:
            legal = encoding.legal(state, chosen)
            views = [plain(rules.view(state, seat)) for seat in range(seats)]
            for seat, view in enumerate(views):
                own = chosen if seat == rules.to_move(state) else ()
                slow = np.array(OBSERVED[game](view, own), np.float32)
                assert slow.tobytes() == encoding.observation(state, seat, own).tobytes()
            assert _slow_mask(encoding, views[0], rules.legal_steps(state, chosen)) == encoding.mask(legal).tobytes()
            chosen, steps = (*chosen, source.choice([*legal.values()])), steps + 1
        state = rules.deliver(rules.play(state, move))


def _slow_mask(encoding: Encoding, view: Any, steps: Sequence[Any]) -> bytes:
    """Return 1 for each action that stands for a legal step."""
    actions, legal = ACTIONS[encoding.game](view), [plain(step) for step in steps]
    mask = [action in legal for action in actions]
    mask[-1] |= any(step not in actions for step in legal)
    return np.array(mask, np.int8).tobytes()


@pytest.mark.parametrize("step", [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right])
def test_a_window_that_follows_shows_what_a_new_one_does(step: tuple[int, int]) -> None:
    """While a line grows beyond the window, it looks at each length as in a new window; so does the next line."""
    signs = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    window = Window(2 * CELLS + 5, signs)
    for first in ((7, -9), (7, -9), (40, 3)):
        board: dict[tuple[int, int], int] = {}
        for number in range(2 * WINDOW):
            board = {**board, (first[0] + number * step[0], first[1] + number * step[1]): number % 3}
            new = Window(2 * CELLS + 5, signs)
            new.follow(board)
            window.follow(board)
            assert window.shown.tobytes() == new.shown.tobytes()
            assert np.count_nonzero(new.shown) >= 2 * min(number + 1, WINDOW - 1)
