"""Lists which games of OpenSpiel can be played, why the others can't, and their options.

The referee plays turn by turn, deals from its own seed, and shows each seat only what that seat may know. A game of the
library fits if it allows that. The checks below use the library's own description of each game; the tables come from
our experience with version 2.0.2.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import version
from typing import Annotated, Any

import msgspec
import pyspiel
from msgspec import Meta, Struct

from referee.text import visible

LIBRARY = f"OpenSpiel {version('open_spiel')}"
MAX_SEATS = 12
"""Most seats of a match of the referee."""

UNFIT = {
    "quoridor": "the library itself warns of known errors in its rules",
    "universal_poker": "its default is a fragment of a game; it needs a definition in a format of its own",
}
"""Name of a game -> why it is left out, although the library's description suits the referee."""
THOUSANDTHS = frozenset({"bargaining", "coin_game", "colored_trails", "first_sealed_auction", "sheriff"})
"""Games whose returns are not whole numbers. Their scores are in thousandths."""
SECOND_BEGINS = frozenset(
    {"antichess", "chess", "crazyhouse", "dark_chess", "einstein_wurfelt_nicht", "kriegspiel", "rbc"}
)
"""Games for two in which the library's player 1 always begins. That player is seat 0 here, because the referee lets
seat 0 begin."""


class Unloadable(Exception):
    """The library refuses a game's options; the text says why."""


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
        return "it draws its chance itself, so the referee could not commit to the deal, and nobody could audit it"
    if not (kind.provides_information_state_string or kind.provides_observation_string):
        return "it has no text of what a seat may know"
    return UNFIT.get(kind.short_name)


def list_fit() -> Iterator[pyspiel.GameType]:
    """Yield the library's descriptions of all games that can be played."""
    return (kind for kind in pyspiel.registered_games() if explain_unfitness(kind) is None)


def is_open(kind: pyspiel.GameType) -> bool:
    """Return whether every seat sees everything in a game."""
    return bool(kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION)


_LEFT_OUT = frozenset(
    {"players", "rng_seed", "seed", "random_start_player", "fen", "subgame", "instances_file", "boards_file"}
)
"""Parameters that are not options: the match decides seats and chance, a wrong FEN ends the process, and a record does
not contain files of the organiser's machine."""
_TYPES: dict[type, Any] = {bool: bool, int: Annotated[int, Meta(ge=-10_000, le=10_000)], float: float, str: str}


def make_options(kind: pyspiel.GameType) -> type[Struct]:
    """Make the struct of a game's options from the library's description of its parameters."""
    fields: list[tuple[str, Any, Any]] = []
    for parameter, default in sorted(kind.parameter_specification.items()):
        if parameter in _LEFT_OUT or type(default) not in _TYPES or not parameter.isidentifier():
            continue
        value = False if parameter == "ansi_color_output" else default  # colours would be noise in a view
        meaning = Meta(description=f"The library's parameter {parameter} of {kind.short_name}.")
        fields.append((parameter, Annotated[_TYPES[type(default)], meaning], value))
    return msgspec.defstruct("Options", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


@lru_cache(maxsize=16)  # loading a game takes up to a second, and a player that looks ahead loads it in each turn
def load_game(name: str, options: Struct, seats: int | None) -> Any:
    """Load a game of the library.

    Args:
        name: the library's name of the game.
        options: from `make_options`.
        seats: number of seats; None if the game has no such parameter.

    Raises:
        Unloadable: the library refuses the options.
    """
    # Only values that differ from the default are passed on: some games refuse an explicit default.
    defaults, values = type(options)(), msgspec.structs.asdict(options)
    given = {
        parameter: value
        for parameter, value in values.items()
        if value != getattr(defaults, parameter) or parameter == "ansi_color_output"
    }
    if seats is not None:
        given["players"] = seats
    try:
        return pyspiel.load_game(name, given)
    except Exception as error:  # noqa: BLE001  # the library raises its own class of errors, and others
        text = re.sub(r"^\S+:\d+ ", "", str(error))  # the place in the library's source
        raise Unloadable(visible(" ".join(text.split()))[:200]) from None
