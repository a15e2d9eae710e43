"""The referee: runs bot matches of board and tile games, and writes records that anyone can check.

docs/develop/architecture.md follows one move through the packages, and says what each of them contains.
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
    "imagine": "api.position",
    "load": "api.tournament",
    "play": "api.playing",
    "start": "api.position",
}
"""Name of the API -> its module, which is imported only when the name is used, so that commands start faster.

`__init__.pyi` has the same names for type checkers.
"""

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604  # all of them are strings


def __getattr__(name: str) -> object:
    """Import and return the object of a name of the API."""
    if name not in _HOMES:
        raise AttributeError(f"module 'referee' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    """Return the names of the API, which an interactive shell completes."""
    return [*__all__]
