"""The options that several commands share: how a match is played, and how the referee itself runs.

Most of them are made from the declarations in referee/settings.py.
"""

import json
import math
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click
from msgspec import Struct, inspect

from ..app.services import RefereeOptions
from ..errors import BadRequest
from ..files.reading import read_small_text
from ..games.base import Game
from ..net.matches.settings import MatchSettings
from ..observers import Observer
from ..settings import MatchChoices, RunTerms, Setting, settings_of
from ..text import printable
from .common import FILE, FOLDER, KEY_UNSET, Count, Decorator, Existing, Word, console, group_options


def parse_options(pairs: Sequence[str], file_options: Collection[str] = ()) -> dict[str, Any]:
    """Turn `NAME=VALUE` pairs into options. A value that is valid JSON is read as JSON, any other value as text.

    Args:
        pairs: pairs from the command line.
        file_options: names of options whose value is the path of a TOML file with the option's content.

    Raises:
        BadRequest: a pair has no equals sign, or a file is not TOML.
    """
    options: dict[str, Any] = {}
    # Only the game knows the types of its options. JSON can express all of them. Text that is not JSON is read as text,
    # because a shell would remove the quotation marks that JSON demands.
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise BadRequest(f"--option takes NAME=VALUE, e.g. --option q_bonus=8, not {pair!r}")
        if name in file_options:
            options[name] = _read_toml(name, Path(text))
            continue
        try:
            options[name] = json.loads(text)
        except (ValueError, RecursionError):  # not JSON, or nested too deeply
            options[name] = text
    return options


def _read_toml(name: str, path: Path) -> dict[str, Any]:
    """Return the content of the TOML file that an option names."""
    try:
        return tomllib.loads(read_small_text(path))
    except OSError as error:
        raise BadRequest(f"--option {name} takes the path of a TOML file: {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # not TOML, nested too deeply, or not UTF-8
        raise BadRequest(f"--option {name}: {path} is not TOML: {error}") from None


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
        # Python reads `nan` as a float. No comparison with it is true, so click's own check of the range accepts it.
        if not (math.isfinite(seconds) and least <= seconds <= most):
            span = f"from {least:g} up" if math.isinf(most) else f"from {least:g} to {most:g}"
            self.fail(f"takes a number of seconds {span}, not {printable(str(value))}", param, ctx)
        return seconds


def seconds_option(
    *names: str, least: float = 0.001, most: float = 86_400, default: float | None = None, what: str
) -> Decorator:
    """Return an option that takes seconds.

    Args:
        names: names of the option, in the form of click.option.
        least: smallest value, in seconds.
        most: largest value, in seconds; by default a day.
        default: default in seconds; None: no default.
        what: the help text.
    """
    shown = default is not None
    return click.option(*names, type=Seconds(min=least, max=most), default=default, show_default=shown, help=what)


def declared_option(setting: Setting, **changes: Any) -> Decorator:
    """Return the option of a declared setting.

    Args:
        setting: the setting.
        changes: arguments of click.option that replace those of the declaration, and `unset` where that differs.
    """
    kind = inspect.type_info(setting.type)
    kind = kind.type if isinstance(kind, inspect.Metadata) else kind
    shape: dict[str, Any] = {"default": setting.default, "show_default": setting.default is not None}
    match kind:
        case inspect.BoolType():
            shape = {"is_flag": True}
        case inspect.EnumType(cls=words):
            shape |= {"type": Word([word.value for word in words]), "default": setting.default.value}
        case inspect.IntType(ge=least, le=most):
            shape |= {"type": Count(least, most), "metavar": setting.unit.upper() or None}
        case inspect.FloatType(ge=least, le=most):
            shape["type"] = Seconds(least, most)
        case inspect.CustomType():
            shape["type"] = FOLDER
        case _:
            shape["metavar"] = "ADDRESS"
    unset = changes.pop("unset", setting.unset)
    text = f"{setting.meaning} (Default: {unset})" if unset else setting.meaning
    return click.option(setting.option, setting.name, **{"help": text, **shape, **changes})


def declared_options(struct: type[Struct], *names: str, **changes: Any) -> list[Decorator]:
    """Return the options for a struct's declared settings, in the order of its fields.

    Args:
        struct: the struct.
        names: fields of the struct; by default all fields that have an option.
        changes: arguments of click.option that replace those of the declarations.
    """
    settings = (setting for setting in settings_of(struct) if setting.option)
    return [declared_option(setting, **changes) for setting in settings if not names or setting.name in names]


class MatchOptions(Struct, frozen=True, kw_only=True):
    """How a match is played: the values of the options."""

    options: tuple[str, ...]
    """Options of the game: `NAME=VALUE`."""
    logs: Path
    choices: MatchChoices

    def settings(self, rules: Game[Any, Any, Any], *, has_person: bool = False, **others: Any) -> MatchSettings:
        """Return the settings of a match.

        Args:
            rules: rules of the game.
            has_person: whether a person plays; a person gets more time for a move.
            others: further settings, by name.

        Raises:
            BadRequest: the options contradict each other.
        """
        choices = self.choices
        if choices.increment_s and choices.bank_s is None:
            raise BadRequest("--increment adds to a bank: give one with --bank SECONDS")
        return MatchSettings(
            options=parse_options(self.options, rules.file_options),
            time=choices.time(has_person=has_person),
            lag_margin_ms=choices.lag_margin_ms,
            acknowledge=choices.acknowledge,
            seed=choices.seed,
            folder=self.logs,
            **others,
        )


def _make_match_options(options: tuple[str, ...], logs: Path, **choices: Any) -> MatchOptions:
    return MatchOptions(options=options, logs=logs, choices=MatchChoices(**choices))


def logs_option(what: str) -> Decorator:
    """Return the option for the folder of records.

    Args:
        what: purpose of the folder, for the help text.
    """
    return click.option("--logs", type=FOLDER, default=Path("logs"), show_default=True, help=f"Folder {what}.")


game_option = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of the game; repeatable. (Default: the game's own; see `referee list GAME`)",
)
lot_option = click.option("--lot", is_flag=True, help="Draw the seats by lot, from the seed of the match.")
resume_option = click.option(
    "--resume",
    type=Existing("record", dir_okay=False),
    help="Record of an interrupted match: finish it.",
)
match_options = group_options(
    "match",
    _make_match_options,
    game_option,
    *declared_options(MatchChoices),
    logs_option("for the match's record"),
)


class FailedObservers(Observer):
    """Reports that an observer failed."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Print the observer's name and its error."""
        if event == "observer-failed":
            text = f"{facts['observer']} failed, and shows nothing more: {facts['error']}; the match continues"
            console.say(printable(text))


_KEY = click.option("--key", type=FILE, help=f"File of the key that seals records; made if missing. {KEY_UNSET}")
_SANDBOX, _MEMORY, _DURABILITY = declared_options(RunTerms)
_DIAGNOSTICS = click.option(
    "--diagnostics",
    type=FILE,
    help="Append connections, stalls and expulsions to FILE, as lines of JSON.",
)
_HEADS = click.option(
    "--heads",
    type=FILE,
    help="Append the hash of each record line to FILE as soon as it is written, as lines of JSON.",
)
metrics_option = click.option(
    "--metrics",
    metavar="ENDPOINT",
    help="Serve /metrics for Prometheus and /health at this address, e.g. tcp:9100:interface=127.0.0.1",
)


def _make_referee_options(**values: Any) -> RefereeOptions:
    terms = {field: values.pop(field) for field in RunTerms.__struct_fields__ if field in values}
    return RefereeOptions(
        say=console.say, observers=(FailedObservers(),), terms=msgspec.convert(terms, RunTerms), **values
    )


confinement_options = group_options("running", _make_referee_options, _SANDBOX, _MEMORY)
"""Options of commands that start programs and seal no records."""
key_options = group_options("running", _make_referee_options, _KEY)
"""Options of commands that only seal records."""
hosting_options = group_options("running", _make_referee_options, _KEY, _SANDBOX, _MEMORY, metrics_option)
"""Options of a contest. The sandbox and the memory limit apply to the check of programs that authors hand in."""
sealing_options = group_options("running", _make_referee_options, _KEY, _DIAGNOSTICS, _HEADS, metrics_option)
"""Options of commands that read the sandbox and the limits of programs from a file."""
referee_options = group_options(
    "running", _make_referee_options, _KEY, _SANDBOX, _MEMORY, _DURABILITY, _DIAGNOSTICS, _HEADS, metrics_option
)
"""Options of commands that start programs and seal records."""
