"""What an author sees of practice matches and does about them, as the site knows it."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from ..submissions.challenges import Challenge


class PracticeRules(Struct, frozen=True, kw_only=True):
    """A tournament whose rules a practice match may be played by."""

    tournament: str
    game: str
    """Its title."""
    houses: Sequence[str]
    """House players of that game."""


class PracticeDesk(Protocol):
    """Takes challenges, and tells how they stand; whatever is refused is a ChallengeRefused."""

    def rules(self) -> Sequence[PracticeRules]:
        """Return by whose rules may be played; none, if the organiser allows no practice matches."""

    def challenges(self, author: str) -> Sequence[Challenge]:
        """Return an author's challenges, the latest first."""

    def why(self, challenge: Challenge) -> str:
        """Return how a challenge stands that is not over: why it waits, or that it is played."""

    async def challenge(self, author: str, tournament: str, version: str, opponent: str) -> None:
        """Ask for a practice match.

        Args:
            author: who asks.
            tournament: by whose rules.
            version: number of the author's version that plays.
            opponent: `house:NAME`, or the number of another version of the author's.
        """

    def replay(self, author: str, number: str) -> str | None:
        """Return the page that shows a match of the author's again; None if there is none that is over."""
