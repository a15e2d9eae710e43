"""The chance that the players add: each commits to a nonce, and opens it once nobody can commit any more.

So nobody chooses last. A nonce counts once it is opened, whatever becomes of its seat; one that is never opened, never.
"""

from collections.abc import Collection

from protocol.deal import nonce_commitment


class Nonces:
    """What the seats of a match committed to, and what they opened.

    Args:
        match: the match's name.
        seats: how many.
    """

    def __init__(self, match: str, seats: int) -> None:
        self._match = match
        self._seats = seats
        self.forget()

    def __repr__(self) -> str:
        return f"Nonces({self.commitments}, {self.opened})"

    def forget(self) -> None:
        """Forget everything: the match is offered anew."""
        self.commitments: list[str | None] = [None] * self._seats
        """By seat, in hex; None where none counts."""
        self.opened: list[str | None] = [None] * self._seats
        """By seat, 16 bytes in hex; None where none was opened."""

    def close(self, present: Collection[int]) -> None:
        """Let the commitments of those count who are in the match, and no other be added."""
        self.commitments = [kept if seat in present else None for seat, kept in enumerate(self.commitments)]

    def open(self, seat: int, nonce: str) -> bool:
        """Take a nonce if it is the one that its seat committed to; return whether it is."""
        is_right = nonce_commitment(self._match, seat, nonce) == self.commitments[seat]
        if is_right:
            self.opened[seat] = nonce
        return is_right
