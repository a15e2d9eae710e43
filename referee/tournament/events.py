"""The events of a tournament: everything that can happen to it. Their times of day decide nothing."""

from typing import Annotated

from msgspec import Meta, Struct

from .hosts import Calibration
from .match_context import Fixture, MatchEntry
from .pairing.base import MOST_PRINTED_CHARS
from .rulings import Ruling
from .spec import Participant

Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
SpectatorSight = Annotated[str, Meta(pattern=r"^(after|board only|delay ([1-9]|[1-9][0-9]|[1-5][0-9]{2}|600))$(?!\n)")]
"""`after` shows who plays; `board only` also what all seats may know; `delay N` shows the same N seconds later."""


class TournamentEvent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event"):
    """Base of all events."""

    at: str
    """Date and time in UTC, ISO 8601, for human readers."""


class Begun(TournamentEvent, frozen=True, kw_only=True, tag="begun"):
    """The referee began the tournament."""

    processes: tuple[str, ...] = ()
    """Processes that play the matches until the referee stops; each match record names one of them."""
    spectators: SpectatorSight | None = None
    """Policy for spectators while a match is played; None if the referee shows them nothing."""


class Stopped(TournamentEvent, frozen=True, kw_only=True, tag="stopped"):
    """The referee stopped before the end; nothing is played until it resumes."""

    why: str


class TournamentResumed(TournamentEvent, frozen=True, kw_only=True, tag="resumed"):
    """A referee goes on with the tournament."""

    referee: str
    """Version of this referee."""
    processes: tuple[str, ...] = ()
    """Processes that play the matches from now on; see `Begun.processes`."""
    spectators: SpectatorSight | None = None
    """Policy for spectators from now on; see `Begun.spectators`."""


class HostCame(TournamentEvent, frozen=True, kw_only=True, tag="host-came"):
    """A host of a cluster plays from now on, until the referee stops."""

    host: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,100}$(?!\n)")]
    """Name of the host that the organiser knows."""
    process: str
    """Name of the process in the records of its matches."""
    calibration: Calibration


class RoundPaired(TournamentEvent, frozen=True, kw_only=True, omit_defaults=True, tag="round-paired"):
    """A round was paired, as a command had asked."""

    round: int
    tables: tuple[tuple[int, ...], ...]
    """Entrants by seat of each pairing. A pairing of a single entrant is a bye."""
    by: str
    """Name and version of the program that paired the round."""
    output: Annotated[str, Meta(max_length=MOST_PRINTED_CHARS)] | None = None
    """Output of the organiser's pairing program; None if the referee paired the round."""


class MatchOpened(TournamentEvent, frozen=True, kw_only=True, tag="match-opened"):
    """A match began."""

    fixture: Fixture


class MatchClosed(TournamentEvent, frozen=True, kw_only=True, tag="match-closed"):
    """A match is over, and its record sealed."""

    entry: MatchEntry


class EntrantJoined(TournamentEvent, frozen=True, kw_only=True, tag="entrant-joined"):
    """An entrant joined after the tournament had begun."""

    participant: Participant
    digest: Sha256 | None
    """SHA-256 of the folder of its program; None if there is no folder that the referee can read."""


class ProgramChanged(TournamentEvent, frozen=True, kw_only=True, tag="program-changed"):
    """An entrant changed its program. From its next match on, it plays with the new one."""

    entrant: Annotated[int, Meta(ge=0)]
    digest: Sha256


class Ruled(TournamentEvent, frozen=True, kw_only=True, tag="ruled"):
    """The organiser made a ruling."""

    ruling: Ruling


class Finished(TournamentEvent, frozen=True, kw_only=True, tag="finished"):
    """The tournament ended: no match is going on, and none is due."""


AnyTournamentEvent = (
    Begun
    | Stopped
    | TournamentResumed
    | HostCame
    | RoundPaired
    | MatchOpened
    | MatchClosed
    | EntrantJoined
    | ProgramChanged
    | Ruled
    | Finished
)
