"""Suspends entrants whose programs often fail to start.

Without a limit, a broken program would make all its opponents wait for its start, round after round.

Failures count in the order of the pairings' numbers, not in the order in which matches end. So suspensions depend
neither on the number of tables nor on the length of matches. This has a price if an entrant plays several matches at a
time: a failure in an earlier pairing can suspend the entrant when matches of later pairings are already over. Then the
fold takes back the results of these later matches.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ..text import counted
from .match_context import MatchEntry


class Failure(NamedTuple):
    """A failure of an entrant to start."""

    number: int
    """Number of the pairing in which it failed."""
    entrant: int
    why: str


class Failures:
    """The failures of a tournament.

    Args:
        limit: number of failures after which an entrant is suspended; 0 to suspend nobody.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._times: Counter[int] = Counter()
        self._noted: list[Failure] = []
        """Failures of entrants that are not suspended, in the order of their pairings."""

    def times(self, entrant: int) -> int:
        """Return the number of matches in which an entrant's program failed to start."""
        return self._times[entrant]

    def note(self, number: int, entries: Iterable[MatchEntry]) -> None:
        """Note the entrants that failed to start in the matches of a decided pairing."""
        for entry in entries:
            for foul in entry.fouls:
                if foul.turn == 0:
                    entrant = entry.fixture.entrants[foul.seat]
                    self._times[entrant] += 1
                    self._noted.append(Failure(number, entrant, foul.detail))
        self._noted = sorted(self._noted, key=lambda failure: failure.number) if self._limit else []

    def find_suspensions(self, before: int | None) -> list[Failure]:
        """Return the failures that suspend their entrants, in the order of the pairings.

        Args:
            before: only failures in pairings with smaller numbers count; None to count all failures.
        """
        times, suspensions = Counter[int](), []
        for number, entrant, detail in self._noted:
            if before is not None and number >= before:
                break
            times[entrant] += 1
            if times[entrant] == self._limit:
                why = f"failed to start in {counted(self._limit, 'match', 'matches')}: {detail}"
                suspensions.append(Failure(number, entrant, why))
        return suspensions

    def settle(self, entrant: int) -> None:
        """Drop the failures of an entrant that is suspended now."""
        self._noted = [failure for failure in self._noted if failure.entrant != entrant]

    def forgive(self, entrant: int) -> None:
        """Forget the failures of an entrant that has a new program, or that a ruling has reinstated."""
        self._times.pop(entrant, None)
        self.settle(entrant)

    def take_back(self, number: int) -> None:
        """Forget the failures in a pairing whose result does not count any more."""
        self._times.subtract(failure.entrant for failure in self._noted if failure.number == number)
        self._noted = [failure for failure in self._noted if failure.number != number]
