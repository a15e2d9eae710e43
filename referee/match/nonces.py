"""The chance that the players add: each commits to a nonce, and opens it once nobody can commit any more."""

from collections.abc import Collection

from protocol.deal import nonce_commitment

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
