"""The plugin of the games that come with the referee: a line for each."""

from collections.abc import Iterable
from typing import Any

from .. import hookimpl
from .base import Game
from .q.game import QGame
from .quadominos.game import QuadOminos
from .quincala.game import QuincalaGame
from .quincy.game import QuincyGame


@hookimpl
def referee_games() -> Iterable[Game[Any, Any, Any]]:
    """Return the built-in games."""
    return [
        QGame(),
        QuadOminos(),
        QuincalaGame(),
        QuincyGame(),
    ]
