"""The pairings whose result a ruling may still change, and all sums that follow from results.

The last pairings are kept whole. Of older ones only sums are kept, so that the memory of a long season stays bounded.
"""

# Why two sets of books? A ruling may take back any recent result, and a result can't be subtracted safely: the latest
# round, or the largest number of results, may have come from this pairing. So one set holds the old pairings, which
# nobody can rule on any more, and it only grows. The other set holds all pairings. To take back a result, the first set
# is copied, and all recent pairings except this one are added again.
#
# The limit is a guess. When the first match of a league becomes too old for a ruling, it was played weeks ago.

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

from .crosstable import Crosstable
from .match_context import Fixture, MatchEntry
from .pairing.base import EntrantField, PlayedPairing
from .ratings.multi_seat import SkillBook

MOST_RULABLE = 10_000
"""Number of the latest pairings that an organiser can still rule on."""


class Decided(NamedTuple):
    """A pairing that has a result."""

    played: PlayedPairing
    legs: Mapping[int, MatchEntry]
    """Result of each leg; empty for a bye."""
    former: frozenset[int] = frozenset()
    """Entrants that have changed their program after this result."""


@dataclass(slots=True)
class Books:
    """The sums from which standings and ratings follow."""

    table: Crosstable
    skills: SkillBook | None
    """Rankings of matches of more than two seats; None for matches of two."""

    def add(self, decided: Decided) -> None:
        """Add a decided pairing."""
        self.table.add(decided.played, decided.former)
        if self.skills is not None:
            self.skills.add(decided.played, decided.former)

    def renew(self, entrant: int) -> None:
        """Note that an entrant has another program."""
        self.table.renew(entrant)
        if self.skills is not None:
            self.skills.renew(entrant)

    def join(self, field: EntrantField) -> None:
        """Note that an entrant has joined, as the last one of the field."""
        self.table.join(field)
        if self.skills is not None:
            self.skills.join()


class Decisions:
    """The decided pairings.

    Args:
        books: the books of the field, without results.
    """

    def __init__(self, books: Books) -> None:
        self.books = books
        self._older = deepcopy(books)
        """The books of the older pairings. Nothing else is kept of them."""
        self._latest: dict[int, Decided] = {}

    def get(self, number: int) -> Decided | None:
        """Return a decided pairing; None if it is not decided, or is too old."""
        return self._latest.get(number)

    def fixture(self, number: int, leg: int) -> Fixture | None:
        """Return the match whose result counts for a leg; None if there is none, or it is too old."""
        decided = self._latest.get(number)
        return None if decided is None or leg not in decided.legs else decided.legs[leg].fixture

    def later(self, entrant: int, number: int) -> list[Decided]:
        """Return the decided pairings of an entrant with a greater number, without byes."""
        return [
            decided
            for later, decided in sorted(self._latest.items())
            if later > number and decided.legs and entrant in decided.played.pairing.seats
        ]

    def add(self, decided: Decided) -> None:
        """Add a decided pairing."""
        self.books.add(decided)
        self._latest[decided.played.pairing.number] = decided
        if len(self._latest) > MOST_RULABLE:
            self._older.add(self._latest.pop(next(iter(self._latest))))

    def take_back(self, number: int) -> None:
        """Forget the result of a pairing.

        All sums are computed again from the books of the older pairings, because the share of one pairing in a sum is
        not known. The time for this is proportional to the number of recent pairings, but rulings are rare.
        """
        del self._latest[number]
        self.books = deepcopy(self._older)
        for decided in self._latest.values():
            self.books.add(decided)

    def withdraw(self, entrant: int) -> None:
        """Note that an entrant plays no more matches."""
        for books in (self.books, self._older):
            books.table.withdraw(entrant)

    def reinstate(self, entrant: int, through: int) -> None:
        """Note that an entrant comes back; see `Crosstable.reinstate`."""
        for books in (self.books, self._older):
            books.table.reinstate(entrant, through)

    def renew(self, entrant: int) -> None:
        """Note that an entrant has another program from now on."""
        for number, decided in self._latest.items():
            if entrant in decided.played.pairing.seats:
                self._latest[number] = decided._replace(former=decided.former | {entrant})
        for books in (self.books, self._older):
            books.renew(entrant)

    def join(self, field: EntrantField) -> None:
        """Note that an entrant has joined, as the last one of the field."""
        for books in (self.books, self._older):
            books.join(field)
