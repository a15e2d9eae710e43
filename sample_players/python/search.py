"""Search, the house player that looks ahead in every game, until its time for the move is over.

It plays any game that keeps the contract. For games with an entry in KNOWLEDGE, it knows more than the rules. `choose`
does not know how much time is left, so the player's budget is a small part of the usual limit.
"""

import os
import random
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from referee.games.base import Game

from .imagined import Shuffler, plain, view_of
from .q_search import QKnowledge
from .quadominos_search import QuadominosKnowledge
from .quincala_search import QuincalaKnowledge
from .quincy_search import QuincyKnowledge
from .search_knowledge import Knowledge, NoKnowledge
from .search_tree import MoveSearch, Race, Tree

BUDGET_VARIABLE = "SEARCH_BUDGET_S"
"""Environment variable of the player's program: seconds for each move. Launched house players have the default, because
a referee passes no variables on."""
BUDGET_S = 0.5
"""A twelfth of the default limit for a move. The rest is a reserve for slow machines, and for several players on one
machine."""
_MORE_STEPS = 0.5
"""Factor of the budget for each further step of a turn; all these steps together take at most one more budget."""

KNOWLEDGE: dict[str, type[Knowledge[Any, Any]]] = {
    "q": QKnowledge,
    "quincy": QuincyKnowledge,
    "quincala": QuincalaKnowledge,
    "quadominos": QuadominosKnowledge,
}
"""Name of a game -> the class of its knowledge."""


class Budget(Struct, frozen=True, kw_only=True):
    """Limits of the search for a move. It ends when the first limit is reached, but not before one iteration."""

    seconds: float = BUDGET_S
    iterations: int | None = None
    """Most iterations; None: as many as there is time for."""


class Search:
    """The search player of one match.

    Args:
        game: the rules.
        options: the match's.
        seed: seed of its random numbers; if iterations are limited, the same seed and views give the same moves.
        budget: for a move.
        clock: returns seconds.
    """

    def __init__(
        self,
        game: Game[Any, Any, Any],
        options: Any,
        seed: bytes,
        budget: Budget,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._game = game
        self._options = options
        self._chance = random.Random(seed)
        self._budget = budget
        self._clock = clock
        self._share = 1.0

    def choose(self, view: Any) -> Any:
        """Return a plain move for a plain view."""
        return plain(self._best(view_of(self._game, view))[0])

    def _best(self, seen: Any) -> tuple[Any, ...]:
        """Return the moves of the best plan."""
        begun_s = self._clock()
        state = self._imagined(seen)
        self._share = self._share * _MORE_STEPS if self._game.is_same_turn(state) else 1.0
        search = self._search(seen, state)
        if not search.is_decided:
            self._run(search, begun_s)
        return search.best()

    def _search(self, seen: Any, state: Any) -> MoveSearch:
        """Return a new search for a move, from a view and a state that agrees with it."""
        game = self._game
        teams = game.teams(self._options, game.seat_count(state))
        knowledge = KNOWLEDGE.get(game.name, NoKnowledge)(game, self._options, teams, self._chance)
        make: type[MoveSearch] = Race if knowledge.is_race else Tree
        return make(knowledge, lambda: self._imagined(seen))

    def _run(self, search: MoveSearch, begun_s: float) -> None:
        done, spent = 0, 0.0
        seconds, iterations = self._budget.seconds * self._share, self._budget.iterations
        while spent < 1:
            search.iterate(spent)
            done += 1
            spent = max((self._clock() - begun_s) / seconds, done / iterations if iterations else 0.0)

    def _imagined(self, seen: Any) -> Any:
        return self._game.imagine(self._options, seen, Shuffler(self._chance))


def make_search(
    game: Game[Any, Any, Any], options: Any, seed: bytes, budget: Budget | None = None
) -> Callable[[Any], Any]:
    """Make the search player for one match.

    Args:
        game: the rules.
        options: the match's.
        seed: for its own chance.
        budget: budget for a move; None: that of the environment variable, or else the default.
    """
    if budget is None:
        budget = Budget(seconds=float(os.environ.get(BUDGET_VARIABLE) or BUDGET_S))
    return Search(game, options, seed, budget).choose
