"""Who watches a tournament: what it is told, and when. Knows no way to show anything."""

from typing import Protocol

from ..match.machine import Match
from ..tournament.entries import Entry
from ..tournament.machine import Fixture, Suspension, Tournament


class Watch(Protocol):
    """Is told what happens; called on the referee's own loop, so it must be quick."""

    def tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Take note that the tournament begins or goes on.

        Args:
            tournament: with the results so far.
            total: how many matches it will have, if that is known.
        """

    def match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Take note that a match is opened, or taken up again, at a table; tables are counted from 1."""

    def match_stepped(self, name: str, match: Match) -> None:
        """Take note of a step of a match; called at every turn."""

    def match_closed(self, entry: Entry) -> None:
        """Take note of a result."""

    def match_voided(self, entry: Entry) -> None:
        """Take note of a match that does not count, for a fault of the referee's."""

    def entrant_suspended(self, suspension: Suspension) -> None:
        """Take note that an entrant plays no more."""

    def noted(self, text: str) -> None:
        """Take note of anything else that the organiser should know, in one sentence."""

    def tournament_ended(self, tournament: Tournament) -> None:
        """Take note that the tournament is over."""


class Unwatched:
    """Nobody watches: the tournament is only played through, from its records."""

    def tournament_begun(self, tournament: Tournament, total: int | None) -> None:
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

    def tournament_ended(self, tournament: Tournament) -> None:
        """Do nothing."""
