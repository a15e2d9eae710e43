"""Keeps a running tournament in the ledger, as an observer: the tournament's record has everything before."""

from contextlib import AbstractContextManager

from ..observers import Observer
from ..tournament.commands import TakenStep
from ..tournament.spec import TournamentSpec
from .ledger import Ledger


class LedgerObserver(Observer):
    """Writes the steps of a tournament that it is told of into a ledger.

    If it fails, the ledger gets what it lacks when the tournament is gone on with, or by `rebuild`.

    Args:
        ledger: where they are written.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._tournament = ""

    @property
    def label(self) -> str:
        """What organisers call it."""
        return "the ledger"

    def at_once(self) -> AbstractContextManager[object]:
        """Write what came together in one transaction.

        Raises:
            LedgerError: the database can't be used, when it is entered or left.
        """
        return self._ledger.at_once()

    def tournament_founded(self, spec: TournamentSpec, salt: str, key: str) -> None:
        """Keep what the tournament is.

        Raises:
            LedgerError: the database can't be used, or has another tournament of that name.
        """
        self._ledger.found(spec, salt, key)
        self._tournament = spec.name

    def tournament_stepped(self, step: TakenStep) -> None:
        """Keep a step, unless the ledger has it.

        Raises:
            LedgerError: the database can't be used, or has another course of the tournament.
        """
        self._ledger.take(self._tournament, step)
