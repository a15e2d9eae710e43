"""Settings of a match that are fixed before it begins, and the players' nonces, which are fixed with it."""

from collections.abc import Collection
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from protocol.deal import nonce_commitment
from protocol.messages import Span, TimeControl

from .. import chance
from ..games.base import BadSetup, Game, seats_text
from ..settings import MatchChoices

DEFAULT_TIME = MatchChoices().time()
DEFAULT_LAG_MARGIN_MS = MatchChoices().lag_margin_ms

SeedOpens = Literal["at-end", "at-end-unless-void", "after-last-leg"]
"""When players are sent the seed: with the match's `end`; with it unless the match is void, and so played again; or
after the last leg of a duplicate deal, with the `end` of that leg or, if legs are played at once, with the records."""
LEG_WORDS: dict[SeedOpens, str] = {
    "at-end-unless-void": "the last leg of a duplicate deal: its end tells the seed of all legs, unless it is void",
    "after-last-leg": "a leg of a duplicate deal: its seed opens once the last leg of the deal is over",
}
"""Words for a match whose seed opens later than usual; other matches need none."""

Margin = Annotated[int, Meta(ge=0, le=1_000_000)]
"""Points of a game."""


class MatchSetup(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that the fold needs to know before the first event."""

    match: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,80}$(?!\n)")]
    """The match's name, unique within its folder of records."""
    game: str
    options: dict[str, Any] = {}
    names: Annotated[tuple[str, ...], Meta(min_length=1, max_length=12)]
    """The players by seat."""
    time: TimeControl = DEFAULT_TIME
    lag_margin_ms: Span = DEFAULT_LAG_MARGIN_MS
    """Longest standstill of the referee's loop during a request that does not excuse its seat, in milliseconds."""
    default_margin: Margin | None = None
    """Points by which the last seat or team wins once all others are out; None if the match then goes on."""
    lot: bool = False
    """True if the seats were drawn by lot, from the seed's stream for seating."""
    acknowledge: bool = False
    """True if seats confirm `start`, `end` and each `told` that hands something out, one seat after the other."""
    nonces: bool = True
    """True if the players' nonces enter the shuffle; False for duplicate deals."""
    seed_opens: SeedOpens = "at-end"
    """When players are sent the seed: not while another leg with the same deal is to be played."""
    commitment: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
    """SHA-256 of the seed, in hex."""
    position: Any = None
    """Position to start from in place of a new deal, as plain values; players are not shown it."""


class UnfitSeed(ValueError):
    """A seed is not the one that a match's setup was made for."""


def check_seed(setup: MatchSetup, seed: bytes) -> None:
    """Check that a seed is the one that a setup was made for.

    Raises:
        UnfitSeed: it does not fit the commitment, or the seats are not those of the lot.
    """
    if chance.commitment(seed) != setup.commitment:
        raise UnfitSeed("the seed does not fit the commitment")
    if setup.lot and setup.names != chance.seat_by_lot(seed, setup.names):
        raise UnfitSeed("the seats are not those that the lot gives")


def restore_position(game: Game[Any, Any, Any], options: Any, setup: MatchSetup) -> Any:
    """Restore the state of the setup's position; return None if there is none, for a new deal.

    Args:
        game: the rules.
        options: the setup's options, parsed.
        setup: the setup.

    Raises:
        BadSetup: the position is not the game's, or the number of names is not that of its seats; without a position,
            the game is not played by that many seats.
    """
    seats = len(setup.names)
    if setup.position is None:
        if seats not in game.seats:
            raise BadSetup(f"{game.name} is played by {seats_text(game.seats)}, not by {seats}")
        return None
    state = game.restore(options, setup.position)
    if game.seat_count(state) != seats:
        raise BadSetup(f"the position has {game.seat_count(state)} seats, there are {seats} players")
    return state


# The deck follows from the referee's seed and from one nonce of each player. If nonces were simply sent, the last to
# send could choose among decks; if only the referee chose, its organiser could. So everybody commits first: the
# referee to the seed when it offers the match, each player to its nonce when it accepts. Only then are nonces opened.
#
# What remains is a player that does not open its nonce. It changes the deck by that, and is expelled for it; so it gets
# one of two decks that it cannot compare. A nonce that was opened counts even if its seat is expelled right after:
# otherwise a player could look at the others' nonces and then decide to leave.


class Nonces:
    """What the seats of a match committed to, and what they opened.

    Args:
        match: the match's name.
        seats: number of seats.
    """

    def __init__(self, match: str, seats: int) -> None:
        self._match = match
        self._seats = seats
        self.forget()

    def __repr__(self) -> str:
        return f"Nonces({self.commitments}, {self.opened})"

    def forget(self) -> None:
        """Forget everything, since the match is offered again."""
        self.commitments: list[str | None] = [None] * self._seats
        """Commitment of each seat in hex; None if it has none, or has left the match."""
        self.opened: list[str | None] = [None] * self._seats
        """Opened nonce of each seat, 16 bytes in hex; None where none was opened."""

    def close(self, present: Collection[int]) -> None:
        """Drop the commitments of seats that have left the match."""
        self.commitments = [commitment if seat in present else None for seat, commitment in enumerate(self.commitments)]

    def open(self, seat: int, nonce: str) -> bool:
        """Accept a nonce if it is the one that its seat committed to; return whether it is."""
        is_right = nonce_commitment(self._match, seat, nonce) == self.commitments[seat]
        if is_right:
            self.opened[seat] = nonce
        return is_right
