"""What the rulings of a tournament changed: which lines of the standings, which matches, who against whom."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import TypeVar

from msgspec import Struct

from .decisions import place_of
from .events import Ruling
from .history import History
from .match_context import Fixture

Key = TypeVar("Key")
_DECISIONS = {
    "withdraw": "withdrawn",
    "disqualify": "disqualified",
    "reinstate": "reinstated",
    "replay": "to be played once more",
    "void": "counts for nobody",
    "stop": "stopped for good",
}


class RuledLine(Struct, frozen=True, kw_only=True):
    """A ruling as it stands beside what it changed."""

    number: int
    """From 1, in the order in which they were made."""
    at: str
    """Time of day, ISO 8601 in UTC."""
    ruling: Ruling
    entrants: Sequence[int]
    """Whom it is about: an entrant, or all who are seated in the match; nobody, if the tournament was stopped."""
    place: tuple[int, int] | None
    """Of the match: number of its pairing, and its leg."""

    @property
    def decision(self) -> str:
        """What was decided, in words that follow the name of whom or what it is about."""
        return _DECISIONS.get(self.ruling.kind) or f"awarded to {self.ruling.entrant}"


class RuledLines:
    """All rulings of a tournament.

    Args:
        history: its course so far.
    """

    def __init__(self, history: History) -> None:
        self.all: Sequence[RuledLine] = list(_lines(history))
        self._of_matches = _grouped(self.all, lambda line: [] if line.place is None else [line.place])
        self._of_entrants = _grouped(self.all, lambda line: line.entrants)
        self._of_pairs = _grouped(self.all, lambda line: [] if line.place is None else permutations(line.entrants, 2))

    def of_match(self, fixture: Fixture) -> Sequence[RuledLine]:
        """Return the rulings on a match, or on one that was played in its place."""
        return self._of_matches.get((fixture.number, fixture.leg), ())

    def of_pairing(self, number: int) -> Sequence[RuledLine]:
        """Return the rulings on the matches of a pairing."""
        return [line for line in self.all if line.place is not None and line.place[0] == number]

    def of_entrant(self, entrant: int) -> Sequence[RuledLine]:
        """Return the rulings on an entrant and on its matches."""
        return self._of_entrants.get(entrant, ())

    def of_pair(self, entrant: int, opponent: int) -> Sequence[RuledLine]:
        """Return the rulings on matches of two entrants."""
        return self._of_pairs.get((entrant, opponent), ())


def _lines(history: History) -> Iterator[RuledLine]:
    spec = history.tournament.spec
    index = {entrant.name: at for at, entrant in enumerate(spec.entrants)}
    seated = {played.pairing.number: played.pairing.seats for played in history.played}
    seated |= {entry.fixture.number: entry.fixture.entrants for entry in history.results}
    ruled = zip(history.ruled_at, history.tournament.rulings, strict=True)
    for number, (at, ruling) in enumerate(ruled, 1):
        place = None if ruling.match is None else place_of(ruling.match, spec.name)
        named = () if ruling.entrant is None else (index[ruling.entrant],)
        entrants = named if place is None else seated.get(place[0], ())
        yield RuledLine(number=number, at=at, ruling=ruling, entrants=entrants, place=place)


def _grouped(lines: Sequence[RuledLine], keys: Callable[[RuledLine], Iterable[Key]]) -> Mapping[Key, list[RuledLine]]:
    found: dict[Key, list[RuledLine]] = {}
    for line in lines:
        for key in keys(line):
            found.setdefault(key, []).append(line)
    return found
