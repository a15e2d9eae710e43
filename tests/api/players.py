"""Players that are functions, and programs made of them."""

import inspect
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import referee

LATE_S = 0.4
"""How long `late` thinks."""


def program(choose: Callable[[Any], Any], folder: Path) -> str:
    """Write a program that plays by a function of this module that needs no other; return the player that it is."""
    written = folder / f"{choose.__name__}.py"
    text = f"import time\nfrom typing import Any\nfrom protocol.client import run\nLATE_S = {LATE_S}\n"
    written.write_text(f"{text}{inspect.getsource(choose)}\nrun({choose.__name__})\n")
    return f"cmd:{shlex.quote(sys.executable)} {written.name}"


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


def malformed(view: Any) -> Any:
    """Answer what is no move at all."""
    return "pass"


def late(view: Any) -> Any:
    """Think for too long."""
    until = time.monotonic() + LATE_S
    while time.monotonic() < until:
        pass


def stopped(view: Any) -> Any:
    """Be stopped by the user."""
    raise KeyboardInterrupt
