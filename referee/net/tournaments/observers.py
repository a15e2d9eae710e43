"""What whoever watches a running tournament is told. Knows the moments; refuses to know how they are shown."""

from types import TracebackType
from typing import Protocol, Self

from ...match.machine import Match
from ...tournament.machine import Fixture, Suspension, Tournament
from ...tournament.match_context import MatchEntry
from ..telemetry import Isolated, Note, Silence


class TournamentObserver(Protocol):
    """Called by the runner on the reactor's own thread: what it does here, the referee's loop stands still for.

    What it raises is noted, and it is told nothing more; the tournament goes on.
    """

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

    def match_recalled(self, entry: MatchEntry) -> None:
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

    def match_closed(self, entry: MatchEntry) -> None:
        """Note a result, once the tournament has taken it."""

    def match_voided(self, entry: MatchEntry) -> None:
        """Note a match that does not count, once the tournament has taken that."""

    def entrant_suspended(self, suspension: Suspension) -> None:
        """Note that an entrant plays no more."""

    def noted(self, text: str) -> None:
        """Note anything else that an organiser should know, in one sentence."""

    def refresh(self) -> None:
        """Show what has changed; called a few times a second, whether anything has or not."""

    def tournament_ended(self, tournament: Tournament) -> None:
        """Note that nothing more is played, for it is over or was stopped."""


class Observers(Isolated[TournamentObserver]):
    """Those who watch a tournament, each isolated from it; nobody, if none is given.

    Args:
        watches: in the order in which they are told.
        note: takes note of one that fails, and is told nothing more.
    """

    def __init__(self, *watches: TournamentObserver, note: Note = Silence().note) -> None:  # noqa: B008  # it has no state
        super().__init__(watches, note)

    def tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.tournament_begun(tournament, total))

    def match_recalled(self, entry: MatchEntry) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.match_recalled(entry))

    def match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.match_opened(name, table, fixture))

    def match_stepped(self, name: str, match: Match) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.match_stepped(name, match))

    def match_closed(self, entry: MatchEntry) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.match_closed(entry))

    def match_voided(self, entry: MatchEntry) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.match_voided(entry))

    def entrant_suspended(self, suspension: Suspension) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.entrant_suspended(suspension))

    def noted(self, text: str) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.noted(text))

    def refresh(self) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.refresh())

    def tournament_ended(self, tournament: Tournament) -> None:
        """Hand it on."""
        self.tell(lambda watch: watch.tournament_ended(tournament))
