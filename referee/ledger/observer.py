"""Keeps the results of a running tournament in the ledger, as an observer: the records have everything before."""

from collections.abc import Callable

from ..clock import wall_clock
from ..observers import Observer
from ..tournament.machine import Suspension
from ..tournament.match_context import MatchContext, MatchEntry
from .ledger import Ledger


class LedgerObserver(Observer):
    """Writes what it is told into a ledger: of a result, all that follows from it or nothing.

    If it fails, what it was not told is taken from the records when the tournament is run again, or by `rebuild`.

    Args:
        ledger: it knows the tournament.
        at: returns the time of day, as wall_clock does.
    """

    def __init__(self, ledger: Ledger, at: Callable[[], str] = wall_clock) -> None:
        self._ledger = ledger
        self._at = at

    @property
    def label(self) -> str:
        """What organisers call it."""
        return "the ledger"

    def record_opened(self, match: str, context: MatchContext | None) -> None:
        """Keep that a match was opened.

        Raises:
            LedgerError: the database can't be used.
        """
        if context is not None:
            self._ledger.opened(match, context, self._at())

    def result_taken(self, entry: MatchEntry, suspended: tuple[Suspension, ...] | None) -> None:
        """Keep a result, whether it counts, and who is suspended.

        Raises:
            LedgerError: the database can't be used.
        """
        at = self._at()
        with self._ledger.at_once():
            self._ledger.take(entry, at)
            if suspended is None:
                self._ledger.supersede(entry.match, "a player was suspended before it was over", None, at)
            elif entry.void is not None:
                self._ledger.supersede(entry.match, f"void: {entry.void}", None, at)
            for suspension in suspended or ():
                self._ledger.suspend(entry.context.tournament, suspension.entrant, suspension.why, at)
