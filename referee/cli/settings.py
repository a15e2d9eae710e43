"""The options that `play` and `serve` share, and what they become. Knows the command line; refuses to know sockets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click

from ..match.setup import DEFAULT_PER_MOVE_MS, DEFAULT_START_MS
from ..net.table import TableSettings
from .common import parse_options

F = TypeVar("F", bound=Callable[..., Any])

_MILLISECONDS = 1000.0
_OPTIONS = (
    click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game; repeatable."),
    click.option(
        "--time",
        "time_s",
        type=click.FloatRange(min=0.001, max=86_400),
        default=DEFAULT_PER_MOVE_MS / _MILLISECONDS,
        show_default=True,
        help="Limit for each move, in seconds.",
    ),
    click.option(
        "--start-time",
        "start_s",
        type=click.FloatRange(min=0.001, max=86_400),
        default=DEFAULT_START_MS / _MILLISECONDS,
        show_default=True,
        help="Limit for a program to start and get ready, in seconds.",
    ),
    click.option("--acknowledge", is_flag=True, help="Demand an ack for start, hand-outs and end."),
    click.option("--seed", type=int, help="Fix the shuffle: the same number deals the same game."),
    click.option(
        "--logs",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("logs"),
        show_default=True,
        help="Folder for the match's record.",
    ),
)


def table_options(function: F) -> F:
    """Add the shared options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def table_settings(values: dict[str, Any]) -> TableSettings:
    """Return the settings of a table from the values of the shared options."""
    return TableSettings(
        options=parse_options(values["options"]),
        per_move_ms=values["time_s"] * _MILLISECONDS,
        start_ms=values["start_s"] * _MILLISECONDS,
        acknowledge=values["acknowledge"],
        seed=values["seed"],
        folder=values["logs"],
    )
