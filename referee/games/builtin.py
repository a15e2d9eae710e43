"""The plugin of the games that come with the referee: a line for each."""

from collections.abc import Iterable

from ..hookspecs import Later, hookimpl


@hookimpl
def referee_games() -> Iterable[Later]:
    """Return the built-in games."""
    return [
        Later("referee.games.q.game:QGame", "q"),
        Later("referee.games.quadominos.game:QuadOminos", "quadominos"),
        Later("referee.games.quincala.game:QuincalaGame", "quincala"),
        Later("referee.games.quincy.game:QuincyGame", "quincy"),
    ]
