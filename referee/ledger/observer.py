"""Keeps a running tournament in the ledger, as an observer: the tournament's record has everything before."""

from ..observers import Observer
from ..tournament.commands import TakenStep
from .ledger import Ledger


class LedgerObserver(Observer):
    """Writes the steps that it is told of into a ledger.

    If it fails, it takes in what it has missed when the tournament is gone on with.

    Args:
        ledger: it knows the tournament.
        tournament: its name.
    """

    def __init__(self, ledger: Ledger, tournament: str) -> None:
        self._ledger = ledger
        self._tournament = tournament

    @property
    def label(self) -> str:
        """What organisers call it."""
        return "the ledger"

    def tournament_stepped(self, step: TakenStep) -> None:
        """Keep a step, unless the ledger has it.

        Raises:
            LedgerError: the database can't be used, or has another course of the tournament.
        """
        self._ledger.take(self._tournament, step)
