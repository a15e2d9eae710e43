"""A tournament of two seats as FIDE's Tournament Report File has it, which other pairing programs and arbiters read.

Sources: FIDE Handbook, C.04 Annex 2, TRF16; its extensions `XXR` and `XXC` as in the manual of JaVaFo.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from .balanced_tables import Table

_NAME_CHARS = 33
_MOST_RATING = 9999


class RoundLine(Struct, frozen=True):
    """What one entrant had in one round."""

    round: int
    table: Table
    """All who sat there; a single one was alone."""
    points: int
    """In halves: 2 for each beaten opponent, 1 for each equal one; a bye counts as beating all."""
    unplayed: str = ""
    """Of what was no match, the file's letter: `U` a bye, `H` a round that was missed for half a point, `+` and `-` the
    two sides of a walkover. Empty: it was a match."""


class PlayedRounds(Struct, frozen=True, kw_only=True):
    """A tournament of two seats up to some round."""

    rounds: int
    """That are planned."""
    through: int
    """Rounds that are told of."""
    order: tuple[int, ...]
    """Entrants by starting number."""
    lines: tuple[tuple[RoundLine, ...], ...]
    """By entrant, by round; a round without a line was missed for nothing."""
    away: frozenset[int] = frozenset()
    """Entrants that are not to be paired in the next round."""
    is_white_first: bool = True
    """Whether the first of the order has the first seat in round 1."""

    def points(self, entrant: int) -> int:
        """Return an entrant's points, in halves."""
        return sum(line.points for line in self.lines[entrant])

    def results(self, entrant: int) -> "list[LineResult]":
        """Return an entrant's rounds, and the next one if it is to miss that."""
        found = [_MISSED] * (self.through + (entrant in self.away and self.through < self.rounds))
        for line in self.lines[entrant]:
            found[line.round - 1] = self._result(line, entrant)
        return found

    def _result(self, line: RoundLine, entrant: int) -> "LineResult":
        if len(line.table) == 1:
            return LineResult(0, "-", line.unplayed)
        seat = line.table.index(entrant)
        opponent = self.order.index(line.table[1 - seat]) + 1
        return LineResult(opponent, "wb"[seat], line.unplayed or "0=1"[line.points])


class LineResult(Struct, frozen=True):
    """One round of one entrant, as the file has it."""

    opponent: int
    """Starting number; 0: none."""
    colour: str
    """`w` for the first seat, `b` for the second, `-` for none."""
    letter: str


_MISSED = LineResult(0, "-", "Z")


class TrfPlayer(Struct, frozen=True):
    """What a file tells of an entrant besides its results."""

    name: str
    rating: float | None = None


def trf_text(course: PlayedRounds, people: Sequence[TrfPlayer], heads: Sequence[tuple[str, str]]) -> str:
    """Return a tournament as a file.

    Args:
        course: what was played.
        people: by entrant.
        heads: code and text of each line that says what tournament it is.
    """
    return "".join(f"{line}\n" for line in _lines(course, people, heads))


def _lines(course: PlayedRounds, people: Sequence[TrfPlayer], heads: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (f"{code} {text}" for code, text in heads)
    yield f"XXR {course.rounds}"
    yield f"XXC {'white1' if course.is_white_first else 'black1'}"
    ranked = sorted(course.order, key=lambda entrant: -course.points(entrant))
    places = {entrant: place for place, entrant in enumerate(ranked, start=1)}
    for number, entrant in enumerate(course.order, start=1):
        person, points = people[entrant], course.points(entrant) / 2
        name, rating = person.name[:_NAME_CHARS], _rating(person.rating)
        about = f"001 {number:4}      {name:{_NAME_CHARS}} {rating:>4}{'':27} {points:4.1f} {places[entrant]:4}"
        yield about + "".join(map(_cell, course.results(entrant)))


def _rating(rating: float | None) -> str:
    """Return a rating as far as the file has room for it."""
    return str(round(rating)) if rating is not None and 0 < round(rating) <= _MOST_RATING else ""


def _cell(result: LineResult) -> str:
    opponent = str(result.opponent).rjust(4) if result.opponent else "0000"
    return f"  {opponent} {result.colour} {result.letter}"
