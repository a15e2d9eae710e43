"""The referee: runs bot matches of board and tile games, and writes records that anyone can check.

docs/develop/architecture.md shows the way of one move through the packages, and what each of them holds.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "Cause": "match.fouls",
    "Ending": "match.events",
    "Estimate": "tournament.ratings.elo",
    "Evaluation": "api.evaluating",
    "Foul": "match.fouls",
    "IllegalMove": "games.base",
    "MalformedMove": "games.base",
    "Match": "api.match",
    "Position": "api.position",
    "Rating": "tournament.ratings.elo",
    "Record": "record.reader",
    "RefereeError": "errors",
    "Result": "match.commands",
    "SequentialTest": "app.comparison",
    "Standing": "tournament.standings",
    "Tournament": "api.tournament",
    "Turn": "api.match",
    "evaluate": "api.evaluating",
    "hookimpl": "hookspecs",
    "imagine": "api.starting",
    "load": "api.tournament",
    "play": "api.playing",
    "start": "api.starting",
}
"""Name of the API -> the module that has it, imported when the name is used: commands start without all that.

`__init__.pyi` says the same to type checkers.
"""

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604  # all of them are


def __getattr__(name: str) -> object:
    """Import what a name of the API stands for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'referee' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    """Return the names of the API: what a shell completes to."""
    return [*__all__]
