"""How positions and moves of a game become arrays and numbers: the contract, and what its parts have in common.

An observation is made from a view, which is all that a seat may know. So a policy that was trained in an environment
can play over the wire, where it is given views.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..games.base import Game, Step

Vector = NDArray[np.float32]
Mask = NDArray[np.int8]
LIMIT = 10.0
"""No number of an observation is greater, or less than its negative."""
WINDOW = 31
"""Rows and columns of a board without edges that an observation shows, around the middle of what lies on it."""


class Part(NamedTuple):
    """A part of an observation, or some actions of one kind."""

    name: str
    shape: tuple[int, ...]
    meaning: str


class Encoding(ABC):
    """The arrays and numbers of one game with its options and its number of seats.

    Args:
        game: the rules.
        options: parsed.
        seats: how many.
    """

    game: ClassVar[str]
    """Name of the game."""

    def __init__(self, game: Game[Any, Any, Any], options: Any, seats: int) -> None:
        self.rules, self.options, self.seats = game, options, seats
        self.parts = tuple(self._parts())
        """Of an observation, which is all of them one after the other."""
        self.kinds = tuple(self._kinds())
        """Of actions, which are numbered through."""
        self.length = sum(prod(part.shape) for part in self.parts)
        """Numbers of an observation."""
        self.actions = sum(prod(kind.shape) for kind in self.kinds)
        """How many actions there are."""
        self._slices = _slices(self.parts)
        self._first: dict[str, int] = {name: span.start for name, span in _slices(self.kinds).items()}

    @abstractmethod
    def _parts(self) -> Iterable[Part]:
        """Yield the parts of an observation."""

    @abstractmethod
    def _kinds(self) -> Iterable[Part]:
        """Yield the kinds of actions."""

    @abstractmethod
    def _values(self, view: Any, chosen: tuple[Any, ...]) -> Iterable[tuple[str, Any]]:
        """Yield parts by name with their values: of all their numbers, or of those that are not zero (`Sparse`)."""

    @abstractmethod
    def numbers(self, view: Any, steps: Sequence[Any]) -> Iterable[int]:
        """Yield the numbers of steps that are legal together.

        Args:
            view: of the seat to move, before its move.
            steps: as `legal_steps` returns them.
        """

    def observation(self, view: Any, chosen: tuple[Step, ...] = ()) -> Vector:
        """Return what a seat sees.

        Args:
            view: its view.
            chosen: the steps of its own move so far.
        """
        found = np.zeros(self.length, np.float32)
        for name, value in self._values(view, chosen):
            if isinstance(value, Sparse):
                found[self._slices[name]][value.places] = value.values
            else:
                found[self._slices[name]] = value
        return found

    def part(self, observation: Vector, name: str) -> Vector:
        """Return one part of an observation in its shape."""
        shape = next(part.shape for part in self.parts if part.name == name)
        return observation[self._slices[name]].reshape(shape)

    def legal(self, state: Any, view: Any, chosen: tuple[Step, ...]) -> dict[int, Step]:
        """Return the legal steps by action; of several squares beyond the window, the first one."""
        steps = self.rules.legal_steps(state, chosen)[::-1]
        return dict(zip(self.numbers(view, steps), steps, strict=True))

    def mask(self, legal: Iterable[int]) -> Mask:
        """Return 1 for each of some actions, 0 for the others."""
        found = np.zeros(self.actions, np.int8)
        found[[*legal]] = 1
        return found


class Sparse(NamedTuple):
    """A part of an observation that is zeros for the most part."""

    places: list[int]
    """Of what is not zero, in its flat order."""
    values: float | list[float] = 1
    """What stands there."""


class Window:
    """A square window on a board without edges; its middle is the middle of what lies on the board.

    Args:
        laid: (row, column, name) of all that lies there, maybe nothing.
    """

    def __init__(self, laid: Iterable[tuple[int, int, str]]) -> None:
        rows, columns, _ = zip(*laid, strict=True) if laid else ((0,), (0,), ())
        self._top = (min(rows) + max(rows)) // 2 - WINDOW // 2
        self._left = (min(columns) + max(columns)) // 2 - WINDOW // 2

    def index(self, row: int, column: int) -> int:
        """Return the number of a cell, row by row; WINDOW * WINDOW for all cells beyond the window."""
        row, column = row - self._top, column - self._left
        return row * WINDOW + column if 0 <= row < WINDOW and 0 <= column < WINDOW else WINDOW * WINDOW


def _slices(parts: Iterable[Part]) -> Mapping[str, slice]:
    """Return where parts stand that follow one another."""
    found, start = {}, 0
    for part in parts:
        end = start + prod(part.shape)
        found[part.name] = slice(start, end)
        start = end
    return found


def from_own(values: Iterable[Any], seat: int) -> list[Any]:
    """Return values by seat with that of one seat first, the others in the order of seats behind it."""
    listed = list(values)
    return listed[seat:] + listed[:seat]


def points(scores: Iterable[float]) -> list[float]:
    """Return scores in hundreds, none beyond the limit."""
    return [max(-LIMIT, min(LIMIT, score / 100)) for score in scores]
