"""How a person chooses a move: place by place of the drawing, with everything taken back as long as it is not made."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ...games.base import Game, Step


class Choosing:
    """The choice of one move.

    Args:
        game: whose move it is.
        state: as the seat to move knows it.
    """

    def __init__(self, game: Game[Any, Any, Any], state: Any) -> None:
        self._game = game
        self._state = state
        self.touched: tuple[str, ...] = ()
        """What was chosen, in this order."""
        self.steps: tuple[Step, ...] = ()
        """The steps of the move that it makes so far."""
        self.pending: tuple[str, ...] = ()
        """What was chosen of a step that is not whole."""
        self.options: tuple[str, ...] = ()
        self.move: Any = None
        """The move that can be handed in now, plain; None while there is none."""
        self._look()

    def touch(self, option: str) -> None:
        """Choose one of the options.

        Raises:
            KeyError: it is none of them.
        """
        if option not in self.options:
            raise KeyError(option)
        self.touched = (*self.touched, option)
        candidates = self._candidates((*self.pending, option))
        shared = _shared(list(candidates))
        whole = candidates.get(shared)
        if whole is None:
            self.pending = shared
        else:
            self.steps, self.pending = (*self.steps, whole), ()
        self._look()

    def switch(self, option: str) -> None:
        """Choose one of the options, or one in the place of what was chosen last; nothing if it is neither."""
        before = self.touched
        if option not in self.options:
            self.undo()
        for kept in (option,) if option in self.options else before[len(self.touched) :]:
            self.touch(kept)

    def undo(self) -> None:
        """Take back what was chosen last; nothing if there is nothing."""
        again, self.touched, self.steps, self.pending = self.touched[:-1], (), (), ()
        self._look()
        for option in again:
            self.touch(option)

    def _look(self) -> None:
        move = self._game.move_of(self.steps)
        if move is not None:
            self.options, self.move = (), msgspec.to_builtins(move)
            return
        candidates = self._candidates(self.pending)
        closing = self._closing(candidates)
        self.move = None if closing is None else msgspec.to_builtins(self._game.move_of((*self.steps, closing)))
        at = len(self.pending)
        self.options = tuple(dict.fromkeys(places[at] for places, step in candidates.items() if step != closing))

    def _candidates(self, begun: tuple[str, ...]) -> dict[tuple[str, ...], Step]:
        """Return the legal steps whose places begin so, by their places."""
        legal = {self._game.places_of(step): step for step in self._game.legal_steps(self._state, self.steps)}
        return {places: step for places, step in legal.items() if places[: len(begun)] == begun}

    def _closing(self, candidates: dict[tuple[str, ...], Step]) -> Step | None:
        """Return the word that ends a move which has begun: to hand it in says as much; None if there is none."""
        if not self.steps or self.pending:
            return None
        words = (step for step in candidates.values() if isinstance(step, str))
        return next((word for word in words if self._game.move_of((*self.steps, word)) is not None), None)


def _shared(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return how all of some paths begin: where there is no choice, nobody is asked."""
    shortest = min(paths, key=len)
    for at, place in enumerate(shortest):
        if any(path[at] != place for path in paths):
            return shortest[:at]
    return shortest
