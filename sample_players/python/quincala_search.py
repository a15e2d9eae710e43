"""The search's knowledge of Quincala Mixing: plans are whole turns; values look at the next turn's best end."""

from heapq import nlargest
from operator import attrgetter

from msgspec.structs import replace

from referee.games.quincala.board import MAX_SIZES
from referee.games.quincala.game import Move
from referee.games.quincala.turns import State

from .quincala_ends import WON, board_worth, rated_places, turn_ends, turn_steps
from .search_knowledge import Knowledge, Plan, Values, sigmoid, weighed

_MOST_PLANS = 30
"""Most plans of a position. They are many, because the best end may be the one that lets the other seat win."""
_OWN_STEPS = 2000
"""Most legs examined for the player's own turn: some of the best turns have four or five legs, and may win."""
_STEPS = 250
"""Most legs examined for the plans of later turns."""
_ANSWER_STEPS = 120
"""Most legs examined for the value of a position."""
_HEAT = 120.0
_TURN = 130.0
"""Half of the mean gain of a turn's best end. With it, positions before a turn and after a turn can be compared."""
_LEAD = 120.0
"""Lead in points that wins in 73 % of cases."""


class QuincalaKnowledge(Knowledge[State, Move]):
    """Knowledge about Quincala Mixing."""

    exploring = 0.25
    trusting = 0.05
    is_open = True
    _steps = _OWN_STEPS

    def plans(self, state: State) -> list[Plan[Move]]:
        """Return the best ends of the turn, or the best dots for the first piece to be placed."""
        if state.phase != "place":
            best = nlargest(_MOST_PLANS, turn_ends(state, self._steps), key=attrgetter("worth"))
            self._steps = _STEPS  # only the plans of the root are worth a long search
            if best[0].worth == WON:
                best = best[:1]
            return weighed([(end.worth, turn_steps(state, end)) for end in best], _HEAT, _MOST_PLANS)
        rated = [(worth, (place,)) for worth, place in rated_places(state)]
        return weighed(rated, _HEAT / MAX_SIZES, _MOST_PLANS)

    def values(self, state: State) -> Values:
        """Return the worth of the best end of the turn; pieces that must be placed first are ignored."""
        seat = state.seat
        ends = turn_ends(replace(state, phase="move") if state.phase == "place" else state, _ANSWER_STEPS)
        lead = max((end.worth for end in ends), default=-board_worth(state, 1 - seat)) - _TURN
        chance = sigmoid(lead / _LEAD)
        return (chance, 1 - chance) if seat == 0 else (1 - chance, chance)
