"""Commands: the actions that follow from an event. The runner carries them out in order; the record holds them all."""

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
    """Offer the match to the seat's player, whose `ready` is due within limit_ms."""

    limit_ms: float
    teams: tuple[tuple[int, ...], ...] = ()
    """Groups of seats that win and lose together; empty if each seat plays for itself."""


class AskNonce(SeatCommand, frozen=True, kw_only=True, tag="ask-nonce"):
    """Send the seat all commitments, and ask it to reveal its own nonce within limit_ms."""

    limit_ms: float


class StartSeat(SeatCommand, frozen=True, kw_only=True, tag="start-seat"):
    """Send the seat its first view. If there is an ack number, the seat's `ack` is due within limit_ms."""

    view: Raw
    """The seat's view in msgpack: exactly the bytes that are sent."""
    ack: int | None
    """Number that the seat must confirm; None if no `ack` is wanted."""
    limit_ms: float | None


class AskMove(SeatCommand, frozen=True, kw_only=True, omit_defaults=True, tag="ask-move"):
    """Ask the seat for its move of a turn. The move is due within limit_ms."""

    turn: int
    view: Raw
    """The seat's view in msgpack: exactly the bytes that are sent."""
    limit_ms: float
    bank_ms: float | None = None
    """Time left in the seat's bank, in milliseconds; None if it has no bank."""
    goes_on: bool = False
    """True if the seat moves again in the turn of its last move, so that the clock of that turn keeps running."""


class ExtendLimit(SeatCommand, frozen=True, kw_only=True, tag="extend-limit"):
    """Give the open request a new limit that begins now.

    The referee stood still for so long that it cannot judge whether the answer is late. The player is sent nothing.
    """

    limit_ms: float


class ResumeSeat(SeatCommand, frozen=True, kw_only=True, tag="resume-seat"):
    """Take a seat back into the match after a restart of the referee or a lost connection of the seat."""

    turn: int
    """Number of the last turn."""
    view: Raw | None
    """The seat's present view in msgpack; None before the deal."""


class TellSeat(SeatCommand, frozen=True, kw_only=True, tag="tell-seat"):
    """Send the seat what happened. If there is an ack number, the seat's `ack` is due within limit_ms."""

    turn: int
    what: dict[str, Any]
    """The public news: a move or an expulsion."""
    draws: tuple[Any, ...] | None
    """What the seat itself drew; None if it drew nothing."""
    ack: int | None
    """Number that the seat must confirm; None if no `ack` is wanted."""
    limit_ms: float | None


class ExpelSeat(SeatCommand, frozen=True, kw_only=True, tag="expel-seat"):
    """Report the expulsion and its reason to the seat, and close its connection."""

    foul: Foul


def find_rank(ranking: Sequence[Sequence[int]], seat: int) -> int | None:
    """Return a seat's rank: one more than the number of seats ranked better, so rank 3 follows two first places.

    Args:
        ranking: groups of seats from best to worst.
        seat: the seat.

    Returns:
        The rank, from 1; None if the match is void, since nobody is ranked then.
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
    """Seats of the best rank, ascending, without those that fouled."""
    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst; the seats that fouled share the last one."""
    scores: tuple[int, ...]
    """Points of each seat, including expelled seats."""
    fouls: tuple[Foul, ...]
    """All fouls, in the order in which they happened."""
    reason: str | None
    """Id of the rule that ended the game; None if the match is void."""
    void: str | None
    """Description of the referee's failure if the match is void; None otherwise."""
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
    """Send the seat the result so far. If there is an ack number, the seat's `ack` is due within limit_ms.

    A later foul can still change the result. `winners` to `void` are those of Result.
    """

    winners: tuple[int, ...]
    ranking: tuple[tuple[int, ...], ...]
    scores: tuple[int, ...]
    void: str | None
    ack: int | None
    """Number that the seat must confirm; None if no `ack` is wanted."""
    limit_ms: float | None


class CloseMatch(Command, frozen=True, kw_only=True, tag="close-match"):
    """Close the match. No command follows."""

    result: Result
