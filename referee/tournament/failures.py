"""Programs that fail to start, and when that is too often.

Failures count in the order of the pairings' numbers, so that whom they suspend, and from which pairing on, does not
depend on which match is over first.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ..text import counted
from .match_context import MatchEntry


class TooMany(NamedTuple):
    """That an entrant has failed once too often."""

    number: int
    """Of the pairing in which it did."""
    entrant: int
    why: str


class Failures:
    """The failures of a tournament.

    Args:
        limit: so many suspend an entrant; 0: none ever do.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._times: Counter[int] = Counter()
        self._noted: list[TooMany] = []
        """Each failure, by number, of entrants that are not suspended."""

    def times(self, entrant: int) -> int:
        """Return in how many matches an entrant's program failed to start."""
        return self._times[entrant]

    def note(self, number: int, entries: Iterable[MatchEntry]) -> None:
        """Note who failed to start in the matches of a pairing that is through."""
        for entry in entries:
            for foul in entry.fouls:
                if foul.turn == 0:
                    entrant = entry.fixture.entrants[foul.seat]
                    self._times[entrant] += 1
                    self._noted.append(TooMany(number, entrant, foul.detail))
        self._noted = sorted(self._noted, key=lambda failure: failure.number) if self._limit else []

    def reached(self, before: int | None) -> list[TooMany]:
        """Return who is to be suspended, in the order of the pairings.

        Args:
            before: failures in pairings from this number on do not count yet; None: all do.
        """
        times, found = Counter[int](), []
        for number, entrant, detail in self._noted:
            if before is not None and number >= before:
                break
            times[entrant] += 1
            if times[entrant] == self._limit:
                why = f"failed to start in {counted(self._limit, 'match', 'matches')}: {detail}"
                found.append(TooMany(number, entrant, why))
        return found

    def settle(self, entrant: int) -> None:
        """Count no failure of an entrant any more, as it is suspended."""
        self._noted = [failure for failure in self._noted if failure.entrant != entrant]

    def forgive(self, entrant: int) -> None:
        """Forget an entrant's failures, as it has another program or plays on by a ruling."""
        self._times.pop(entrant, None)
        self.settle(entrant)

    def take_back(self, number: int) -> None:
        """Forget the failures in a pairing whose result counts no more."""
        self._times.subtract(failure.entrant for failure in self._noted if failure.number == number)
        self._noted = [failure for failure in self._noted if failure.number != number]
