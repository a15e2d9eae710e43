"""Commands: the actions that follow from an event. The runner carries them out in order; the record has them all."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw, Struct

from .fouls import Foul


class Command(Struct, frozen=True, kw_only=True, tag_field="command"):
    """Base of all commands."""


class SeatCommand(Command, frozen=True, kw_only=True):
    """Base of the commands that concern one seat."""

    seat: int


class OfferMatch(SeatCommand, frozen=True, kw_only=True, omit_defaults=True, tag="offer-match"):
    """Offer the seat; `ready` is due within limit_ms."""

    limit_ms: float
    teams: tuple[tuple[int, ...], ...] = ()
    """Groups of seats that win and lose together; empty if each seat plays for itself."""


class AskNonce(SeatCommand, frozen=True, kw_only=True, tag="ask-nonce"):
    """Ask the seat to open its commitment within limit_ms, and send it all commitments."""

    limit_ms: float


class StartSeat(SeatCommand, frozen=True, kw_only=True, tag="start-seat"):
    """Show the first view; with an ack number, its `ack` is due within limit_ms."""

    view: Raw
    """The seat's view in msgpack: the very bytes that are sent."""
    ack: int | None
    limit_ms: float | None


class AskMove(SeatCommand, frozen=True, kw_only=True, omit_defaults=True, tag="ask-move"):
    """Ask for the move of a turn, due within limit_ms."""

    turn: int
    view: Raw
    """The seat's view in msgpack: the very bytes that are sent."""
    limit_ms: float
    bank_ms: float | None = None
    """Time left in the seat's bank, in milliseconds; None if it has no bank."""
    goes_on: bool = False
    """True if this continues the turn of the seat's last move, so that the clock of that turn keeps running."""


class ExtendLimit(SeatCommand, frozen=True, kw_only=True, tag="extend-limit"):
    """Give the open request a new limit from now on, because the referee stood still for too long to judge it.

    The player is sent nothing.
    """

    limit_ms: float


class ResumeSeat(SeatCommand, frozen=True, kw_only=True, tag="resume-seat"):
    """Take a seat back into the match: the referee was started again, or the seat's connection was lost."""

    turn: int
    """Number of the last turn."""
    view: Raw | None
    """The seat's view in msgpack as it is now; None before the deal."""


class TellSeat(SeatCommand, frozen=True, kw_only=True, tag="tell-seat"):
    """Send what happened; with an ack number, its `ack` is due within limit_ms."""

    turn: int
    what: dict[str, Any]
    draws: tuple[Any, ...] | None
    ack: int | None
    limit_ms: float | None


class ExpelSeat(SeatCommand, frozen=True, kw_only=True, tag="expel-seat"):
    """Send the seat that it is expelled and why, and end its connection."""

    foul: Foul


def find_rank(ranking: Sequence[Sequence[int]], seat: int) -> int | None:
    """Return a seat's rank: one more than the number of seats before it, so two first places are followed by a third.

    Args:
        ranking: groups of seats from best to worst.
        seat: the seat.

    Returns:
        The rank, from 1; None if the seat has none, since the match is void.
    """
    rank = 1
    for level in ranking:
        if seat in level:
            return rank
        rank += len(level)
    return None


class Result(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Result of a match."""

    winners: tuple[int, ...]
    """Seats of the best rank that did not foul, ascending."""
    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst; the seats that fouled share the last one."""
    scores: tuple[int, ...]
    """Points by seat, of expelled seats too."""
    fouls: tuple[Foul, ...]
    """All fouls, in the order in which they happened."""
    reason: str | None
    """Id of the rule that ended the game; None if the match is void."""
    void: str | None
    """The referee's own fault, if the match is void; None otherwise."""
    turns: int
    used_ms: tuple[float, ...]
    """Time that each seat's answers took, in milliseconds, without the referee's lag."""

    def rank(self, seat: int) -> int | None:
        """Return a seat's rank, as find_rank does.

        Args:
            seat: the seat.
        """
        return find_rank(self.ranking, seat)


class EndSeat(SeatCommand, frozen=True, kw_only=True, tag="end-seat"):
    """Send the result as it stands; with an ack number, its `ack` is due within limit_ms."""

    winners: tuple[int, ...]
    ranking: tuple[tuple[int, ...], ...]
    scores: tuple[int, ...]
    void: str | None
    ack: int | None
    limit_ms: float | None


class CloseMatch(Command, frozen=True, kw_only=True, tag="close-match"):
    """The match is over; nothing follows."""

    result: Result
