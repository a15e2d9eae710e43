"""The options that say how a match is played, and what they become."""

import json
import math
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import rich_click as click
from msgspec import Struct

from protocol.messages import TimeControl

from ..chance import MAX_SEED
from ..errors import BadRequest
from ..files.small import read_small_text
from ..games.base import Game
from ..match.setup import DEFAULT_LAG_MARGIN_MS, DEFAULT_PER_MOVE_MS, DEFAULT_START_MS
from ..net.matches.settings import MatchSettings
from ..text import printable
from .common import Count, Decorator, Existing, group_options
from .running_options import logs_option


def parse_options(pairs: Sequence[str], file_options: Collection[str] = ()) -> dict[str, Any]:
    """Turn `NAME=VALUE` pairs into options. A value that is JSON is taken as JSON, and any other as text.

    Args:
        pairs: pairs from the command line.
        file_options: names of options whose value is the path of a TOML file with the option's content.

    Raises:
        BadRequest: a pair has no equals sign, or a file is not TOML.
    """
    options: dict[str, Any] = {}
    # The type of an option is the game's affair, and not known here. JSON has all types, and text that is no JSON is
    # taken as it is, so that a name needs no quotation marks, which a shell would remove.
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise BadRequest(f"--option takes NAME=VALUE, e.g. --option q_bonus=8, not {pair!r}")
        if name in file_options:
            options[name] = _read_toml(name, Path(text))
            continue
        try:
            options[name] = json.loads(text)
        except (ValueError, RecursionError):  # no JSON, or too deep
            options[name] = text
    return options


def _read_toml(name: str, path: Path) -> dict[str, Any]:
    """Return the content of the file of an option."""
    try:
        return tomllib.loads(read_small_text(path))
    except OSError as error:
        raise BadRequest(f"--option {name} takes the path of a TOML file: {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # TOML that is none or too deep, or no UTF-8
        raise BadRequest(f"--option {name}: {path} is no TOML: {error}") from None


_MILLISECONDS = 1000.0
PERSON_S = 600.0
"""Default limit of a move if a person plays, in seconds: time to think, and to be called away."""


class Seconds(click.FloatRange):
    """A finite number of seconds within a range."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; called by click."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        least, most = self.min or 0, math.inf if self.max is None else self.max
        # `nan` is a float to Python, and no comparison with it is true. The check of click's own range would let it
        # pass.
        if not (math.isfinite(seconds) and least <= seconds <= most):
            span = f"from {least:g} up" if math.isinf(most) else f"from {least:g} to {most:g}"
            self.fail(f"takes a number of seconds {span}, not {printable(str(value))}", param, ctx)
        return seconds


def seconds_option(
    *names: str, least: float = 0.001, most: float = 86_400, default: float | None = None, what: str
) -> Decorator:
    """Return an option that takes seconds.

    Args:
        names: names of the option, as click.option takes them.
        least: smallest value, in seconds.
        most: largest value, in seconds; by default a day.
        default: default in seconds; None: there is none.
        what: the help text.
    """
    shown = default is not None
    return click.option(*names, type=Seconds(min=least, max=most), default=default, show_default=shown, help=what)


class MatchOptions(Struct, frozen=True, kw_only=True):
    """How a match is played: the values of the options."""

    options: tuple[str, ...]
    """Options of the game: `NAME=VALUE`."""
    time_s: float | None
    """Limit for each move; None: the default, which is longer for persons."""
    bank_s: float | None
    increment_s: float
    start_s: float
    lag_margin_s: float
    acknowledge: bool
    seed: int | None
    logs: Path

    def settings(self, rules: Game[Any, Any, Any], *, has_person: bool = False, **others: Any) -> MatchSettings:
        """Return the settings of a match.

        Args:
            rules: rules of the game.
            has_person: whether a person plays, who takes longer than a program.
            others: settings without an option here, by name.

        Raises:
            BadRequest: the options make no sense.
        """
        if self.increment_s and self.bank_s is None:
            raise BadRequest("--increment adds to a bank: give one with --bank SECONDS")
        default_s = PERSON_S if has_person else DEFAULT_PER_MOVE_MS / _MILLISECONDS
        time = TimeControl(
            per_move_ms=(self.time_s or default_s) * _MILLISECONDS,
            bank_ms=None if self.bank_s is None else self.bank_s * _MILLISECONDS,
            increment_ms=self.increment_s * _MILLISECONDS,
            start_ms=self.start_s * _MILLISECONDS,
        )
        return MatchSettings(
            options=parse_options(self.options, rules.file_options),
            time=time,
            lag_margin_ms=self.lag_margin_s * _MILLISECONDS,
            acknowledge=self.acknowledge,
            seed=self.seed,
            folder=self.logs,
            **others,
        )


game_option = click.option(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the game; repeatable."
)
lot_option = click.option("--lot", is_flag=True, help="Draw the seats by lot, from the seed of the match.")
resume_option = click.option(
    "--resume",
    type=Existing("record", dir_okay=False),
    help="Record of an interrupted match: finish it.",
)
match_options = group_options(
    "match",
    MatchOptions,
    game_option,
    seconds_option(
        "--time",
        "time_s",
        what=f"Limit for each move, in seconds: {DEFAULT_PER_MOVE_MS / _MILLISECONDS:g}, or {PERSON_S:g} where a "
        "person plays.",
    ),
    seconds_option(
        "--bank",
        "bank_s",
        what="Time for all moves of a player together, in seconds; --time still limits each move.",
    ),
    seconds_option(
        "--increment", "increment_s", least=0, default=0.0, what="Added to the bank for each move, in seconds."
    ),
    seconds_option(
        "--start-time",
        "start_s",
        default=DEFAULT_START_MS / _MILLISECONDS,
        what="Limit for a program to start and get ready, in seconds.",
    ),
    seconds_option(
        "--lag-margin",
        "lag_margin_s",
        least=0,
        default=DEFAULT_LAG_MARGIN_MS / _MILLISECONDS,
        what="Longest standstill of the referee after which it still judges lateness, in seconds.",
    ),
    click.option("--acknowledge", is_flag=True, help="Require players to acknowledge start, draws and end."),
    click.option(
        "--seed",
        type=Count(0, MAX_SEED),
        help="Fix the deal: the same number deals the same game.",
    ),
    logs_option("for the match's record"),
)
