"""Greedy, the house player that makes the best move for this turn, as the search's knowledge of the game rates it.

Its work is bounded by numbers, not by a clock, so that the same view always gives the same move. The bounds keep a move
well within 100 ms.
"""

from collections.abc import Callable
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from referee.games.base import Game
from referee.games.q.forms import Exchange, Pass
from referee.games.q.forms import Move as QMove
from referee.games.q.forms import State as QState
from referee.games.quadominos import forms as quadominos
from referee.games.quadominos.rounds import BONUS_POINTS, MIDDLE, opening_quads
from referee.games.quadominos.rounds import State as QuadominosState
from referee.games.quadominos.tiles import FACES, TILES, Cell, Face, all_faces, lays
from referee.games.quincala.game import Move as QuincalaMove
from referee.games.quincala.turns import State as QuincalaState
from referee.games.quincy import forms as quincy
from referee.games.quincy.board import DOMINOES, SQUARES

from .imagined import picking
from .q_placements import WIDE, Placements, laid
from .quadominos_lays import best_lay, best_two, outlook, promising
from .quincala_ends import rated_places, turn_ends, turn_steps
from .quincy_playouts import Stones

MAX_LEGS = 1000
"""Most legs that are tried in a turn of Quincala Mixing: about 30 ms."""
_MAX_TRIED = 60
"""Most legal moves that are tried in a game that greedy does not know."""
_MAX_LAYS = 40
"""Most lays of Quad-Ominos that are judged closely; those with the most points are chosen. About 10 ms on a slow
machine."""


def _q(state: QState) -> QMove:
    """Return the placement with the most points."""
    hand = state.hands[state.order[0]]
    found = Placements(state.board, tuple(sorted(hand)), state.options, WIDE).all()
    if found:
        return laid(found[0].placed)
    return Exchange() if len(hand) <= len(state.pile) else Pass()


def _quincy(state: quincy.State) -> quincy.Move:
    """Return the move whose square has the highest worth."""
    seat = state.order[0]
    choice = Stones(state.stones).choice(seat % 2, list(state.hands[seat]), can_draw=bool(state.pile))
    domino, square = DOMINOES[choice.domino], SQUARES[choice.square]
    if choice.action == "discard":
        return quincy.Discard(domino)
    return quincy.Add(domino, square) if choice.action == "add" else quincy.Remove(domino, square)


def _quincala(state: QuincalaState) -> QuincalaMove:
    """Return the next step towards the best end of this turn."""
    if state.phase == "place":
        return max(rated_places(state), key=itemgetter(0))[1]
    return turn_steps(state, max(turn_ends(state, MAX_LEGS), key=attrgetter("worth")))[0]


def _quadominos(state: QuadominosState) -> quadominos.Move:
    """Return the best lay; for a bonus, two additional tiles if they are worth more than the 25 points."""
    table, hand = state.table, state.hands[state.order[0]]
    chain_bonus = state.options.chain_bonus
    if state.step == "open":
        return quadominos.Lay(*MIDDLE, TILES[opening_quads(hand)[0]])
    if state.step == "bonus":
        worth, first = best_two(table, hand, earns=chain_bonus)
        return quadominos.Points() if first is None or worth <= BONUS_POINTS + outlook(table, hand) else _lay(*first)
    earns = chain_bonus or state.step == "lay"
    _, best = best_lay(table, hand, promising(lays(table, all_faces(hand)), _MAX_LAYS), earns=earns)
    return _lay(*best) if best else quadominos.Done()


def _lay(cell: Cell, face: Face) -> quadominos.Lay:
    return quadominos.Lay(*cell, FACES[face])


def _any(game: Game[Any, Any, Any], state: Any) -> Any:
    """Return a move that wins at once if there is one; otherwise a move that leaves the opponent the fewest moves.

    It knows nothing about the game. So every game that a package adds has an opponent that is better than chance. If a
    view does not show enough to look ahead, all moves look alike, and this plays the first one.
    """
    seat, best, fewest = game.to_move(state), None, MAX_LEGS
    for move in game.legal_moves(state)[:_MAX_TRIED]:
        after = game.play(state, move)
        outcome = game.outcome(after)
        if outcome is not None and outcome.ranking[:1] == ((seat,),):
            return move
        replies = len(game.legal_moves(after)) if outcome is None else MAX_LEGS
        if best is None or replies < fewest:
            best, fewest = move, replies
    return best


PICKS: dict[str, Callable[[Any], Any]] = {
    "q": _q,
    "quincy": _quincy,
    "quincala": _quincala,
    "quadominos": _quadominos,
}
"""Name of a game -> the function that chooses the move for a state. Other games: see `_any`."""


def make_greedy(game: Game[Any, Any, Any], options: Any, _seed: bytes) -> Callable[[Any], Any]:
    """Make the greedy player for one match."""
    return picking(game, options, PICKS.get(game.name, partial(_any, game)))
