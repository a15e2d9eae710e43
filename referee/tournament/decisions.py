"""The pairings that have a result, as long as a ruling may still change it, and all that follows from results.

Of the last pairings all is kept; of older ones only what standings follow from, so that a season takes no more and more
memory.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

from .crosstable import Crosstable
from .match_context import Fixture, MatchEntry
from .pairing.base import EntrantField, PlayedPairing
from .ratings.multi_seat import SkillBook

KEPT = 10_000
"""Number of the latest pairings that an organiser can still rule on."""


class Decided(NamedTuple):
    """A pairing that is through."""

    played: PlayedPairing
    legs: Mapping[int, MatchEntry]
    """Result of each leg; empty for a bye."""
    former: frozenset[int] = frozenset()
    """Entrants that have changed their program since."""


@dataclass(slots=True)
class Books:
    """All that standings and ratings follow from."""

    table: Crosstable
    skills: SkillBook | None
    """Rankings of matches of more than two seats; None for matches of two."""

    def add(self, decided: Decided) -> None:
        """Take in a pairing that is through."""
        self.table.add(decided.played, decided.former)
        if self.skills is not None:
            self.skills.add(decided.played, decided.former)

    def renew(self, entrant: int) -> None:
        """Note that an entrant has another program."""
        self.table.renew(entrant)
        if self.skills is not None:
            self.skills.renew(entrant)

    def join(self, field: EntrantField) -> None:
        """Note that somebody has joined, the last one of the field."""
        self.table.join(field)
        if self.skills is not None:
            self.skills.join()


class Decisions:
    """The pairings that are through.

    Args:
        books: without any result.
    """

    def __init__(self, books: Books) -> None:
        self.books = books
        self._older = deepcopy(books)
        """The books of the older pairings, of which nothing else is kept."""
        self._kept: dict[int, Decided] = {}

    def get(self, number: int) -> Decided | None:
        """Return a pairing that is through; None if it is not, or too long ago."""
        return self._kept.get(number)

    def fixture(self, number: int, leg: int) -> Fixture | None:
        """Return the match that stands for a leg of a pairing that is through; None if there is none, or no more."""
        decided = self._kept.get(number)
        return None if decided is None or leg not in decided.legs else decided.legs[leg].fixture

    def later(self, entrant: int, number: int) -> list[Decided]:
        """Return what an entrant has played in pairings with a greater number, byes left out."""
        return [
            decided
            for kept, decided in sorted(self._kept.items())
            if kept > number and decided.legs and entrant in decided.played.pairing.seats
        ]

    def add(self, decided: Decided) -> None:
        """Take in a pairing that is through."""
        self.books.add(decided)
        self._kept[decided.played.pairing.number] = decided
        if len(self._kept) > KEPT:
            self._older.add(self._kept.pop(next(iter(self._kept))))

    def take_back(self, number: int) -> None:
        """Forget what came of a pairing that is kept."""
        del self._kept[number]
        self.books = deepcopy(self._older)
        for decided in self._kept.values():
            self.books.add(decided)

    def withdraw(self, entrant: int) -> None:
        """Note that an entrant plays no more."""
        for books in (self.books, self._older):
            books.table.withdraw(entrant)

    def reinstate(self, entrant: int, through: int) -> None:
        """Note that an entrant plays on; `through` as for the table."""
        for books in (self.books, self._older):
            books.table.reinstate(entrant, through)

    def renew(self, entrant: int) -> None:
        """Note that an entrant has another program from now on."""
        for number, decided in self._kept.items():
            if entrant in decided.played.pairing.seats:
                self._kept[number] = decided._replace(former=decided.former | {entrant})
        for books in (self.books, self._older):
            books.renew(entrant)

    def join(self, field: EntrantField) -> None:
        """Note that somebody has joined, the last one of the field."""
        for books in (self.books, self._older):
            books.join(field)
