"""The plugin of the games that come with the referee: a line for each."""

from collections.abc import Iterable
from typing import Any

from ..hookspecs import hookimpl
from .base import Game
from .q import QGame
from .quadominos import QuadOminos
from .quincala import QuincalaGame
from .quincy import QuincyGame


@hookimpl
def referee_games() -> Iterable[Game[Any, Any, Any]]:
    """Return the built-in games."""
    return [
        QGame(),
        QuadOminos(),
        QuincalaGame(),
        QuincyGame(),
    ]
