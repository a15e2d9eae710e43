"""Players that are functions."""

from collections.abc import Callable
from typing import Any

import referee


def first(game: str) -> Callable[[Any], Any]:
    """Return a player that plays the first legal move that it finds."""

    def _choose(view: Any) -> Any:
        return referee.imagine(game, view).legal_moves()[0]

    return _choose


def illegal(view: Any) -> Any:
    """Lay a tile where none is."""
    return {"action": "place", "tiles": [[99, 99, view["hand"][0]]]}


def raising(view: Any) -> Any:
    """Fail."""
    raise LookupError("no idea")


def stopped(view: Any) -> Any:
    """Be stopped by the user."""
    raise KeyboardInterrupt
