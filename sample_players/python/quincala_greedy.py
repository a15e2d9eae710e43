"""Greedy for Quincala Mixing: looks through its own turn, then at the answers to the best few ends of it.

The search is bounded by a number of steps, not by a clock, so that the same view always gives the same move; the bound
keeps a move well within 100 ms.
"""

from collections.abc import Callable, Iterator
from typing import Any

from referee.games.base import Game
from referee.games.quincala.board import MAX_SIZES, OWN, first_legs, mixed, mixed_counts
from referee.games.quincala.game import Leg, Move, Place, Stop
from referee.games.quincala.turns import State

from .imagined import picking

MAX_STEPS = 250
"""Steps of the own turn that are tried at most: about 15 ms."""
MAX_ENDS = 3
"""Ends of the own turn whose answers are looked at; with MAX_ANSWERS about 15 ms."""
MAX_ANSWERS = 100
"""Legs with which the opponent may answer, of each end."""
WON = 1e6

Choice = tuple[float, int, Move, State]
"""What an end of the turn is worth, its number (the earlier of equals is taken), its first step, and its state."""


def value(state: State, seat: int) -> float:
    """Return what a position is worth to a seat: sizes in mixed towers first, then pieces there, then free towers."""
    if state.ending is not None:
        winner = state.ending.winner
        return 0.0 if winner is None else WON if winner == seat else -WON
    counts = mixed_counts(state.board)
    points = 100.0 * counts[seat] - 90.0 * counts[1 - seat]
    own, other = OWN[seat], OWN[1 - seat]
    for tower in filter(None, state.board):
        if tower & own and tower & other:
            points += 6 * (tower & own).bit_count() - 5 * (tower & other).bit_count()
        elif tower & own:
            points += (tower & (tower - 1) != 0) * 3
    return points + sum(1 if piece // MAX_SIZES != seat else -4 for piece in state.hands[1 - seat])


def contacts(state: State, seat: int) -> int:
    """Count the first legs of a seat that would mix a size which is not yet mixed."""
    missing = OWN[seat] & ~mixed(state.board)
    other = OWN[1 - seat]
    legs = first_legs(state.field, state.board, {}, seat)
    return sum(1 for start, end in legs if state.board[end] & other and state.board[start] & missing)


class Search:
    """The search of one move.

    Args:
        game: the rules.
        state: where the seat to move stands.
    """

    def __init__(self, game: Game[Any, Any, Any], state: State) -> None:
        self._game = game
        self._state = state
        self._seat = game.to_move(state)

    def run(self) -> Move:
        """Return the next step of the turn."""
        if self._state.phase == "place":
            return self._best_place()
        ends = sorted(self._ends(), key=lambda choice: (-choice[0], choice[1]))[:MAX_ENDS]
        if ends[0][0] == WON:
            return ends[0][2]
        return max(ends, key=lambda choice: (self._after_answers(choice[3]), -choice[1]))[2]

    def _best_place(self) -> Move:
        """Return the dot with the best chances to mix, for the first kind of piece in hand."""
        places = [move for move in self._game.legal_moves(self._state) if isinstance(move, Place)]
        places = [move for move in places if move.piece == places[0].piece]

        def _chances(move: Place) -> float:
            after = self._game.play(self._state, move)
            return value(after, self._seat) + 4 * contacts(after, self._seat) - 5 * contacts(after, 1 - self._seat)

        return max(places, key=_chances)

    def _ends(self) -> Iterator[Choice]:
        """Yield the ends of the turn that are found, the shortest first."""
        game, seen = self._game, {self._key(self._state)}
        reached: list[tuple[State, Move | None]] = [(self._state, None)]
        count = 0
        for state, first in reached:
            for move in game.legal_moves(state) if count < MAX_STEPS else [Stop()]:
                after = game.play(state, move)
                count += 1
                begun = first or move
                if not game.is_same_turn(after):
                    yield value(after, self._seat), count, begun, after
                elif count < MAX_STEPS and self._key(after) not in seen:
                    seen.add(self._key(after))
                    reached.append((after, begun))

    @staticmethod
    def _key(state: State) -> tuple[Any, ...]:
        return state.path[-1:], state.board, state.phase

    def _after_answers(self, state: State) -> float:
        """Return what is left of an end of the turn after the opponent's best single leg."""
        worst = value(state, self._seat)
        if state.ending is not None or state.seat == self._seat:
            return worst
        for move in self._game.legal_moves(state)[:MAX_ANSWERS]:
            if not isinstance(move, Leg):
                continue
            answered = self._game.play(state, move)
            if self._game.is_same_turn(answered):
                answered = self._game.play(answered, Stop())
            worst = min(worst, value(answered, self._seat))
        return worst


def make_greedy(game: Game[Any, Any, Any], options: Any, _seed: bytes) -> Callable[[Any], Any]:
    """Make the greedy player for one match."""
    return picking(game, options, lambda state: Search(game, state).run())
