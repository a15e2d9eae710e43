"""The options that `play`, `serve` and `compare` share, and what they become. Knows no sockets."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click

from ...games.base import Game
from ...match.setup import DEFAULT_LAG_MARGIN_MS, DEFAULT_PER_MOVE_MS, DEFAULT_START_MS
from ...net.matches.settings import TableSettings
from ...record.key_file import BadKey, default_path, load_or_make
from ...record.seal import Sealer
from ..common import console, parse_options


class Seconds(click.FloatRange):
    """A finite number of seconds within a range."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is no number to count with."""
        try:
            is_number = math.isfinite(float(value))
        except ValueError:
            is_number = False
        if not is_number:
            self.fail(f"{str(value)!r} is no number of seconds", param, ctx)
        return super().convert(value, param, ctx)


F = TypeVar("F", bound=Callable[..., Any])

_MILLISECONDS = 1000.0
_OPTIONS = (
    click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game; repeatable."),
    click.option(
        "--time",
        "time_s",
        type=Seconds(min=0.001, max=86_400),
        default=DEFAULT_PER_MOVE_MS / _MILLISECONDS,
        show_default=True,
        help="Limit for each move, in seconds.",
    ),
    click.option(
        "--bank",
        "bank_s",
        type=Seconds(min=0.001, max=86_400),
        help="Time for all moves of a player together, in seconds; --time limits each of them all the same.",
    ),
    click.option(
        "--increment",
        "increment_s",
        type=Seconds(min=0, max=86_400),
        default=0.0,
        show_default=True,
        help="Added to the bank for each move, in seconds.",
    ),
    click.option(
        "--start-time",
        "start_s",
        type=Seconds(min=0.001, max=86_400),
        default=DEFAULT_START_MS / _MILLISECONDS,
        show_default=True,
        help="Limit for a program to start and get ready, in seconds.",
    ),
    click.option(
        "--lag-margin",
        "lag_margin_s",
        type=Seconds(min=0, max=86_400),
        default=DEFAULT_LAG_MARGIN_MS / _MILLISECONDS,
        show_default=True,
        help="Longest standstill of the referee, in seconds, under which it still judges lateness.",
    ),
    click.option("--acknowledge", is_flag=True, help="Demand an ack for start, hand-outs and end."),
    click.option("--seed", type=int, help="Fix the shuffle: the same number deals the same game."),
    click.option(
        "--key",
        type=click.Path(dir_okay=False, path_type=Path),
        help="File of the key that seals the record; made if missing. See `referee key`.",
    ),
    click.option(
        "--logs",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("logs"),
        show_default=True,
        help="Folder for the match's record.",
    ),
)


lot_option = click.option("--lot", is_flag=True, help="Draw the seats by lot, from the match's seed.")
resume_option = click.option(
    "--resume",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Record of a match whose referee died: play it to its end.",
)


def table_options(function: F) -> F:
    """Add the shared options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def find_sealer(path: Path | None) -> Sealer:
    """Return the key that seals records; make it on first use, and say so.

    Raises:
        click.ClickException: it can't be read or made.
    """
    where = path or default_path(os.environ)
    try:
        sealer, is_new = load_or_make(where)
    except BadKey as error:
        raise click.ClickException(str(error)) from None
    if is_new:
        console.print(f"made a key to seal records with: {where}", markup=False, highlight=False, soft_wrap=True)
    return sealer


def time_limits(values: dict[str, Any]) -> dict[str, Any]:
    """Return the limits of a match, by the names that settings have for them, from the values of the shared options.

    Args:
        values: of the options above, in seconds.

    Raises:
        click.UsageError: there is an increment, and no bank to add it to.
    """
    if values["increment_s"] and values["bank_s"] is None:
        raise click.UsageError("--increment adds to a bank: give one with --bank SECONDS")
    return {
        "per_move_ms": values["time_s"] * _MILLISECONDS,
        "bank_ms": None if values["bank_s"] is None else values["bank_s"] * _MILLISECONDS,
        "increment_ms": values["increment_s"] * _MILLISECONDS,
        "start_ms": values["start_s"] * _MILLISECONDS,
        "lag_margin_ms": values["lag_margin_s"] * _MILLISECONDS,
    }


def table_settings(rules: Game[Any, Any, Any], values: dict[str, Any], programs: tuple[str, ...] = ()) -> TableSettings:
    """Return the settings of a table from the values of the shared options.

    Args:
        rules: of the game that is played.
        values: of the options above.
        programs: how the players' programs were given, by seat, if the referee starts them.
    """
    return TableSettings(
        options=parse_options(values["options"], rules.file_options),
        **time_limits(values),
        lot=values["lot"],
        acknowledge=values["acknowledge"],
        seed=values["seed"],
        folder=values["logs"],
        programs=programs,
    )
