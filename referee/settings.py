"""The organiser's settings of matches and runs, each declared once.

The type of a field holds its range, its unit, its help, and its names: as an option of commands and as a key of a
tournament's file. Everything else follows from it: the options (cli/options.py), the keys (app/tournament_file), the
command line of a match in its own process, and the manual's table. A struct is always passed on as a whole, also to
workers and hosts.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from protocol.messages import TimeControl

from .chance import MAX_SEED

DAY_S = 86_400
MOVE_S = 6.0
"""Default limit of a move, in seconds. CS4500's limit for one call; Halite allows 2 s, Pelita 3 s, AI Arena 30 s."""
PERSON_MOVE_S = 600.0
"""Default limit of a move if a person plays, in seconds: time to think, and to be called away."""
_MS = 1000.0


def declare(meaning: str, *, option: str = "", key: str = "", unit: str = "", unset: str = "", **bounds: Any) -> Meta:
    """Return the declaration of a setting, for the type of its field.

    Args:
        meaning: one sentence about the setting, for `--help` and the manual.
        option: its name on the command line; empty if it has none.
        key: its key in a tournament's file, after the name of its table and a dot; empty if it has none.
        unit: unit of its value.
        unset: what holds without a value, if the default is None: `a random deal`.
        bounds: range of its value, as msgspec.Meta takes it.
    """
    return Meta(description=meaning, extra={"option": option, "key": key, "unit": unit, "unset": unset}, **bounds)


def seconds(meaning: str, *, option: str = "", key: str = "", unset: str = "", ge: float = 0.001) -> Meta:
    """Return the declaration of a number of seconds, up to a day; see `declare`."""
    return declare(meaning, option=option, key=key, unit="seconds", unset=unset, ge=ge, le=DAY_S)


class Setting(Struct, frozen=True, kw_only=True):
    """One declared setting of a struct."""

    name: str
    """Name of the field."""
    type: Any
    """Type of its values, without None."""
    default: Any
    meaning: str
    option: str
    key: str
    unit: str
    unset: str
    """What holds without a value; empty if the default says it."""


def settings_of(struct: type[Struct]) -> Iterator[Setting]:
    """Yield the declared settings of a struct, in its order."""
    for field in msgspec.structs.fields(struct):
        # `Annotated[int, Meta(...)] | None` has its declaration one level down.
        for kind in (field.type, *get_args(field.type)):
            for meta in get_args(kind):
                if isinstance(meta, Meta) and meta.description and meta.extra:
                    yield Setting(
                        name=field.name, type=kind, default=field.default, meaning=meta.description, **meta.extra
                    )


def word_options(settings: Struct) -> Iterator[str]:
    """Yield the command-line words for these settings, except those that have their defaults."""
    for setting in settings_of(type(settings)):
        value = getattr(settings, setting.name)
        if setting.option and value != setting.default:
            yield setting.option if value is True else f"{setting.option}={value}"


class Durability(StrEnum):
    """Part of a running match that survives a power failure."""

    MATCH = "match"
    """The whole match once it is over; before that, only the part that the system happens to have written."""
    TURN = "turn"
    """Every line is on the disk before its messages are sent, so players know nothing that could be lost."""

    @property
    def on_record(self) -> Literal["turn"] | None:
        """Value in the first line of a match's record."""
        return "turn" if self is Durability.TURN else None


class SandboxMode(StrEnum):
    """Whether programs run in a sandbox."""

    REQUIRED = "required"
    AUTO = "auto"
    """Use a sandbox if this machine has one."""
    OFF = "off"


MemoryMib = Annotated[
    int,
    declare(
        "Memory of each program in MiB, with all its processes and its /tmp.",
        option="--memory",
        key="limits.memory_mib",
        unit="MiB",
        ge=64,  # enough for an interpreter to start
        le=1 << 20,  # more than any machine has
    ),
]
DEFAULT_MEMORY_MIB = 512
"""Node.js and Java start in less than 100 MiB; four players and the referee must fit into a small machine."""


class RunTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings for all matches of a run, which every process that plays them must know."""

    sandbox: Annotated[
        SandboxMode,
        declare(
            "Sandbox for programs. required: play only in one. auto: use one if this machine has it. off: use none. "
            "See `referee doctor`.",
            option="--sandbox",
            key="sandbox",
        ),
    ] = SandboxMode.AUTO
    memory_mib: MemoryMib = DEFAULT_MEMORY_MIB
    durability: Annotated[
        Durability,
        declare(
            "What survives a power failure. match: finished matches. turn: everything that players were sent.",
            option="--durability",
            key="durability",
        ),
    ] = Durability.MATCH
    keep_for: int | None = None
    """Most matches of one program; None: a new program is started for each match."""


class MatchChoices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The organiser's settings of each match, whatever the game."""

    move_s: (
        Annotated[
            float,
            seconds(
                "Limit for each move, in seconds.",
                option="--time",
                key="time.per_move",
                unset=f"{MOVE_S:g}, or {PERSON_MOVE_S:g} where a person plays",
            ),
        ]
        | None
    ) = None
    bank_s: (
        Annotated[
            float,
            seconds(
                "Time for all moves of a player together, in seconds; --time still limits each move.",
                option="--bank",
                key="time.bank",
                unset="no limit",
            ),
        ]
        | None
    ) = None
    increment_s: Annotated[
        float,
        seconds("Added to the bank for each move, in seconds.", option="--increment", key="time.increment", ge=0),
    ] = 0.0
    # A JVM on a loaded machine needs seconds. cutechess allows 35 s.
    start_s: Annotated[
        float,
        seconds(
            "Limit for a program to start and get ready, in seconds.",
            option="--start-time",
            key="time.start",
        ),
    ] = 30.0
    # Stalls are measured and never charged. But a longer stall of the referee may have stalled the players, too.
    lag_margin_s: Annotated[
        float,
        seconds(
            "Longest standstill of the referee after which it still judges lateness, in seconds.",
            option="--lag-margin",
            key="time.lag_margin",
            ge=0,
        ),
    ] = 0.25
    acknowledge: Annotated[
        bool,
        declare("Require players to acknowledge start, draws and end.", option="--acknowledge", key="acknowledge"),
    ] = False
    seed: (
        Annotated[
            int,
            declare(
                "Fix the deal: the same number deals the same game.",
                option="--seed",
                key="seed",
                unset="a random deal",
                ge=0,
                le=MAX_SEED,
            ),
        ]
        | None
    ) = None

    @property
    def lag_margin_ms(self) -> float:
        """The lag margin in milliseconds."""
        return self.lag_margin_s * _MS

    def time(self, *, has_person: bool = False) -> TimeControl:
        """Return the time control.

        Args:
            has_person: whether a person plays, who takes longer than a program.
        """
        return TimeControl(
            per_move_ms=(self.move_s or (PERSON_MOVE_S if has_person else MOVE_S)) * _MS,
            bank_ms=None if self.bank_s is None else self.bank_s * _MS,
            increment_ms=self.increment_s * _MS,
            start_ms=self.start_s * _MS,
        )
