"""The search's knowledge of the Q game: placements of several tiles, and the best replies of the next players.

The game itself lists single tiles only; longer placements come from a beam search.
"""

from collections import Counter

from referee.games.q.forms import Exchange, Move, Pass, State

from .q_placements import WIDE, Placed, Placements, Rated, laid
from .search_knowledge import Knowledge, Plan, Values, lead_values, outcome_values, weighed

_MOST_PLANS = 14
_OF_A_LENGTH = 3
"""Most plans of each length: short placements help the opponents less, but longer ones would displace them."""
_REPLY_WIDTH = 8
"""Width of the beam for moves after the player's next one."""
_HEAT = 10.0
"""Difference in points that is clear when plans are weighed."""
_EXCHANGE_POINTS = 2.0
"""Estimated worth of a new hand, in points of a placement."""
_LEAD = 9.0
"""Lead in points that wins in 73 % of cases; a guess that plays well."""
_REPLIES = 2
"""Number of best replies that are played before a position is judged, since a careless move allows good replies."""


class QKnowledge(Knowledge[State, Move]):
    """Knowledge about the Q game."""

    exploring = 0.2
    trusting = 0.05
    _width = WIDE

    def plans(self, state: State) -> list[Plan[Move]]:
        """Return the placements with the most points, exchange and pass."""
        hand = state.hands[state.order[0]]
        found = _various(self._placements(state, self._width).all())
        self._width = _REPLY_WIDTH  # only the plans of the root are worth a wide search
        lead = max(state.scores) - state.scores[state.order[0]]
        rated: list[tuple[float, tuple[Move, ...]]] = [
            (rated.points if _is_sensible(rated, len(hand), lead) else 0.0, (laid(rated.placed),)) for rated in found
        ]
        if len(hand) <= len(state.pile):
            rated.append((_EXCHANGE_POINTS, (Exchange(),)))
        rated.append((0.0, (Pass(),)))
        return weighed(rated, _HEAT, _MOST_PLANS + 2)

    def values(self, state: State) -> Values:
        """Return the worth of the lead after the next seats have made their best placements."""
        for _ in range(_REPLIES):
            placed = self._sensible(state)
            if placed is None:
                break
            state = self.game.deliver(self.game.play(state, laid(placed)))
            outcome = self.game.outcome(state)
            if outcome is not None:
                return outcome_values(outcome, ())
        return lead_values(state.scores, state.order, _LEAD)

    def _sensible(self, state: State) -> Placed | None:
        """Return the placement with the most points among the sensible ones (`_is_sensible`), or None."""
        seat = state.order[0]
        hand, lead = len(state.hands[seat]), max(state.scores) - state.scores[seat]
        found = self._placements(state, _REPLY_WIDTH).all()
        return next((rated.placed for rated in found if _is_sensible(rated, hand, lead)), None)

    def _placements(self, state: State, width: int) -> Placements:
        return Placements(state.board, state.hands[state.order[0]], self.options, width)


def _is_sensible(rated: Rated, hand: int, lead: int) -> bool:
    """Return whether a placement does not end the game with fewer points than another seat."""
    return len(rated.placed) < hand or rated.points >= lead


def _various(found: list[Rated]) -> list[Rated]:
    """Return the placements with the most points, but only few of each length; they stay in order."""
    lengths: Counter[int] = Counter()
    kept = []
    for rated in found:
        length = len(rated.placed)
        if lengths[length] < _OF_A_LENGTH:
            lengths[length] += 1
            kept.append(rated)
    return kept
