"""The commands of a tournament: the actions that follow from its events."""

from msgspec import Struct

from .events import TournamentEvent
from .match_context import Fixture
from .standings import Standing


class TournamentCommand(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="command"):
    """Base of all commands."""


class PlayMatch(TournamentCommand, frozen=True, kw_only=True, tag="play-match"):
    """Allow a match to be opened from now on."""

    fixture: Fixture


class CallOff(TournamentCommand, frozen=True, kw_only=True, tag="call-off"):
    """Cancel a match that has no result. If it is being played, its result will not count."""

    match: str


class GiveBye(TournamentCommand, frozen=True, kw_only=True, tag="give-bye"):
    """Credit an entrant that has no opponent with the points of a bye."""

    number: int
    round: int
    entrant: int
    table: str
    """Label of the pairing, as in `Fixture.table`; `walkover` if an opponent withdrew."""
    against: int | None = None
    """The opponent that withdrew, if the format fixes all pairings at the start; None otherwise."""


class PairRound(TournamentCommand, frozen=True, kw_only=True, tag="pair-round"):
    """Ask for the pairing of a round."""

    round: int


class SuspendEntrant(TournamentCommand, frozen=True, kw_only=True, tag="suspend-entrant"):
    """Suspend an entrant: it plays no more matches."""

    entrant: int
    why: str


class DisregardMatch(TournamentCommand, frozen=True, kw_only=True, tag="disregard-match"):
    """Stop counting the result of a match that was played."""

    match: str
    why: str


class EndTournament(TournamentCommand, frozen=True, kw_only=True, tag="end-tournament"):
    """End the tournament with these standings."""

    standings: tuple[Standing, ...]


class TakenTransition(Struct, frozen=True, kw_only=True):
    """An event that a tournament has handled, and the commands that followed."""

    line: int
    """Number of the line in the tournament's record, from 0."""
    hash: str
    """Hash of that line."""
    event: TournamentEvent
    commands: tuple[TournamentCommand, ...]
    is_recalled: bool = False
    """True if this is an old transition that is reported again because the tournament was resumed."""
