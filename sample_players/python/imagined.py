"""Tools of a player that looks ahead in any game: typed views, plain moves, and random numbers of its own."""

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from referee.games.base import Game

T = TypeVar("T")


class Shuffler:
    """A player's own random numbers, as the shuffle that games expect.

    Args:
        chance: the source of the random numbers.
    """

    def __init__(self, chance: random.Random) -> None:
        self._seed = chance.getrandbits(64)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shuffler) and other._seed == self._seed

    def __hash__(self) -> int:
        return hash(self._seed)

    def __call__(self, items: Sequence[T], /) -> list[T]:
        """Return the items in a random order; every call gives the same order."""
        draw = random.Random(self._seed).random
        keys = [draw() for _ in items]  # sorting by random keys is faster than shuffling in place
        return [items[number] for number in sorted(range(len(keys)), key=keys.__getitem__)]

    def later(self, deal: int) -> "Shuffler":
        """Return the shuffle of another deal."""
        return Shuffler(random.Random(self._seed + deal))


def view_of(game: Game[Any, Any, Any], view: Any) -> Any:
    """Return a plain view as the game's own type."""
    return msgspec.convert(view, game.view_type, strict=True)


def plain(move: Any) -> Any:
    """Return a move as plain data, as messages hold it."""
    return msgspec.to_builtins(move)


def picking(game: Game[Any, Any, Any], options: Any, pick: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function from a plain view to a plain move, for a player that ignores what is hidden.

    Args:
        game: the rules.
        options: options of the match.
        pick: returns a move for a state that agrees with the view.
    """
    shuffle = Shuffler(random.Random(0))
    return lambda view: plain(pick(game.imagine(options, view_of(game, view), shuffle)))
