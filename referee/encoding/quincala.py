"""Quincala Mixing as arrays: each piece that is placed and each leg, a move each, is an action."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..games.base import Step
from ..games.quincala import board as boards
from ..games.quincala.game import Leg, Pieces, Place, Stop, View
from .base import Encoding, Part, Sparse

_PIECES = len(boards.NAMES)
_PHASES = ("place", "move", "continue")
_DIRECTIONS = {step: number for number, step in enumerate(boards.DIRECTIONS)}


class QuincalaEncoding(Encoding):
    """The arrays of Quincala Mixing; own pieces are the first five, smallest first, whatever the colour."""

    game = "quincala"

    def __init__(self, game: Any, options: Any, seats: int) -> None:
        rows = options.board_layout.map
        self._height, self._width = len(rows), len(rows[0])
        self._areas = [_signs("".join(rows), *signs) for signs in (("wx", "bx"), ("bx", "wx"))]
        """By seat."""
        self._numbers: tuple[dict[Step, int], dict[Step, int]] = ({}, {})
        """Of steps, by seat."""
        super().__init__(game, options, seats)

    def _parts(self) -> Iterable[Part]:
        """Yield the parts of an observation."""
        towers = (_PIECES, self._height, self._width)
        sizes = "own sizes 1 to 5, then the opponent's; rows from White's edge"
        yield Part("board", towers, f"dots with each piece: {sizes}")
        yield Part("immune", towers, "the same of pieces that may not be knocked in this turn")
        yield Part("fresh", towers, "the same of pieces that will be immune in the next turn")
        yield Part("areas", (2, *towers[1:]), "dots of the own placing areas, of the opponent's")
        yield Part("here", towers[1:], "where a further leg starts")
        yield Part("hands", (2, _PIECES), "pieces of each kind by 5: in the own hand, in the opponent's")
        yield Part("phase", (len(_PHASES),), f"what is to be done: {', '.join(_PHASES)}")
        yield Part("black", (1,), "1 for the seat of Black")
        yield Part("turns", (1,), "turns that are over, as a share of those after which the game is a draw")

    def _kinds(self) -> Iterable[Part]:
        """Yield the kinds of actions."""
        dots = self._height * self._width
        yield Part("stop", (1,), "end the move")
        yield Part(
            "place", (_PIECES, dots), "place a piece: own sizes 1 to 5, then the opponent's; on each dot by rows"
        )
        directions = ", ".join(f"({down}, {right})" for down, right in boards.DIRECTIONS)
        legs = f"make a leg: from each dot by rows; in each direction, (rows, columns) {directions}; of 1 to 5 steps"
        yield Part("leg", (dots, len(boards.DIRECTIONS), boards.MAX_SIZES), legs)

    def _values(self, view: View, chosen: tuple[Any, ...]) -> Iterable[tuple[str, Any]]:
        """Yield the parts with their values."""
        yield "board", self._towers(view.board, view.seat)
        yield "immune", self._towers(view.immune, view.seat)
        yield "fresh", self._towers(view.fresh, view.seat)
        yield "areas", self._areas[view.seat]
        if view.phase == "continue":
            yield "here", Sparse([self._dot(*view.path[-1])])
        held = [Counter(_PLANES[view.seat][name] for name in view.hands[seat]) for seat in (view.seat, 1 - view.seat)]
        yield "hands", [hand[piece] / 5 for hand in held for piece in range(_PIECES)]
        if view.phase in _PHASES:
            yield "phase", Sparse([_PHASES.index(view.phase)])
        yield "black", view.seat
        yield "turns", min(view.turns / view.max_turns, 1)

    def numbers(self, view: View, steps: Sequence[Any]) -> Iterable[int]:
        """Return the numbers of steps, each of which is worked out once."""
        known = self._numbers[view.seat]
        return [known.get(step) or known.setdefault(step, self._number(view, step)) for step in steps]

    def _number(self, view: View, step: Place | Leg | Stop) -> int:
        if isinstance(step, Place):
            piece = _PLANES[view.seat][step.piece]
            return self._first["place"] + piece * self._height * self._width + self._dot(*step.dot)
        if not isinstance(step, Leg):
            return self._first["stop"]
        down, right = step.end[0] - step.start[0], step.end[1] - step.start[1]
        length = max(abs(down), abs(right))
        direction = _DIRECTIONS[down // length, right // length]
        at = self._dot(*step.start) * len(_DIRECTIONS) + direction
        return self._first["leg"] + at * boards.MAX_SIZES + length - 1

    def _dot(self, row: int, column: int) -> int:
        return (row - 1) * self._width + column - 1

    def _towers(self, spots: Iterable[Pieces], seat: int) -> Sparse:
        """Return where pieces stand."""
        dots, width, planes = self._height * self._width, self._width, _PLANES[seat]
        return Sparse(
            [planes[name] * dots + (spot.row - 1) * width + spot.column - 1 for spot in spots for name in spot.pieces]
        )


def _signs(layout: str, *wanted: str) -> Sparse:
    """Return where a layout has some signs, a plane for each group of them."""
    return Sparse(
        [n * len(layout) + at for n, own in enumerate(wanted) for at, sign in enumerate(layout) if sign in own]
    )


_PLANES = tuple(
    {name: (piece + seat * boards.MAX_SIZES) % _PIECES for name, piece in boards.PIECES.items()} for seat in (0, 1)
)
"""By seat: the number of each piece as it counts, its own first."""
