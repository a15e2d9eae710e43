"""How positions and moves of a game become arrays and numbers: the contract, and what its parts have in common.

An observation holds nothing but what the view of its seat shows. So a policy that was trained in an environment can
play over the wire, where it is given views: in a state that is imagined from a view, it observes the same.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import copysign, prod
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..games.base import Game, Step

T = TypeVar("T")

Vector = NDArray[np.float32]
Mask = NDArray[np.int8]
LIMIT = 10.0
"""No number of an observation is greater, or less than its negative."""
_MOST = 100 * LIMIT
"""The score that is shown as that."""


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
        self._at: dict[str, int] = {name: span.start for name, span in self._slices.items()}
        """Where each part begins."""
        self._first: dict[str, int] = {name: span.start for name, span in _slices(self.kinds).items()}
        """The first action of each kind."""
        self._kept = np.zeros(self.length, np.float32)
        """What an observation begins as."""

    @abstractmethod
    def _parts(self) -> Iterable[Part]:
        """Yield the parts of an observation."""

    @abstractmethod
    def _kinds(self) -> Iterable[Part]:
        """Yield the kinds of actions."""

    @abstractmethod
    def _mark(self, found: Vector, state: Any, seat: int, chosen: tuple[Any, ...]) -> None:
        """Write into an observation, which begins as `_kept_up` says, all but the numbers with which it ends."""

    @abstractmethod
    def _last(self, state: Any, seat: int, chosen: tuple[Any, ...]) -> list[float]:
        """Return the numbers with which an observation ends."""

    @abstractmethod
    def numbers(self, state: Any, steps: Sequence[Any]) -> Iterable[int]:
        """Yield the numbers of steps that are legal together.

        Args:
            state: in which they are.
            steps: as `legal_steps` returns them.
        """

    def observation(self, state: Any, seat: int, chosen: tuple[Step, ...] = ()) -> Vector:
        """Return what a seat sees, in an array of its own.

        Args:
            state: the game's; of it, only what the view of the seat shows counts.
            seat: who sees it.
            chosen: the steps of its own move so far.
        """
        found = self._kept_up(state).copy()
        self._mark(found, state, seat, chosen)
        last = self._last(state, seat, chosen)
        found[-len(last) :] = last
        return found

    def _kept_up(self, state: Any) -> Vector:
        """Return what observations of a state have in common."""
        return self._kept

    def part(self, observation: Vector, name: str) -> Vector:
        """Return one part of an observation in its shape."""
        shape = next(part.shape for part in self.parts if part.name == name)
        return observation[self._slices[name]].reshape(shape)

    def legal(self, state: Any, chosen: tuple[Step, ...]) -> dict[int, Step]:
        """Return the legal steps by action; of several squares beyond the window, the first one."""
        steps = self.rules.legal_steps(state, chosen)[::-1]
        return dict(zip(self.numbers(state, steps), steps, strict=True))

    def mask(self, legal: Iterable[int]) -> Mask:
        """Return 1 for each of some actions, 0 for the others."""
        found = bytearray(self.actions)
        for action in legal:
            found[action] = 1
        return np.frombuffer(found, np.int8)


def _slices(parts: Iterable[Part]) -> Mapping[str, slice]:
    """Return where parts stand that follow one another."""
    found, start = {}, 0
    for part in parts:
        end = start + prod(part.shape)
        found[part.name] = slice(start, end)
        start = end
    return found


def from_own(values: tuple[T, ...], seat: int) -> tuple[T, ...]:
    """Return values by seat with that of one seat first, the others in the order of seats behind it."""
    return values[seat:] + values[:seat]


def points(scores: Iterable[float]) -> list[float]:
    """Return scores in hundreds, none beyond the limit."""
    return [score / 100 if -_MOST < score < _MOST else copysign(LIMIT, score) for score in scores]
