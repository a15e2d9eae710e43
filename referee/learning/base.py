"""Turns positions and moves of a game into arrays and numbers: the interface, and the parts that all games share.

An observation holds nothing that the view of its seat does not show. This makes training useful: a policy that was
trained in an environment can play in real matches, where it receives views. It imagines a state from the view, and the
observation of this state is exactly the one of the environment.

A move may have several steps (a tile, then its square), each of which is an action. Otherwise a game with a thousand
squares and forty tiles would have tens of thousands of actions, and no policy would see each of them often enough to
learn anything about it.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import copysign, prod
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import BadRequest
from ..games.arguments import describe
from ..games.base import Game, Step

T = TypeVar("T")

Vector = NDArray[np.float32]
Mask = NDArray[np.int8]
LIMIT = 10.0
"""Largest absolute value of a number in an observation."""
_MOST = 100 * LIMIT
"""The score from which on an observation shows LIMIT."""


class Part(NamedTuple):
    """A part of an observation, or the actions of one kind."""

    name: str
    shape: tuple[int, ...]
    meaning: str


class Encoding(ABC):
    """The arrays and numbers of one game with its options and its number of seats.

    Args:
        game: the rules.
        options: the parsed options.
        seats: number of seats.
    """

    game: ClassVar[str]
    """Name of the game."""

    def __init__(self, game: Game[Any, Any, Any], options: Any, seats: int) -> None:
        self.rules, self.options, self.seats = game, options, seats
        self.parts = tuple(self._parts())
        """Parts of an observation, one after the other."""
        self.kinds = tuple(self._kinds())
        """Kinds of actions, whose numbers follow one another."""
        self.length = sum(prod(part.shape) for part in self.parts)
        """Number of numbers in an observation."""
        self.actions = sum(prod(kind.shape) for kind in self.kinds)
        """Number of actions."""
        self._slices = _slices(self.parts)
        self._at: dict[str, int] = {name: span.start for name, span in self._slices.items()}
        """Part -> the place at which it begins."""
        self._first: dict[str, int] = {name: span.start for name, span in _slices(self.kinds).items()}
        """Kind -> its first action."""
        self._blank = np.zeros(self.length, np.float32)
        """An observation before anything is marked in it."""

    @abstractmethod
    def _parts(self) -> Iterable[Part]:
        """Yield the parts of an observation."""

    @abstractmethod
    def _kinds(self) -> Iterable[Part]:
        """Yield the kinds of actions."""

    @abstractmethod
    def _mark(self, vector: Vector, state: Any, seat: int, chosen: tuple[Any, ...]) -> None:
        """Write all numbers of an observation, a copy of `_common`, except those of `_last`."""

    @abstractmethod
    def _last(self, state: Any, seat: int, chosen: tuple[Any, ...]) -> list[float]:
        """Return the numbers at the end of an observation."""

    @abstractmethod
    def numbers(self, state: Any, steps: Sequence[Any]) -> Iterable[int]:
        """Yield the actions of steps that are legal together.

        Args:
            state: the state in which they are legal.
            steps: the steps, as `legal_steps` returns them.
        """

    def observation(self, state: Any, seat: int, chosen: tuple[Step, ...] = ()) -> Vector:
        """Return the observation of a seat, in an array of its own.

        Args:
            state: state of the game; only what the seat's view shows of it matters.
            seat: the seat.
            chosen: the steps of the seat's move so far.

        >>> position = match.positions[0]
        >>> view = match.turns[0].view
        >>> encoding = referee.learning.encoding_of("quincy")
        >>> state = encoding.rules.imagine(encoding.options, as_view(view), dealer)
        >>> encoding.observation(state, 0).shape
        (438,)
        """
        vector = self._common(state).copy()
        self._mark(vector, state, seat, chosen)
        last = self._last(state, seat, chosen)
        vector[-len(last) :] = last
        return vector

    def _common(self, state: Any) -> Vector:
        """Return the numbers that all observations of a state share."""
        return self._blank

    def part(self, observation: Vector, name: str) -> Vector:
        """Return one part of an observation in its shape.

        >>> encoding = referee.learning.encoding_of("quincy")
        >>> encoding.part(np.zeros(encoding.length, np.float32), "board").shape
        (4, 9, 9)
        """
        shape = next(part.shape for part in self.parts if part.name == name)
        return observation[self._slices[name]].reshape(shape)

    def legal(self, state: Any, chosen: tuple[Step, ...]) -> dict[int, Step]:
        """Return the legal steps by action; of several squares outside the window, only the first one.

        >>> encoding = referee.learning.encoding_of("quincy")
        >>> state = encoding.rules.imagine(encoding.options, as_view(match.turns[0].view), dealer)
        >>> len(encoding.legal(state, ()))
        88
        """
        # `dict` keeps the last of equal keys. In reversed order, that is the first of the steps that share an action.
        steps = self.rules.legal_steps(state, chosen)[::-1]
        return dict(zip(self.numbers(state, steps), steps, strict=True))

    def mask(self, legal: Iterable[int]) -> Mask:
        """Return 1 for each of the given actions, and 0 for all others.

        >>> referee.learning.encoding_of("quincy").mask([0, 2])[:4].tolist()
        [1, 0, 1, 0]
        """
        # NumPy takes longer for single elements. An array over a bytearray can be written, unlike one over bytes,
        # which matters to libraries that make tensors of it without a copy.
        mask = bytearray(self.actions)
        for action in legal:
            mask[action] = 1
        return np.frombuffer(mask, np.int8)

    def read_action(self, action: Any, what: str = "an action") -> int:
        """Return an action as a number; numbers of NumPy and arrays of one number are accepted, too.

        Args:
            action: the action, as a program gave it.
            what: words for the action, for the error.

        Raises:
            BadRequest: it is not an action of the game.

        >>> referee.learning.encoding_of("quincy").read_action(np.array([603]))
        603
        """
        if isinstance(action, np.ndarray) and action.size == 1:
            action = action.item()
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if not 0 <= number < self.actions:
            raise BadRequest(f"{what} is a number from 0 to {self.actions - 1}, not {describe(action)}")
        return number


def _slices(parts: Iterable[Part]) -> Mapping[str, slice]:
    """Return the places of parts that follow one another."""
    slices, start = {}, 0
    for part in parts:
        end = start + prod(part.shape)
        slices[part.name] = slice(start, end)
        start = end
    return slices


def from_own(values: tuple[T, ...], seat: int) -> tuple[T, ...]:
    """Return values by seat, beginning with those of one seat and continuing in the order of the seats.

    >>> from_own(("a", "b", "c"), 1)
    ('b', 'c', 'a')
    """
    return values[seat:] + values[:seat]


def points(scores: Iterable[float]) -> list[float]:
    """Return scores divided by 100, limited to the range from -LIMIT to LIMIT.

    >>> points([50, -100_000])
    [0.5, -10.0]
    """
    return [score / 100 if -_MOST < score < _MOST else copysign(LIMIT, score) for score in scores]
