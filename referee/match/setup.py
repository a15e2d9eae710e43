"""Settings of a match that are fixed before it begins, and the nonces with which the players take part in the deal."""

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
"""When players are sent the seed, so that they can check the deal.

- at-end: with the match's `end`.
- at-end-unless-void: with the match's `end`, but not if the match is void, since it is played again with this seed.
- after-last-leg: once all legs of a duplicate deal are over. It comes with the `end` of the last leg, or with the
  records if legs are played at once.
"""
LEG_WORDS: dict[SeedOpens, str] = {
    "at-end-unless-void": "the last leg of a duplicate deal: its end tells the seed of all legs, unless it is void",
    "after-last-leg": "a leg of a duplicate deal: its seed opens once the last leg of the deal is over",
}
"""Text for a record whose seed is published later than usual; other matches have no entry."""

Margin = Annotated[int, Meta(ge=0, le=1_000_000)]
"""Points of a game."""


class MatchSetup(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that a match needs to know before its first event."""

    match: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,80}$(?!\n)")]
    """The match's name, unique within its folder of records."""
    game: str
    options: dict[str, Any] = {}
    names: Annotated[tuple[str, ...], Meta(min_length=1, max_length=12)]
    """Name of the player at each seat."""
    time: TimeControl = DEFAULT_TIME
    lag_margin_ms: Span = DEFAULT_LAG_MARGIN_MS
    """A standstill of the referee's event loop excuses a late answer only if it is longer than this."""
    default_margin: Margin | None = None
    """Points of the last seat or team once all others are expelled; None if the match goes on in that case."""
    lot: bool = False
    """True if the seats were drawn by lot, with random numbers from the seed."""
    acknowledge: bool = False
    """True if each seat must confirm its `start`, its `end`, and each `told` with which it draws something."""
    nonces: bool = True
    """True if the players' nonces enter the shuffle; False for duplicate deals."""
    seed_opens: SeedOpens = "at-end"
    """When players are sent the seed. They must not know it while a leg with the same deal is still to be played."""
    commitment: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
    """SHA-256 of the seed, in hex."""
    position: Any = None
    """Position to start from instead of a new deal, as plain values. It is not shown to the players."""


class UnfitSeed(ValueError):
    """A seed does not belong to the setup of a match."""


def check_seed(setup: MatchSetup, seed: bytes) -> None:
    """Check that a seed belongs to a setup.

    Raises:
        UnfitSeed: the seed does not fit the commitment, or the seats are not in the order that the lot gives.
    """
    if chance.commitment(seed) != setup.commitment:
        raise UnfitSeed("the seed does not fit the commitment")
    if setup.lot and setup.names != chance.seat_by_lot(seed, setup.names):
        raise UnfitSeed("the seats are not those that the lot gives")


def restore_position(game: Game[Any, Any, Any], options: Any, setup: MatchSetup) -> Any:
    """Restore the state of the setup's position; return None if there is none and a new deal is needed.

    Args:
        game: the rules.
        options: the setup's options, parsed.
        setup: the setup.

    Raises:
        BadSetup: the game rejects the position, or the position does not have one seat for each name. Without a
            position: the game can't be played by this number of seats.
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


# The deck follows from the referee's seed and from one nonce of each player. If players simply sent their nonces, the
# last one could choose among decks. If only the referee chose, its organiser could choose the deck. So everybody
# commits first: the referee commits to the seed when it offers the match, and each player commits to its nonce when it
# accepts the offer. Only then do the players reveal their nonces.
#
# One freedom remains: a player can refuse to reveal its nonce. This changes the deck, but the player is expelled for it
# and can't compare the two decks. A revealed nonce counts even if its seat is expelled right after: otherwise a player
# could look at the nonces of the others first, and then decide whether to leave.


class Nonces:
    """Commitments and nonces of the seats of a match.

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
        """Forget all commitments and nonces, since the match is offered again."""
        self.commitments: list[str | None] = [None] * self._seats
        """Commitment of each seat in hex; None if the seat has made none, or has left the match."""
        self.opened: list[str | None] = [None] * self._seats
        """Revealed nonce of each seat, 16 bytes in hex; None if the seat has revealed none."""

    def close(self, present: Collection[int]) -> None:
        """Drop the commitments of seats that have left the match."""
        self.commitments = [commitment if seat in present else None for seat, commitment in enumerate(self.commitments)]

    def open(self, seat: int, nonce: str) -> bool:
        """Accept a nonce if the seat committed to it; return whether it was accepted."""
        is_right = nonce_commitment(self._match, seat, nonce) == self.commitments[seat]
        if is_right:
            self.opened[seat] = nonce
        return is_right
