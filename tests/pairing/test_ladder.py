"""Ladder: whom it chooses, when it stops, what it finds out."""

from collections.abc import Callable
from math import exp, sqrt
from random import Random

import pytest
from msgspec.structs import replace

from referee.pairing.base import Pairing, PlayedPairing
from referee.pairing.ladder import Ladder, Strength

from .tournaments import drawn, field, first_wins, played_out, started, won_by

FORM = Ladder()


def by_strength(strengths: list[float], source: Random) -> Callable[[Pairing], PlayedPairing]:
    """Return results by Bradley-Terry for two seats, and by Plackett-Luce for more."""

    def result(pairing: Pairing) -> PlayedPairing:
        seats, ranking = list(range(len(pairing.seats))), []
        while seats:
            weights = [exp(strengths[pairing.seats[seat]]) for seat in seats]
            chosen = source.choices(seats, weights)[0]
            seats.remove(chosen)
            ranking.append((chosen,))
        return PlayedPairing(pairing=pairing, ranking=tuple(ranking), scores=(0,) * len(ranking))

    return result


@pytest.mark.parametrize("seats", [2, 4])
def test_the_places_are_those_of_strength(seats: int) -> None:
    """Ten entrants of clearly different strength end up in their order."""
    strengths = [2.0 * entrant for entrant in range(10)]
    state, _ = played_out(FORM, started(FORM, field(10, seats), matches=500), by_strength(strengths, Random(1)))
    assert FORM.places(state) == tuple((entrant,) for entrant in range(9, -1, -1))


@pytest.mark.parametrize("matches", [1, 7, 50])
def test_it_stops_after_so_many_matches(matches: int) -> None:
    """Not one more, however many are due at once."""
    _, pairings = played_out(FORM, started(FORM, field(20), matches=matches, at_once=6))
    assert matches == len(pairings)
    assert list(range(1, matches + 1)) == [pairing.number for pairing in pairings]


def test_it_stops_when_the_ranking_is_certain() -> None:
    """The more certain it is to be, the longer it takes; what was to be nearly certain is then right."""
    counts, places = [], []
    for certainty in (0.6, 0.95):
        strengths = by_strength([3.0 * entrant for entrant in range(5)], Random(2))
        start = started(FORM, field(5), matches=5000, certainty=certainty)
        state, pairings = played_out(FORM, start, strengths)
        counts.append(len(pairings))
        places.append(FORM.places(state))
    assert counts[0] < counts[1] < 5000
    assert places[1] == ((4,), (3,), (2,), (1,), (0,))


@pytest.mark.parametrize(("at_once", "count", "expected"), [(1, 10, 1), (4, 20, 4), (100, 10, 2), (4, 3, 1)])
def test_as_many_are_due_at_once_as_is_set_and_possible(at_once: int, count: int, expected: int) -> None:
    """Half of the entrants stay free, so that there is a choice for the next match."""
    assert expected == len(FORM.due(started(FORM, field(count), at_once=at_once)))


def test_it_asks_the_least_known_against_the_nearest() -> None:
    """A newcomer among the well known plays first, against one of its own strength that it has not met."""
    state = FORM.withdraw(started(FORM, field(6), at_once=1), 5)
    known = [Strength(mean, 1.0) for mean in (10.0, 20.0, 24.0, 26.5, 40.0)]
    newcomer = Strength(25.0, 60.0)
    state = replace(state, ratings=(*known[:4], newcomer, known[4]), due=())
    met = [list(row) for row in state.met]
    met[4][2] = met[2][4] = 3
    state = FORM.withdraw(replace(state, met=tuple(tuple(row) for row in met), withdrawn=frozenset()), 5)
    (pairing,) = FORM.due(state)
    assert {3, 4} == set(pairing.seats)


def test_seats_and_meetings_are_spread() -> None:
    """Among equals, everybody meets everybody, in either seat as often but for one or two."""
    state, _ = played_out(FORM, started(FORM, field(8), matches=140), drawn)
    meetings = [state.met[number][other] for number in range(8) for other in range(number)]
    assert max(meetings) - min(meetings) <= 3
    assert all(abs(first - second) <= 2 for first, second in state.used)


def test_a_rating_moves_as_the_source_says() -> None:
    """One win of equals, by hand: c^2 is 2 (25/3)^2 + 2 (25/6)^2 and p is 1/2, so means move by (25/3)^2 / 2c."""
    state = started(FORM, field(2), matches=5)
    (pairing,) = FORM.due(state)
    state = FORM.record(state, won_by(pairing, 0))
    means, deviation = (27.635231383, 22.364768617), 8.065506316
    assert means == tuple(rating.mean for rating in state.ratings)
    assert [deviation, deviation] == [round(sqrt(rating.variance), 9) for rating in state.ratings]


def test_nothing_is_learnt_from_a_match_without_credit() -> None:
    """If nobody is ranked, no rating moves, but the match counts."""
    state = started(FORM, field(2), matches=5)
    (pairing,) = FORM.due(state)
    after = FORM.record(state, PlayedPairing(pairing=pairing, ranking=(), scores=(0, 0), fouls=(0, 1)))
    assert state.ratings == after.ratings
    assert after.done == 1


def test_its_state_does_not_grow() -> None:
    """After a thousand matches it is as large as after a hundred, but for the digits."""
    sizes = []
    for matches in (100, 1000):
        state, _ = played_out(FORM, started(FORM, field(12), matches=matches), first_wins)
        sizes.append(len(repr(state)))
    assert sizes[1] < 1.1 * sizes[0]
