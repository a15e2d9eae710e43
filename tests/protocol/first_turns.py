"""The first turn of each game in a fixed deal for two, as in vectors.json."""

from typing import Any, NamedTuple

from referee import chance
from referee.games.base import Game
from referee.testing.seats import plain

from .tables import SEED


class FirstTurn(NamedTuple):
    """The messages of a turn, plain."""

    view: Any
    move: Any
    told: Any


def first_turn(game: Game[Any, Any, Any]) -> FirstTurn:
    """Play the first legal move of the deal of `--seed 7`."""
    key = chance.shuffle_key(SEED, [None] * game.seats[0])
    state = game.new(game.parse_options({}), game.seats[0], chance.Dealer(key))
    move = game.legal_moves(state)[0]
    told = {"kind": "played", **game.news(game.play(state, move)).public}
    return FirstTurn(plain(game.view(state, game.to_move(state))), plain(move), plain(told))
