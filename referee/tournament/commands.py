"""What follows from what happens to a tournament: the commands that its fold gives."""

from msgspec import Struct

from .events import TournamentEvent
from .match_context import Fixture
from .standings import Standing


class TournamentCommand(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="command"):
    """Base of all commands."""


class PlayMatch(TournamentCommand, frozen=True, kw_only=True, tag="play-match"):
    """A match may be opened from now on."""

    fixture: Fixture


class CallOff(TournamentCommand, frozen=True, kw_only=True, tag="call-off"):
    """A match is not to be opened any more; if it is going on, it counts for nothing."""

    match: str


class GiveBye(TournamentCommand, frozen=True, kw_only=True, tag="give-bye"):
    """An entrant goes on without an opponent, and is credited with what a bye is worth."""

    number: int
    round: int
    entrant: int
    table: str
    """As of a fixture; `walkover` if an opponent withdrew."""
    against: int | None = None
    """The entrant that withdrew, where everybody's opponents are settled from the start."""


class PairRound(TournamentCommand, frozen=True, kw_only=True, tag="pair-round"):
    """A round is to be paired."""

    round: int


class SuspendEntrant(TournamentCommand, frozen=True, kw_only=True, tag="suspend-entrant"):
    """An entrant plays no more."""

    entrant: int
    why: str


class DisregardMatch(TournamentCommand, frozen=True, kw_only=True, tag="disregard-match"):
    """What came of a match counts for nothing, now or any longer."""

    match: str
    why: str


class EndTournament(TournamentCommand, frozen=True, kw_only=True, tag="end-tournament"):
    """The tournament is over, and these are its standings."""

    standings: tuple[Standing, ...]


class TakenStep(Struct, frozen=True, kw_only=True):
    """An event that a tournament has taken, and what followed."""

    line: int
    """Of the tournament's record, from 0."""
    hash: str
    """Of that line."""
    event: TournamentEvent
    commands: tuple[TournamentCommand, ...]
    is_recalled: bool = False
    """Whether it was taken before, and is told again because the tournament is gone on with."""
