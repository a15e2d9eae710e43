"""Programs that fail to start, and the entrants that are suspended for it.

Without a limit, one broken program would cost every opponent the time of a start, round after round.

Failures count in the order of the pairings' numbers, not in the order in which matches end. So neither the number of
tables nor the length of a match decides which entrant is suspended, and from which pairing on. This has a price. Where
an entrant plays several matches at a time, later matches may end before an earlier one turns out to be the last
failure. Then the fold takes back the results of those later matches.
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
        limit: number of failures that suspend an entrant; 0: it is never suspended.
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
            before: number of the first pairing whose failures do not count yet; None: all count.
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
        """Forget the failures of an entrant that has another program, or that a ruling has reinstated."""
        self._times.pop(entrant, None)
        self.settle(entrant)

    def take_back(self, number: int) -> None:
        """Forget the failures in a pairing whose result does not count any more."""
        self._times.subtract(failure.entrant for failure in self._noted if failure.number == number)
        self._noted = [failure for failure in self._noted if failure.number != number]
