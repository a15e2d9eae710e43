"""The matches of a tournament: their fixtures, their results, and the pairings that are due.

This module does not depend on the pairing format.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import groupby
from typing import Annotated

from msgspec import Meta, Struct

from ..match.commands import Result
from .pairing.base import BadRuling, Pairing, PlayedPairing
from .points import Scoring, match_points


class Fixture(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One match that must be played."""

    match: str
    """Name of the match and of its record."""
    number: Annotated[int, Meta(ge=1)]
    """Number of the pairing."""
    round: Annotated[int, Meta(ge=1)]
    table: str
    """Label of the pairing's place in the format, such as `final`; usually empty."""
    leg: Annotated[int, Meta(ge=0)]
    """Number of the leg, from 0: all matches of a pairing with the same deal are its legs."""
    attempt: Annotated[int, Meta(ge=0)]
    """Number of earlier matches of the same leg that did not count."""
    entrants: tuple[int, ...]
    """Index of the entrant at each seat. In later legs, the order differs from that of the pairing."""


def name_match(tournament: str, number: int, leg: int, attempt: int) -> str:
    """Return the name of a match of a tournament, and of its record.

    Args:
        tournament: name of the tournament.
        number: number of the pairing, from 1.
        leg: leg of the pairing, from 0.
        attempt: number of earlier matches of that leg that did not count.
    """
    return f"{tournament}-{number:05}{f'.{leg + 1}' if leg else ''}{f'r{attempt}' if attempt else ''}"


class MatchContext(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The place of a match in its tournament. It stands in the header of the match's record."""

    tournament: str
    fixture: Fixture
    head: str
    """Hash of the line in the tournament's record that opened the match."""


class FoulEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One player's foul, without its evidence."""

    seat: int
    cause: str
    turn: int
    """Number of the turn in which it happened; 0 before the first."""
    rule: str | None = None
    code: str | None = None
    detail: str = ""


class MatchEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of a match."""

    fixture: Fixture
    names: tuple[str, ...]
    """Names of the players, by seat."""
    void: str | None
    """The referee's failure that made the match void; None if the match is not void."""
    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst. Seats that fouled come last."""
    scores: tuple[int, ...]
    fouls: tuple[FoulEntry, ...]
    reason: str
    """Id of the rule that ended the game."""
    turns: int
    used_ms: tuple[float, ...]
    """Time that each seat used, in milliseconds."""
    head: str
    """Hash of the record's result line, which the seal signs."""

    @property
    def match(self) -> str:
        """Name of the match and of its record."""
        return self.fixture.match

    @property
    def is_ruled(self) -> bool:
        """True if a ruling made this result without a game."""
        return not (self.head or self.reason or self.void)


# --- Legs
#
# The legs of a pairing: one deal, played once from every seat, and the result of all legs together.
#
# Each leg gives each entrant match points. Their sums rank the entrants of the pairing, which counts as one match. An
# entrant that fouled in every leg has fouled in the pairing. Why not count each leg separately? Two legs of one deal
# are not independent: an entrant with the better cards in one leg plays against these cards in the other. If the legs
# counted as two matches, they would count for more than the evidence that they give.


def rotate_seats(seats: Sequence[int], leg: int) -> tuple[int, ...]:
    """Return the entrants by seat in a leg. From leg to leg, each entrant moves by one seat."""
    return tuple(seats[(seat + leg) % len(seats)] for seat in range(len(seats)))


def combine_legs(pairing: Pairing, legs: Sequence[MatchEntry], scoring: Scoring | None) -> PlayedPairing:
    """Return the result of a pairing.

    Args:
        pairing: the pairing.
        legs: results of its legs, at least one. None of them is void because of the referee.
        scoring: points for the places of a leg; not used if there is a single leg.

    Returns:
        The result in the order of the pairing's seats: a ranking by the sums of match points, and the sums of scores.
        The ranking is empty if rulings voided all legs.
    """
    parts = [_reorder(pairing, entry) for entry in legs]
    if len(parts) == 1 or scoring is None:
        return parts[0]
    seats = range(len(pairing.seats))
    points = [match_points(part, scoring) for part in parts]
    sums = [sum((shares[seat] for shares in points), Fraction(0)) for seat in seats]
    fouls = tuple(seat for seat in seats if all(seat in part.fouls for part in parts))
    order = sorted(seats, key=lambda seat: (seat in fouls, -sums[seat], seat))
    groups = groupby(order, key=lambda seat: (seat in fouls, sums[seat]))
    return PlayedPairing(
        pairing=pairing,
        ranking=tuple(tuple(group) for _, group in groups) if any(part.ranking for part in parts) else (),
        scores=tuple(sum(part.scores[seat] for part in parts) for seat in seats),
        fouls=fouls,
        legs=tuple(parts),
    )


def _reorder(pairing: Pairing, entry: MatchEntry) -> PlayedPairing:
    """Return a match's result in the order of the pairing's seats."""
    place = [pairing.seats.index(entrant) for entrant in entry.fixture.entrants]
    scores = [0] * len(place)
    for seat, score in enumerate(entry.scores):
        scores[place[seat]] = score
    return PlayedPairing(
        pairing=pairing,
        ranking=tuple(tuple(sorted(place[seat] for seat in group)) for group in entry.ranking),
        scores=tuple(scores),
        fouls=tuple(sorted(place[foul.seat] for foul in entry.fouls)),
    )


# --- Pairings that are due
#
# For each leg of a pairing, they have its result, or the match that must still be played.


class DuePairings:
    """The pairings that are due, with the results of their legs so far.

    Args:
        tournament: name of the tournament; names of matches begin with it.
        legs: number of legs of a pairing.
    """

    def __init__(self, tournament: str, legs: int) -> None:
        self._tournament = tournament
        self._legs = range(legs)
        self._pairings: dict[int, Pairing] = {}
        self._open: dict[int, tuple[Fixture, ...]] = {}
        """Number of a pairing -> its legs without a result."""
        self._results: dict[int, dict[int, MatchEntry]] = {}
        """Number of a pairing -> leg -> the result of the leg."""
        self._attempts: Counter[tuple[int, int]] = Counter()
        """Number of a pairing, and leg -> number of matches so far that did not count."""
        self.given_up_legs = 0
        """Number of played legs in pairings that were cancelled before their last leg."""

    def __getitem__(self, number: int) -> Pairing:
        return self._pairings[number]

    def __contains__(self, number: int) -> bool:
        return number in self._pairings

    def __len__(self) -> int:
        return len(self._pairings)

    def __iter__(self) -> Iterator[int]:
        return iter(tuple(self._pairings))

    def find_obsolete(self, now: Mapping[int, Pairing]) -> list[int]:
        """Return the numbers of the pairings that are no longer due, or have changed."""
        return [number for number, pairing in self._pairings.items() if now.get(number) != pairing]

    def find_idle(self, playing: Iterable[Fixture]) -> list[int]:
        """Return the numbers of the pairings that have not begun: no match was played, and none is being played."""
        begun = {fixture.number for fixture in playing}
        return [number for number in self if number not in begun and not self.results(number)]

    def fixtures(self, number: int) -> tuple[Fixture, ...]:
        """Return the legs of a pairing that have no result; an empty tuple if the pairing is not due."""
        return self._open.get(number, ())

    def results(self, number: int) -> Mapping[int, MatchEntry]:
        """Return the present results of a pairing, by leg."""
        return self._results.get(number, {})

    def fixture(self, number: int, leg: int) -> Fixture | None:
        """Return the latest match of a leg, played or not; None if the pairing is not due."""
        fixtures = [*self.fixtures(number), *(entry.fixture for entry in self.results(number).values())]
        return next((fixture for fixture in fixtures if fixture.leg == leg), None)

    def add(self, pairing: Pairing, results: Mapping[int, MatchEntry] | None = None) -> tuple[Fixture, ...]:
        """Add a pairing, and return the matches of it that must be played.

        Args:
            pairing: a pairing that was not due before.
            results: earlier results of its legs, by leg.
        """
        self._pairings[pairing.number] = pairing
        if results:
            self._results[pairing.number] = dict(results)
        return self._refresh(pairing.number)

    def close(self, entry: MatchEntry) -> bool:
        """Add the result of a leg; return whether all legs of the pairing have results now."""
        number = entry.fixture.number
        self._results.setdefault(number, {})[entry.fixture.leg] = entry
        return not self._refresh(number)

    def play_again(self, fixture: Fixture) -> Fixture:
        """Drop the result of a leg, if it has one, and return a new match for the leg."""
        number, leg = fixture.number, fixture.leg
        self._results.get(number, {}).pop(leg, None)
        self._attempts[number, leg] = fixture.attempt + 1
        return next(again for again in self._refresh(number) if again.leg == leg)

    def call_off(self, number: int) -> tuple[Fixture, ...]:
        """Cancel a pairing, and return its matches that have no result."""
        left = self.fixtures(number)
        self.given_up_legs += len(self.results(number))
        self.forget(number)
        return left

    def forget(self, number: int) -> None:
        """Forget a pairing."""
        for by_number in (self._pairings, self._open, self._results):
            by_number.pop(number, None)
        for leg in self._legs:
            self._attempts.pop((number, leg), None)

    def check_no_match_depends(self, playing: Mapping[str, Fixture], due: AbstractSet[int]) -> None:
        """Check that all matches that are being played stay due if a result is taken back.

        Args:
            playing: name of each match that is being played -> its fixture.
            due: numbers of the pairings that would be due then.

        Raises:
            BadRuling: a match that is being played would no longer be due.
        """
        for match, fixture in playing.items():
            if fixture.number in self and fixture.number not in due:
                raise BadRuling(f"{match} follows from it, and is being played")

    def _refresh(self, number: int) -> tuple[Fixture, ...]:
        """Compute again which legs of a pairing must be played, and return them."""
        done = self.results(number)
        self._open[number] = tuple(self._fixture(number, leg) for leg in self._legs if leg not in done)
        return self._open[number]

    def _fixture(self, number: int, leg: int) -> Fixture:
        pairing, attempt = self._pairings[number], self._attempts.get((number, leg), 0)
        return Fixture(
            match=name_match(self._tournament, number, leg, attempt),
            number=number,
            round=pairing.round,
            table=pairing.table,
            leg=leg,
            attempt=attempt,
            entrants=rotate_seats(pairing.seats, leg),
        )


def make_entry(fixture: Fixture, names: tuple[str, ...], result: Result, head: str) -> MatchEntry:
    """Make the entry of a match, for the record of its tournament.

    Args:
        fixture: place of the match in its tournament.
        names: names of the players, by seat.
        result: result of the match.
        head: hash of the record's result line.
    """
    fouls = tuple(
        FoulEntry(
            seat=foul.seat, cause=str(foul.cause), turn=foul.turn, rule=foul.rule, code=foul.code, detail=foul.detail
        )
        for foul in result.fouls
    )
    return MatchEntry(
        fixture=fixture,
        names=names,
        void=result.void,
        ranking=result.ranking,
        scores=result.scores,
        fouls=fouls,
        reason=result.reason or "",
        turns=result.turns,
        used_ms=result.used_ms,
        head=head,
    )


def is_free(fixture: Fixture, playing: Iterable[Fixture], taken_back: Collection[int]) -> bool:
    """Return whether no player of a match is busy in another match.

    Args:
        fixture: the match.
        playing: the matches that are being played.
        taken_back: numbers of the pairings that a ruling has made due again.
    """
    # Pairings that a format makes due at the same time have no entrant in common. But a match that a ruling replays
    # belongs to an earlier round, and its entrants may be busy in a later round.
    if not taken_back:
        return True
    others = [other for other in playing if other.number != fixture.number]
    if fixture.number not in taken_back:
        others = [other for other in others if other.number in taken_back]
    return all(set(fixture.entrants).isdisjoint(other.entrants) for other in others)
