"""The plan of a round robin of more than two seats: everybody plays equally often, and all pairs meet equally often.

How often is settled first, and who plays in which round follows from it; who sits together there is searched for. If
that leaves some pairs two meetings apart, rounds of one table are searched through as well, which leave more choice:
that all meet equally often counts for more than that many tables play at the same time. But nothing else does.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from .balanced_tables import Table, gather, seat_all
from .base import Pairing
from .table_search import Met, count_meetings, even_out, excess

_CHUNK = 64
"""So many tables are evened out together; those of a longer plan one after the other."""
_WORK = 500_000
"""Exchanges that are tried for a plan: a few tenths of a second."""
_WORK_AGAIN = 50_000
"""The same for what is left of one after a withdrawal."""
_LEAST_WORK = 15_000
"""The same for each chunk of a long plan."""


class SeatedTimetable(Struct, frozen=True, kw_only=True):
    """The timetable of more than two seats, written out."""

    seats: int
    """Of one match."""
    each: int
    """Results of everybody that stays, byes included."""
    limit: int | None = None
    """Rounds of matches that there may be at most."""
    last: int = 0
    """The greatest number that any pairing has had."""
    pairings: tuple[tuple[Pairing, ...], ...] = ()
    """By round, counted from 0; in the last ones are byes alone, of those who can't play as often as others."""
    places: tuple[dict[int, int], ...] = ()
    """By round: entrant -> place among the round's pairings."""

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return len(self.pairings)

    @property
    def matches(self) -> int:
        """How many matches there are."""
        return sum(not pairing.is_bye for done in self.pairings for pairing in done)

    def pairing(self, entrant: int, index: int) -> Pairing | None:
        """Return an entrant's pairing of a round, counted from 0; None if it is in none."""
        place = self.places[index].get(entrant)
        return None if place is None else self.pairings[index][place]


def planned(plan: SeatedTimetable, entrants: Sequence[int]) -> SeatedTimetable:
    """Fill an empty plan.

    Args:
        plan: what it is to be like.
        entrants: who plays, in the order in which they are served.
    """
    need = tuple(_need(plan, entrants))
    return _filled(plan, entrants, _begun(need, plan.seats, plan.limit), "")


def without_tables(plan: SeatedTimetable, entrant: int, first: int) -> SeatedTimetable:
    """Return a plan without the tables of an entrant from a round on, counted from 0."""
    kept = (
        tuple(pairing for pairing in done if index < first or entrant not in pairing.seats)
        for index, done in enumerate(plan.pairings)
    )
    return _with(plan, tuple(kept), plan.last)


def made_up(plan: SeatedTimetable, staying: Sequence[int]) -> SeatedTimetable:
    """Return a plan with rounds behind its last one, in which those who stay play what withdrawals have cost them.

    It takes a bye where that can't be done. A plan in which nobody lacks anything stays as it is.
    """
    index = {entrant: place for place, entrant in enumerate(staying)}
    met = _nobody_met(len(staying))
    for pairing in (pairing for done in plan.pairings for pairing in done):
        count_meetings(met, [index[entrant] for entrant in pairing.seats if entrant in index])
    rounds = _evened(_need(plan, staying), plan.seats, None, met, _WORK_AGAIN)
    return _filled(plan, staying, rounds, "walkover")


def tables_to_make_up(plan: SeatedTimetable, staying: Sequence[int]) -> int:
    """Return how many tables that takes, or nearly so."""
    return sum(len(playing) // plan.seats for playing in _attendance(_need(plan, staying), plan.seats, None))


@lru_cache(maxsize=32)  # the same tournament is folded again and again: to go on, for its report, in an audit
def _begun(need: tuple[int, ...], seats: int, limit: int | None) -> list[list[list[int]]]:
    """Return who sits together in each round where nobody has met yet; nobody may change it."""
    return _evened(need, seats, limit, _nobody_met(len(need)), _WORK)


def _nobody_met(entrants: int) -> Met:
    return [[0] * entrants for _ in range(entrants)]


def _filled(
    plan: SeatedTimetable, entrants: Sequence[int], rounds: Sequence[Sequence[Sequence[int]]], bye: str
) -> SeatedTimetable:
    """Add matches, and byes for whoever has fewer than others since the numbers do not divide.

    Args:
        plan: up to the last round that stays as it is.
        entrants: who plays on.
        rounds: to add: who sits together, by place among those.
        bye: what the byes are.
    """
    tables = [[entrants[place] for place in table] for together in rounds for table in together]
    seated = iter(seat_all(tables, plan.seats))
    plan = _extended(plan, [list(islice(seated, len(together))) for together in rounds], bye)
    results = _results(plan)
    most = max((results[entrant] for entrant in entrants), default=0)
    byes = ([(entrant,) for entrant in entrants if results[entrant] < count] for count in range(1, most + 1))
    return _extended(plan, [short for short in byes if short], bye)


def _need(plan: SeatedTimetable, entrants: Sequence[int]) -> list[int]:
    """Return by place in the order how many matches are to come."""
    results = _results(plan)
    return [max(plan.each - results[entrant], 0) for entrant in entrants]


def _results(plan: SeatedTimetable) -> Counter[int]:
    return Counter(entrant for done in plan.pairings for pairing in done for entrant in pairing.seats)


def _evened(need: Sequence[int], seats: int, limit: int | None, met: Met, work: int) -> list[list[list[int]]]:
    """Return who sits together in each round.

    Args:
        need: by place in the order: matches to come.
        seats: of one match.
        limit: rounds at most.
        met: meetings so far.
        work: exchanges to try.
    """
    evened = [list(row) for row in met]
    rounds = _together(_attendance(need, seats, limit), seats, evened, work)
    if limit is None and sum(map(len, rounds)) <= _CHUNK and max(map(len, rounds), default=1) > 1 and excess(evened):
        single = _together(_attendance(need, seats, None, at_once=1), seats, met, work)
        if not excess(met):
            return _packed([table for tables in single for table in tables])
    return rounds


def _attendance(need: Sequence[int], seats: int, limit: int | None, at_once: int | None = None) -> list[list[int]]:
    """Return who plays in each round: those with most matches to come, and of those one after the other.

    Args:
        need: by place in the order: matches to come.
        seats: of one match.
        limit: rounds at most.
        at_once: tables of a round at most; None: as many as can be filled.
    """
    order, left, rounds = list(range(len(need))), list(need), list[list[int]]()
    while limit is None or len(rounds) < limit:
        ready = sorted((place for place in order if left[place] > 0), key=lambda place: -left[place])
        playing = ready[: (at_once or len(ready)) * seats]
        playing = playing[: len(playing) // seats * seats]
        if not playing:
            break
        for place in playing:
            left[place] -= 1
        rounds.append(playing)
        order = [*order[1:], order[0]]
    return rounds


def _together(attendance: Sequence[list[int]], seats: int, met: Met, work: int) -> list[list[list[int]]]:
    """Divide those who play in each round among its tables; their meetings are added to those that there were."""
    rounds: list[list[list[int]]] = []
    per_chunk = max(1, _CHUNK * seats // max(map(len, attendance), default=1))
    for start in range(0, len(attendance), per_chunk):
        chunk, counted = [], [list(row) for row in met]
        for playing in attendance[start : start + per_chunk]:
            chunk.append(gather(playing, seats, counted))
            for table in chunk[-1]:
                count_meetings(counted, table)
        even_out(chunk, met, max(work * len(chunk) // len(attendance), _LEAST_WORK))
        rounds += chunk
    return rounds


def _packed(tables: Sequence[list[int]]) -> list[list[list[int]]]:
    """Put tables into rounds in which nobody sits at two, those first who have played least."""
    left, played, rounds = list(range(len(tables))), Counter[int](), []
    while left:
        busy, chosen = set[int](), []
        for index in sorted(left, key=lambda index: sum(played[place] for place in tables[index])):
            if busy.isdisjoint(tables[index]):
                chosen.append(index)
                busy.update(tables[index])
        played.update(busy)
        left = [index for index in left if index not in chosen]
        rounds.append([tables[index] for index in chosen])
    return rounds


def _extended(plan: SeatedTimetable, rounds: Sequence[Sequence[Table]], bye: str) -> SeatedTimetable:
    """Add rounds to a plan; byes belong to the round before."""
    pairings, last = list(plan.pairings), plan.last
    for tables in rounds:
        at = sum(any(len(pairing.seats) > 1 for pairing in done) for done in pairings)
        pairings.append(
            tuple(
                Pairing(number=number, round=at + 1, seats=seats)
                if len(seats) > 1
                else Pairing(number=number, round=max(at, 1), seats=seats, table=bye)
                for number, seats in enumerate(tables, start=last + 1)
            )
        )
        last += len(tables)
    return _with(plan, tuple(pairings), last)


def _with(plan: SeatedTimetable, pairings: tuple[tuple[Pairing, ...], ...], last: int) -> SeatedTimetable:
    places = ({entrant: place for place, pairing in enumerate(done) for entrant in pairing.seats} for done in pairings)
    return replace(plan, pairings=pairings, places=tuple(places), last=last)
