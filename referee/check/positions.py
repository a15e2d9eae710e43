"""Where matches of the check begin: near their end, and where there is most to see.

By chance, but by the same one every time. Of Q, whose matches are long, the positions are built instead.
"""

import itertools
import time
from functools import cache
from typing import Any

import msgspec

from .. import chance
from ..games.q.tiles import COLORS, NAMES, SHAPES
from ..testing.seats import AnyGame
from .scripted_match import ScriptedTerms

_KEY = chance.derive(chance.seed_from_number(1), "a game of the check")
_PLAYS_LEFT = 8
"""Before the end: each of two seats has about four."""
_LIMIT_S = 3.0
"""For a game of somebody's plugin that takes long: where it stands then is as far as the check comes."""
SHORT_OPTIONS: dict[str, dict[str, Any]] = {"quadominos": {"rounds": 1}, "quincala": {"sizes": 3, "max_turns": 30}}
"""Of games that would take long: for matches that are played to their end."""
_HAND = 6


def near_end(game: AnyGame) -> ScriptedTerms:
    """Return the terms of a match that begins shortly before the end, with the fewest seats, the program to move."""
    if game.name == "q":
        return _begun(game, game.restore(game.parse_options({}), short_of_q()))
    states = _playout(game, game.seats[0])
    return _begun(game, states[max(len(states) - 1 - _PLAYS_LEFT, 0)])


def largest(game: AnyGame) -> ScriptedTerms:
    """Return the terms of a match that begins with the longest view, with the fewest seats or the most."""
    if game.name == "q":
        return _begun(game, game.restore(game.parse_options({}), _all_of_q()))
    states = (state for seats in (game.seats[0], game.seats[-1]) for state in _playout(game, seats)[:-1])
    state = max(states, key=lambda state: len(msgspec.msgpack.encode(game.view(state, game.to_move(state)))))
    return _begun(game, state)


def short_of_q() -> dict[str, Any]:
    """Return a plain position of Q with few tiles on the map and a pile that is almost empty."""
    hands = [list(NAMES[:_HAND]), list(NAMES[_HAND : 2 * _HAND])]
    return {
        "map": [[0, 0, "red-star"], [0, 1, "red-circle"], [1, 0, "blue-star"]],
        "pile": list(NAMES[-3:]),
        "players": [{"score": 0, "hand": hand} for hand in hands],
    }


def _all_of_q() -> dict[str, Any]:
    """Return a plain position of Q with nearly all tiles on the map: in a row one colour, in a column one shape."""
    seats, pile = 4, 3
    grid = [
        [row, column, f"{COLORS[row % 6]}-{SHAPES[column % 6]}"]
        for row, column in itertools.product(range(30), range(36))
    ]
    on_map = len(grid) - seats * _HAND - pile
    rest = [tile for _, _, tile in grid[on_map:]]
    players = [{"score": 0, "hand": rest[_HAND * seat : _HAND * (seat + 1)]} for seat in range(seats)]
    return {"map": grid[:on_map], "pile": rest[seats * _HAND :], "players": players}


def _begun(game: AnyGame, state: Any) -> ScriptedTerms:
    """Return the terms of a match that begins with a state; who is to move there is the program."""
    options, seats = SHORT_OPTIONS.get(game.name, {}), game.seat_count(state)
    return ScriptedTerms(game=game, state=state, options=options, seat=game.to_move(state), seats=seats)


@cache
def _playout(game: AnyGame, seats: int) -> tuple[Any, ...]:
    """Return the states of a game that is played by chance, the last one over unless it takes too long."""
    options = game.parse_options(SHORT_OPTIONS.get(game.name, {}))
    states, source = [game.new(options, seats, chance.Dealer(_KEY))], chance.Stream(_KEY)
    give_up = time.monotonic() + _LIMIT_S
    while game.outcome(states[-1]) is None and time.monotonic() < give_up:
        legal = game.legal_moves(states[-1])
        states.append(game.deliver(game.play(states[-1], legal[source.below(len(legal))])))
    return tuple(states)
