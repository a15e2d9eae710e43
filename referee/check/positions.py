"""Where matches of the check begin: near their end, and where there is most to see.

By chance, but by the same one every time. Of Q, whose matches are long, the positions are built instead.
"""

import itertools
import time
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from .. import chance
from .scripted_match import AnyGame, ScriptedTerms

_KEY = chance.derive(chance.seed_from_number(1), "a game of the check")
_PLAYS_LEFT = 8
"""Before the end: each of two seats has about four."""
_LIMIT_S = 3.0
"""For a game of somebody's plugin that takes long: where it stands then is as far as the check comes."""
SHORT_OPTIONS: dict[str, dict[str, Any]] = {
    "quadominos": {"rounds": 1},
    "quincala": {"sizes": 3, "max_turns": 30},
}
"""Of games that would take long: for matches that are played to their end."""

_COLOURS = ("red", "green", "blue", "yellow", "orange", "purple")
_SHAPES = ("star", "8star", "square", "circle", "clover", "diamond")
_COLUMNS = 36
_HAND = 6


class Prepared(Struct, frozen=True, kw_only=True):
    """A state of a game in which the program is to move."""

    state: Any
    options: dict[str, Any]
    seat: int
    """Who is to move: the program's seat."""
    seats: int

    def terms(self, game: AnyGame, **changes: Any) -> ScriptedTerms:
        """Return the terms of a match that begins here.

        Args:
            game: the state's.
            changes: further terms.
        """
        return ScriptedTerms(game=game, **msgspec.structs.asdict(self), **changes)


def near_end(game: AnyGame) -> Prepared:
    """Return a state shortly before the end, with the fewest seats."""
    if game.name == "q":
        return _restored(game, {}, short_of_q())
    states = _playout(game, game.seats[0])
    return _prepared(game, states[max(len(states) - 1 - _PLAYS_LEFT, 0)], game.seats[0])


def largest(game: AnyGame) -> Prepared:
    """Return a state in which a seat has the longest view, with the fewest seats or the most."""
    if game.name == "q":
        return _restored(game, {}, _all_of_q())
    states = (state for seats in (game.seats[0], game.seats[-1]) for state in _playout(game, seats)[:-1])
    state = max(states, key=lambda state: _view_bytes(game, state))
    return _prepared(game, state, game.seat_count(state))


def short_of_q() -> dict[str, Any]:
    """Return a plain position of Q with few tiles on the map and a pile that is almost empty."""
    tiles = [f"{colour}-{shape}" for shape in _SHAPES for colour in _COLOURS]
    hands = [tiles[0:_HAND], tiles[_HAND : 2 * _HAND]]
    return {
        "map": [[0, 0, "red-star"], [0, 1, "red-circle"], [1, 0, "blue-star"]],
        "pile": tiles[-3:],
        "players": [{"score": 0, "hand": hand} for hand in hands],
    }


def _all_of_q() -> dict[str, Any]:
    """Return a plain position of Q with nearly all tiles on the map: in a row one colour, in a column one shape."""
    seats, pile = 4, 3
    grid = [
        [row, column, f"{_COLOURS[row % 6]}-{_SHAPES[column % 6]}"]
        for row, column in itertools.product(range(30), range(_COLUMNS))
    ]
    on_map = len(grid) - seats * _HAND - pile
    rest = [tile for _, _, tile in grid[on_map:]]
    players = [{"score": 0, "hand": rest[_HAND * seat : _HAND * (seat + 1)]} for seat in range(seats)]
    return {"map": grid[:on_map], "pile": rest[seats * _HAND :], "players": players}


def _restored(game: AnyGame, options: dict[str, Any], position: dict[str, Any]) -> Prepared:
    state = game.restore(game.parse_options(options), position)
    return Prepared(state=state, options=options, seat=game.to_move(state), seats=game.seat_count(state))


def _prepared(game: AnyGame, state: Any, seats: int) -> Prepared:
    return Prepared(state=state, options=SHORT_OPTIONS.get(game.name, {}), seat=game.to_move(state), seats=seats)


def _view_bytes(game: AnyGame, state: Any) -> int:
    return len(msgspec.msgpack.encode(game.view(state, game.to_move(state))))


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
