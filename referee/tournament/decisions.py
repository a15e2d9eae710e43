"""What was decided in a tournament, and what a ruling may decide otherwise.

Of the last pairings all is kept; of older ones only what standings follow from, so that a season takes no more and more
memory.
"""

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

from ..text import near
from .crosstable import Crosstable
from .match_context import Fixture, MatchEntry
from .pairing.base import BadRuling, EntrantField, PlayedPairing
from .ratings.multi_seat import SkillBook
from .spec import TournamentSpec

KEPT = 10_000
"""Number of the latest pairings that an organiser can still rule on."""
_PLACE = re.compile(r"-(\d{5,9})(?:\.(\d{1,3}))?(?:r\d{1,9})?")


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


def parse_match_name(match: str, tournament: str) -> tuple[int, int]:
    """Return the number of a match's pairing and its leg, from 0.

    Raises:
        BadRuling: it is no name of a match of this tournament.
    """
    named = _PLACE.fullmatch(match.removeprefix(tournament)) if match.startswith(tournament) else None
    if named is None:
        raise BadRuling(f"{match} is no match of {tournament}: its matches are called like {tournament}-00001")
    number, leg = named.groups()
    return int(number), int(leg or 1) - 1


def check_decidable(match: str, fixture: Fixture | None, playing: Mapping[str, Fixture]) -> Fixture:
    """Return the match that stands for a leg of a pairing now.

    Args:
        match: as it was called.
        fixture: the match of that name; None if there is none.
        playing: match -> what it was opened for.

    Raises:
        BadRuling: there is none of that name, or it is being played.
    """
    if fixture is None:
        why = "it is not paired yet, or it was given up, or is too long ago"
        raise BadRuling(f"{match.rpartition('-')[0]} has no match {match} to rule on: {why}")
    if fixture.match in playing:
        raise BadRuling(f"{fixture.match} is being played: rule on it when it is over")
    return fixture


def find_entrant(name: str, spec: TournamentSpec) -> int:
    """Return the index of an entrant.

    Raises:
        BadRuling: nobody is called so.
    """
    for entrant, participant in enumerate(spec.entrants):
        if participant.name == name:
            return entrant
    names = [entrant.name for entrant in spec.entrants]
    raise BadRuling(f"nobody in {spec.name} is called {name}{near(name, names)}")


def make_ruled_entry(fixture: Fixture, names: tuple[str, ...], winner: int | None) -> MatchEntry:
    """Return what comes of a match by a ruling.

    Args:
        fixture: the match.
        names: of its players, by seat.
        winner: the entrant that it is awarded to; None: it counts for nobody.
    """
    seats = range(len(names))
    first = () if winner is None else tuple(seat for seat in seats if fixture.entrants[seat] == winner)
    rest = tuple(seat for seat in seats if seat not in first)
    return MatchEntry(
        fixture=fixture,
        names=names,
        void=None,
        ranking=(first, rest) if first else (),
        scores=(0,) * len(names),
        fouls=(),
        reason="",
        turns=0,
        used_ms=(0.0,) * len(names),
        head="",
    )
