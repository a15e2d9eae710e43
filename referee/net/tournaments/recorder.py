"""Keeps the results of a running tournament: into its fold, into the ledger, and to those who watch. Plays nothing.

A result is on record before it comes here, so whatever is lost here is found again in the records.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol

from ...tournament.machine import Fixture, GivenUp, Suspension, Tournament
from ...tournament.match_context import MatchContext, MatchEntry
from .observers import Observers


class ResultStore(Protocol):
    """Where results are kept, besides the records."""

    def at_once(self) -> AbstractContextManager[None]:
        """Keep all that is written within, or nothing of it."""

    def opened(self, match: str, context: MatchContext, at: str) -> None:
        """Keep that a match was opened."""

    def take(self, entry: MatchEntry, at: str) -> int:
        """Keep what came of a match."""

    def suspend(self, tournament: str, entrant: int, why: str, at: str) -> None:
        """Keep that an entrant plays no more."""

    def supersede(self, match: str, reason: str, by: str | None, at: str) -> None:
        """Keep that what came of a match does not count."""


def wall_clock() -> str:
    """Return the time of day in UTC, ISO 8601; for people, nothing is derived from it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Recorder:
    """The books of one tournament.

    Args:
        tournament: with the results so far.
        ledger: where they are kept.
        watch: who is told.
        openings: how many matches were opened so far.
        untold: the matches whose results were taken since the last opening, in their order.
        at: returns the time of day, as wall_clock does.
    """

    def __init__(
        self,
        tournament: Tournament,
        ledger: ResultStore,
        watch: Observers,
        openings: int = 0,
        untold: Sequence[str] = (),
        at: Callable[[], str] = wall_clock,
    ) -> None:
        self._tournament = tournament
        self._name = tournament.spec.name
        self._ledger = ledger
        self._watch = watch
        self._openings = openings
        self._untold = list(untold)
        self._at = at

    def open(self, fixture: Fixture) -> MatchContext:
        """Return what a match is opened for, at the moment at which its record begins."""
        context = fixture.context(self._name, self._openings, self._untold)
        self._openings += 1
        self._untold = []
        return context

    def opened(self, match: str, context: MatchContext) -> None:
        """Keep that a match was opened: its record has begun."""
        self._ledger.opened(match, context, self._at())

    def take(self, entry: MatchEntry) -> None:
        """Take what came of a match that is on record; the ledger has all that follows from it, or nothing."""
        with self._ledger.at_once():
            suspended = self._enter(entry)
        self._untold.append(entry.match)
        if suspended is None:
            self._watch.noted(f"{entry.match} does not count: a player was suspended before it was over")
            return
        if entry.void is None:
            self._watch.match_closed(entry)
        else:
            self._watch.match_voided(entry)
        for one in suspended:
            self._watch.entrant_suspended(one)

    def _enter(self, entry: MatchEntry) -> tuple[Suspension, ...] | None:
        """Write a result down, and what follows from it.

        Returns:
            Who is suspended because of it; None if it does not count.
        """
        at = self._at()
        self._ledger.take(entry, at)
        try:
            suspended = self._tournament.take(entry)
        except GivenUp:
            self._ledger.supersede(entry.match, "a player was suspended before it was over", None, at)
            return None
        if entry.void is not None:
            self._ledger.supersede(entry.match, f"void: {entry.void}", None, at)
        for one in suspended:
            self._ledger.suspend(self._name, one.entrant, one.why, at)
        return suspended
