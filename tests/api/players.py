"""Players that are functions, and programs that use these functions."""

import inspect
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import referee

LATE_S = 0.4
"""Seconds for which `late` thinks."""


def program(choose: Callable[[Any], Any], folder: Path) -> str:
    """Write a program that plays with a function of this module; return the player's folder.

    The function is in the same line of a file of the same name, so that a crash is reported with the same place.
    """
    written = folder / choose.__name__ / "players.py"
    written.parent.mkdir()
    source, line = inspect.getsourcelines(choose)
    head = f"import time; from typing import Any; from protocol.client import run; LATE_S = {LATE_S}"
    written.write_text(f"{head}{chr(10) * (line - 1)}{''.join(source)}\nrun({choose.__name__})\n")
    return f"cmd:{shlex.quote(sys.executable)} {choose.__name__}/players.py"


def first(game: str) -> Callable[[Any], Any]:
    """Return a player that plays the first legal move that it finds."""

    def _choose(view: Any) -> Any:
        return referee.imagine(game, view).legal_moves()[0]

    return _choose


def illegal(view: Any) -> Any:
    """Lay a tile that is not in hand."""
    return {"action": "place", "tiles": [[99, 99, view["hand"][0]]]}


def raising(view: Any) -> Any:
    """Fail."""
    raise LookupError("no idea")


def malformed(view: Any) -> Any:
    """Return something that is not a move."""
    return "pass"


def late(view: Any) -> Any:
    """Think for too long."""
    until = time.monotonic() + LATE_S
    while time.monotonic() < until:
        pass


def stopped(view: Any) -> Any:
    """Raise KeyboardInterrupt, as when the user presses Ctrl-C."""
    raise KeyboardInterrupt
