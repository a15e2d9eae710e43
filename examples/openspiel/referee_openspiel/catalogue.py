"""Which games of OpenSpiel can be played, and why the others cannot.

The referee plays turn by turn, deals from its own seed, and shows each seat only what that seat may know. A game of the
library fits if it does the same. The reasons below are checked against what the library says of each game; only the
last table is our own experience with version 2.0.2.
"""

from collections.abc import Iterator
from importlib.metadata import version

import pyspiel

LIBRARY = f"OpenSpiel {version('open_spiel')}"
MAX_SEATS = 12
"""A match of the referee has no more seats."""

UNFIT = {
    "quoridor": "the library itself warns of known errors in its rules",
    "universal_poker": "its default is a fragment of a game; it needs a definition in a format of its own",
}
"""Name of a game -> why it is left out although the library's description fits."""


def explain_unfitness(kind: pyspiel.GameType) -> str | None:
    """Return why a game cannot be played; None if it can.

    Args:
        kind: the library's description of the game.
    """
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        return "seats move at the same time"
    if kind.max_num_players < 2:
        return "it has one seat"
    if not kind.default_loadable:
        return "it cannot be loaded by its name alone"
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return "it draws its chance itself, so the deal could not be committed to or audited"
    if not (kind.provides_information_state_string or kind.provides_observation_string):
        return "it has no text of what a seat may know"
    return UNFIT.get(kind.short_name)


def list_fit() -> Iterator[pyspiel.GameType]:
    """Yield the library's descriptions of all games that can be played."""
    return (kind for kind in pyspiel.registered_games() if explain_unfitness(kind) is None)


def is_open(kind: pyspiel.GameType) -> bool:
    """Return whether every seat sees everything in a game."""
    return bool(kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION)
