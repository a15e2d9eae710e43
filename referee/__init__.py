"""The referee: runs bot matches of board and tile games, and writes records that anyone can check.

docs/develop/architecture.md shows the way of one move through the packages, and what each of them holds.
"""

import pluggy

__version__ = "0.1.0"

hookimpl = pluggy.HookimplMarker("referee")
"""Marks the functions of a plugin; the hooks are in `referee.hookspecs`."""

__all__ = ["__version__", "hookimpl"]
