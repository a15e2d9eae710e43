"""Hands the results of a running tournament to its fold and to the observers, and numbers what is opened."""

from collections.abc import Sequence

from ...observers import Observer, Observers
from ...tournament.machine import Fixture, GivenUp, Suspension, Tournament
from ...tournament.match_context import MatchContext, MatchEntry


class Recorder:
    """The openings and results of one tournament; a result is on record before it comes here.

    Args:
        tournament: with the results so far.
        observers: are told.
        openings: how many matches were opened so far.
        untold: the matches whose results were taken since the last opening, in their order.
    """

    def __init__(
        self, tournament: Tournament, observers: Observers, openings: int = 0, untold: Sequence[str] = ()
    ) -> None:
        self._tournament = tournament
        self._observers = observers
        self._openings = openings
        self._untold = list(untold)

    def open(self, fixture: Fixture) -> MatchContext:
        """Return what a match is opened for, at the moment at which its record begins."""
        context = fixture.context(self._tournament.spec.name, self._openings, self._untold)
        self._openings += 1
        self._untold = []
        return context

    def take(self, entry: MatchEntry) -> None:
        """Take what came of a match that is on record, and tell what follows from it."""
        suspended = self._suspended_by(entry)
        self._untold.append(entry.match)
        tell = self._observers.tell
        tell(Observer.result_taken, entry, suspended)
        if suspended is None:
            tell(Observer.noted, f"{entry.match} does not count: a player was suspended before it was over")
            return
        tell(Observer.match_closed if entry.void is None else Observer.match_voided, entry)
        for suspension in suspended:
            tell(Observer.entrant_suspended, suspension)

    def _suspended_by(self, entry: MatchEntry) -> tuple[Suspension, ...] | None:
        """Let the tournament take a result; return who is suspended because of it, or None if it does not count."""
        try:
            return self._tournament.take(entry)
        except GivenUp:
            return None
