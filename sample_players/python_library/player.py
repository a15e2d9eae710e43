"""A player for all four games, with the client library. To make it yours, replace `choose`.

    python3 player.py            plays the best move for this turn
    python3 player.py random     plays any legal move

The client talks to the referee, and the referee's rules list the legal moves. Your part is to choose one.
"""

import os
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

try:
    import msgspec

    from protocol.client import run
    from protocol.messages import Terms
    from referee.games.base import Game, IllegalMove
    from referee.games.q.forms import Place
    from referee.games.q.game import QGame
    from referee.games.quadominos.game import QuadOminos
    from referee.games.quincala.game import QuincalaGame, Stop
    from referee.games.quincy.game import QuincyGame
except ModuleNotFoundError as missing:
    sys.exit(
        f"ModuleNotFoundError: {missing}. This is {sys.executable}; run it with the Python that has the referee: "
        "activate its virtual environment, or name its python3 in player.toml"
    )

GAMES: dict[str, Game[Any, Any, Any]] = {
    game.name: game for game in (QGame(), QuincyGame(), QuincalaGame(), QuadOminos())
}
STRATEGIES = ("heuristic", "random")
STRATEGY = sys.argv[1] if len(sys.argv) > 1 else STRATEGIES[0]
CHANCE = random.Random(os.environ.get("REFEREE_PLAYER_SEED"))
"""Random numbers; matches with the same seed get the same numbers, so that a match can be repeated."""

OPTIONS: dict[str, Any] = {}
"""Options that the organiser set for this match; `referee list GAME --schema` has all options of a game."""


class Shuffle:
    """The player's own random numbers, to deal what the view hides: other hands, and the rest of the pile."""

    def __call__(self, items: Sequence[Any], /) -> list[Any]:
        """Return the items in a random order."""
        return CHANCE.sample(items, len(items))

    def later(self, deal: int) -> "Shuffle":
        """Return the shuffle of a later deal; this one serves for all deals."""
        return self


def choose(game: str, view: dict[str, Any]) -> Any:
    """Return the move to play. This is the function to replace.

    Args:
        game: name of the game: `q`, `quincy`, `quincala` or `quadominos`.
        view: all that this seat may know, as the referee sent it.
    """
    rules = GAMES[game]
    options, typed = rules.parse_options(OPTIONS), msgspec.convert(view, rules.view_type)
    state = rules.imagine(options, typed, Shuffle())  # whatever is hidden is dealt at random
    moves = rules.legal_moves(state)
    if STRATEGY == "random":
        return msgspec.to_builtins(CHANCE.choice(moves))
    values = [value(rules, state, move) for move in moves]
    best = CHANCE.choice([move for move, worth in zip(moves, values, strict=True) if worth == max(values)])
    return msgspec.to_builtins(longer(rules, state, best) if isinstance(best, Place) else best)


def value(game: Game[Any, Any, Any], state: Any, move: Any) -> int:
    """Return how good the position after a move looks to the player that makes it."""
    seat = game.to_move(state)
    after = game.view(game.play(state, move), seat)
    match game.name:
        case "quincala":  # stopping counts a bit more: only a gain is worth another leg
            return 2 * int(after.scores[seat] - after.scores[1 - seat]) + isinstance(move, Stop)
        case "quincy":
            return lines(after.board, after.stone) - lines(after.board, "B" if after.stone == "A" else "A")
    return int(after.scores[seat])


def lines(board: Sequence[str], stone: str) -> int:
    """Count the fours that may become a line; a four counts more the more stones it has."""
    found = 0
    for row in range(9):
        for column in range(9):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if row + 3 * down < 9 and 0 <= column + 3 * right < 9:
                    four = [board[row + i * down][column + i * right] for i in range(4)]
                    found += 4 ** four.count(stone) if set(four) <= {stone, "."} else 0
    return found


def longer(game: Game[Any, Any, Any], state: Any, move: Place) -> Place:
    """Return a placement of the Q game extended by all tiles that may be laid after it."""
    after = msgspec.structs.replace(game.play(state, move), order=state.order)
    for more in game.legal_moves(after):
        if isinstance(more, Place):
            try:
                game.play(state, together := Place([*move.tiles, *more.tiles]))
            except IllegalMove:  # the tile is not in line with the others
                continue
            return longer(game, state, together)
    return move


def begin(offer: Terms) -> Callable[[Any], Any]:
    """Return the function that chooses the moves of an offered match."""
    OPTIONS.clear()
    OPTIONS.update(offer.options)
    return partial(choose, offer.game)


if __name__ == "__main__":
    if STRATEGY not in STRATEGIES:
        sys.exit(f"the strategy is {' or '.join(STRATEGIES)}, not {STRATEGY!r}")
    run(make=begin)
