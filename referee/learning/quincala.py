"""Quincala Mixing as arrays. Each placed piece and each leg is a move of its own, and an action."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..games.base import Step
from ..games.quincala import board as boards
from ..games.quincala.game import Leg, Place, Stop
from ..games.quincala.turns import State
from .base import Encoding, Part, Vector, from_own

_PIECES = len(boards.NAMES)
_PHASES = ("place", "move", "continue")
_DIRECTIONS = {step: number for number, step in enumerate(boards.DIRECTIONS)}


def _plane(piece: int, seat: int) -> int:
    """Return the plane of a piece as a seat sees it; the seat's own pieces come first."""
    return (piece + seat * boards.MAX_SIZES) % _PIECES


_PLANES = [
    [[_plane(piece, seat) for piece in boards.pieces(tower)] for tower in range(1 << _PIECES)] for seat in (0, 1)
]
"""Planes of the pieces of a tower, by seat and tower."""


class QuincalaEncoding(Encoding):
    """The arrays of Quincala Mixing; a seat's own pieces come first, from small to large, whatever its colour."""

    game = "quincala"

    def __init__(self, game: Any, options: Any, seats: int) -> None:
        self._field = boards.find_field(options.board_layout.map)
        self._dots = len(self._field.places)
        self._numbers: tuple[dict[Step, int], dict[Step, int]] = ({}, {})
        """By seat: step -> its action, for the steps that came before."""
        super().__init__(game, options, seats)
        areas = self._field.areas
        self._areas = [
            [self._at["areas"] + plane * self._dots + dot for plane, area in enumerate(own) for dot in area]
            for own in (areas, areas[::-1])
        ]
        """By seat, the indices of its own placing areas and its opponent's in an observation."""

    def _parts(self) -> Iterable[Part]:
        towers = (_PIECES, self._field.height, self._field.width)
        sizes = "own sizes 1 to 5, then the opponent's; rows from White's edge"
        yield Part("board", towers, f"dots with each piece: {sizes}")
        yield Part("immune", towers, "the same, but only pieces that may not be knocked in this turn")
        yield Part("fresh", towers, "the same, but only pieces that will be immune in the next turn")
        yield Part("areas", (2, *towers[1:]), "dots of the seat's own placing areas, then of the opponent's")
        yield Part("here", towers[1:], "the dot where a further leg starts")
        yield Part(
            "hands", (2, _PIECES), "pieces in hand of each kind, divided by 5: its own hand, then the opponent's"
        )
        yield Part("phase", (len(_PHASES),), f"what the player must do now: {', '.join(_PHASES)}")
        yield Part("black", (1,), "1 for the seat of Black")
        yield Part("turns", (1,), "turns that are over, divided by the number of turns after which the game is a draw")

    def _kinds(self) -> Iterable[Part]:
        dots = self._dots
        yield Part("stop", (1,), "end the move")
        pieces = "own sizes 1 to 5, then the opponent's"
        yield Part("place", (_PIECES, dots), f"place a piece on a dot: by piece ({pieces}), then dot, row by row")
        directions = ", ".join(f"({down},{right})" for down, right in boards.DIRECTIONS)
        legs = f"leg: by start, row by row, then (rows,columns) {directions}, then 1-5 steps"
        yield Part("leg", (dots, len(boards.DIRECTIONS), boards.MAX_SIZES), legs)

    def _mark(self, vector: Vector, state: State, seat: int, chosen: tuple[Any, ...]) -> None:
        """Mark the pieces, the placing areas, and the dot where a further leg starts."""
        dots, planes = self._dots, _PLANES[seat]
        towers = ((dot, tower) for dot, tower in enumerate(state.board) if tower)
        places = self._areas[seat].copy()
        for name, marks in (("board", towers), ("immune", state.immune.items()), ("fresh", state.fresh.items())):
            at = self._at[name]
            places += [at + plane * dots + dot for dot, tower in marks for plane in planes[tower]]
        if state.phase == "continue":
            places.append(self._at["here"] + state.path[-1])
        vector[places] = 1

    def _last(self, state: State, seat: int, chosen: tuple[Any, ...]) -> list[float]:
        """Return the numbers of the hands, the phase, the colour and the turns."""
        hands = []
        for hand in from_own(state.hands, seat):
            held = [0] * _PIECES
            for piece in hand:
                held[_plane(piece, seat)] += 1
            hands += [count / 5 for count in held]
        return [*hands, *(state.phase == phase for phase in _PHASES), seat, min(state.turns / state.max_turns, 1)]

    def numbers(self, state: State, steps: Sequence[Any]) -> Iterable[int]:
        """Return the numbers of steps; each number is computed once."""
        numbers = self._numbers[state.seat]
        return [numbers.get(step) or numbers.setdefault(step, self._number(state.seat, step)) for step in steps]

    def _number(self, seat: int, step: Place | Leg | Stop) -> int:
        if isinstance(step, Place):
            plane = _plane(boards.PIECES[step.piece], seat)
            return self._first["place"] + plane * self._dots + self._field.number(*step.dot)
        if not isinstance(step, Leg):
            return self._first["stop"]
        down, right = step.end[0] - step.start[0], step.end[1] - step.start[1]
        length = max(abs(down), abs(right))
        direction = _DIRECTIONS[down // length, right // length]
        at = self._field.number(*step.start) * len(_DIRECTIONS) + direction
        return self._first["leg"] + at * boards.MAX_SIZES + length - 1
