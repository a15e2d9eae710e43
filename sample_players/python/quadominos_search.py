"""The search's knowledge of Quad-Ominos: promising lays, and the worth of hands during a round.

The numbers are fitted to rounds of the greedy player against itself, some of its moves left to chance.
"""

from referee.games.quadominos.forms import Lay, Move
from referee.games.quadominos.rounds import BONUS_POINTS, State
from referee.games.quadominos.tiles import (
    FACE_BY_NAME,
    FACES,
    FITTING,
    TILE_OF,
    TOTALS,
    LaidTiles,
    Tile,
    all_faces,
    each_face,
    lays,
)

from .quadominos_lays import best_lay, outlook, promising, tried
from .search_knowledge import Knowledge, Plan, Values, lead_values, weighed

_MOST_PLANS = 8
_MOST_LOOKED_AT = 16
_HEAT = 8.0
"""Difference in points that is clear when plans are weighed."""
_LEAD = 40.0
"""Lead in points that wins in 73 % of cases."""
_PER_PLACE = 1.8
_MOST_PLACES = 12
_PER_PLAYABLE = 4.8
"""Worth of a tile in hand that fits somewhere."""
_NOTHING_FITS = -9.0
_PER_TILE = 13.4
"""Worth of a tile in hand: in the middle of a round, many tiles are good to have."""
_NEAR_OUT = -46.0
"""Added to _PER_TILE, divided by the size of the smallest hand plus 2: near the end of a round, tiles are a burden."""


class QuadominosKnowledge(Knowledge[State, Move]):
    """Knowledge about Quad-Ominos."""

    exploring = 0.1

    def plans(self, state: State) -> list[Plan[Move]]:
        """Return the lays that score most and leave places for the rest of the hand, and moves that lay nothing."""
        earns = state.step == "lay" or self.options.chain_bonus
        hand, rated = state.hands[state.order[0]], list[tuple[float, tuple[Move, ...]]]()
        for move in sorted(self.game.legal_moves(state), key=_total, reverse=True)[:_MOST_LOOKED_AT]:
            if not isinstance(move, Lay):
                rated.append((BONUS_POINTS + outlook(state.table, hand), (move,)))
                continue
            cell, face = (move.row, move.column), FACE_BY_NAME[move.tile]
            worth, table, rest = tried(state.table, hand, cell, face, earns=earns)
            if state.step == "bonus":
                rated.append(_with_second(worth, move, table, rest, earns=earns))
            else:
                rated.append((worth + outlook(table, rest), (move,)))
        return weighed(rated, _HEAT, _MOST_PLANS)

    def values(self, state: State) -> Values:
        """Return the worth of the points and the hands."""
        least = min(len(state.hands[seat]) for seat in state.order)
        per_tile = _PER_TILE + _NEAR_OUT / (least + 2)
        points = [float(score) for score in state.scores]
        for seat in state.order:
            hand = state.hands[seat]
            faces = all_faces(hand)
            fitting = [found for pattern in state.table.around.values() if (found := FITTING[pattern] & faces)]
            together = 0
            for found in fitting:
                together |= found
            playable = len({TILE_OF[face] for face in each_face(together)})
            points[seat] += per_tile * len(hand) + _PER_PLACE * min(len(fitting), _MOST_PLACES)
            points[seat] += _PER_PLAYABLE * playable if playable else _NOTHING_FITS
        return lead_values(points, state.order, _LEAD)


def _with_second(
    worth: float, move: Lay, table: LaidTiles, rest: tuple[Tile, ...], *, earns: bool
) -> tuple[float, tuple[Move, ...]]:
    """Return the total worth of a first additional tile and the best second one, and both moves."""
    more, second = best_lay(table, rest, promising(lays(table, all_faces(rest)), _MOST_LOOKED_AT), earns=earns)
    assert second is not None
    (row, column), face = second
    return worth + more, (move, Lay(row, column, FACES[face]))


def _total(move: Move) -> int:
    """Return the points of a move's tile; moves that lay nothing count as the bonus, more than any tile."""
    return TOTALS[TILE_OF[FACE_BY_NAME[move.tile]]] if isinstance(move, Lay) else BONUS_POINTS
