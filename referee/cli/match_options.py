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
    """Turn `NAME=VALUE` pairs into options; a value that is JSON is taken as such, anything else as text.

    Args:
        pairs: from the command line.
        file_options: the names whose value is the path of a TOML file; what stands in the file is the option.

    Raises:
        BadRequest: a pair has no equals sign, or its file can't be read as TOML.
    """
    options: dict[str, Any] = {}
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
    """Return what stands in the file of an option."""
    try:
        return tomllib.loads(read_small_text(path))
    except OSError as error:
        raise BadRequest(f"--option {name} takes the path of a TOML file: {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # TOML that is none or too deep, or no UTF-8
        raise BadRequest(f"--option {name}: {path} is no TOML: {error}") from None


_MILLISECONDS = 1000.0
PERSON_S = 600.0
"""For a move where a person plays: time to think, and to be called away from the table."""


class Seconds(click.FloatRange):
    """A finite number of seconds within a range."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is no number to count with."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        least, most = self.min or 0, math.inf if self.max is None else self.max
        if not (math.isfinite(seconds) and least <= seconds <= most):
            span = f"from {least:g} up" if math.isinf(most) else f"from {least:g} to {most:g}"
            self.fail(f"takes a number of seconds {span}, not {printable(str(value))}", param, ctx)
        return seconds


def seconds_option(
    *names: str, least: float = 0.001, most: float = 86_400, default: float | None = None, what: str
) -> Decorator:
    """Return an option that takes seconds.

    Args:
        names: as for click.option.
        least: that it may be, in seconds.
        most: that it may be, in seconds; by default a day.
        default: in seconds; None: there is none.
        what: it is for, for the help text.
    """
    shown = default is not None
    return click.option(*names, type=Seconds(min=least, max=most), default=default, show_default=shown, help=what)


class MatchOptions(Struct, frozen=True, kw_only=True):
    """How a match is played, as it was asked for."""

    options: tuple[str, ...]
    """Of the game: `NAME=VALUE`."""
    time_s: float | None
    """None: as the default is for who plays."""
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
            rules: of the game that is played.
            has_person: whether a person plays, who takes longer than a program.
            others: settings that have no option here, by name.

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
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game; repeatable."
)
lot_option = click.option("--lot", is_flag=True, help="Draw the seats by lot, from the match's seed.")
resume_option = click.option(
    "--resume",
    type=Existing("record", dir_okay=False),
    help="Record of a match whose referee died: play it to its end.",
)
match_options = group_options(
    "match",
    MatchOptions,
    game_option,
    seconds_option(
        "--time",
        "time_s",
        what=f"Limit for each move, in seconds: {DEFAULT_PER_MOVE_MS / _MILLISECONDS:g}, or {PERSON_S:g} where a "
        "person plays, unless it is given.",
    ),
    seconds_option(
        "--bank",
        "bank_s",
        what="Time for all moves of a player together, in seconds; --time limits each of them all the same.",
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
        what="Longest standstill of the referee, in seconds, under which it still judges lateness.",
    ),
    click.option("--acknowledge", is_flag=True, help="Demand an ack for start, hand-outs and end."),
    click.option(
        "--seed",
        type=Count(0, MAX_SEED),
        help="Fix the shuffle: the same number deals the same game.",
    ),
    logs_option("for the match's record"),
)
