"""What whoever watches a running tournament is told. Knows the moments; refuses to know how they are shown."""

from types import TracebackType
from typing import Protocol, Self

from ..match.machine import Match
from ..tournament.entries import Entry
from ..tournament.machine import Fixture, Suspension, Tournament


class Watch(Protocol):
    """Called by the runner on the reactor's own thread: what it does here, the referee's loop stands still for."""

    def __enter__(self) -> Self:
        """Begin to show; called once, before everything else."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Leave the terminal as it was."""

    def tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Note that it begins or goes on.

        Args:
            tournament: it goes on changing; watchers look at it, and leave it as it is.
            total: how many matches it will have, those played before included; None: nobody knows.
        """

    def match_recalled(self, entry: Entry) -> None:
        """Note what came of a match before the tournament was stopped; told before it goes on, the oldest first."""

    def match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Note that a match begins.

        Args:
            name: of the match.
            table: on which of the tables it is played, from 1.
            fixture: that is played.
        """

    def match_stepped(self, name: str, match: Match) -> None:
        """Note that something happened in a match; called at every turn."""

    def match_closed(self, entry: Entry) -> None:
        """Note a result, once the tournament has taken it."""

    def match_voided(self, entry: Entry) -> None:
        """Note a match that does not count, once the tournament has taken that."""

    def entrant_suspended(self, suspension: Suspension) -> None:
        """Note that an entrant plays no more."""

    def noted(self, text: str) -> None:
        """Note anything else that an organiser should know, in one sentence."""

    def refresh(self) -> None:
        """Show what has changed; called a few times a second, whether anything has or not."""

    def tournament_ended(self, tournament: Tournament) -> None:
        """Note that nothing more is played, for it is over or was stopped."""


class Unwatched:
    """Nobody watches: the tournament is only played through, from its records."""

    def __enter__(self) -> Self:
        """Do nothing."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Do nothing."""

    def tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Do nothing."""

    def match_recalled(self, entry: Entry) -> None:
        """Do nothing."""

    def match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Do nothing."""

    def match_stepped(self, name: str, match: Match) -> None:
        """Do nothing."""

    def match_closed(self, entry: Entry) -> None:
        """Do nothing."""

    def match_voided(self, entry: Entry) -> None:
        """Do nothing."""

    def entrant_suspended(self, suspension: Suspension) -> None:
        """Do nothing."""

    def noted(self, text: str) -> None:
        """Do nothing."""

    def refresh(self) -> None:
        """Do nothing."""

    def tournament_ended(self, tournament: Tournament) -> None:
        """Do nothing."""
