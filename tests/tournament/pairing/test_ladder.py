"""Ladder: which opponents it chooses, when it stops, and how well it ranks."""

from collections.abc import Callable
from math import exp, log, sqrt
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.tournament.pairing.base import BadFormat, BadRuling, Pairing, PlayedPairing
from referee.tournament.pairing.ladder import Ladder, Skill, State

from .tournaments import drawn, field, first_wins, played_out, started, won_by

FORM = Ladder()


def by_strength(strengths: list[float], source: Random) -> Callable[[Pairing], PlayedPairing]:
    """Return random results by Bradley-Terry for two seats, and by Plackett-Luce for more."""

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
    """Ten entrants of clearly different strength end in the right order."""
    strengths = [2.0 * entrant for entrant in range(10)]
    state, _ = played_out(FORM, started(FORM, field(10, seats), matches=500), by_strength(strengths, Random(1)))
    assert FORM.places(state) == tuple((entrant,) for entrant in range(9, -1, -1))


def test_who_plays_on_before_its_result_counts_has_never_left() -> None:
    """An early result waits for those before it, and the withdrawal waits with it."""
    state = started(FORM, field(8), matches=50, at_once=3)
    first, second, *_ = FORM.due(state)
    early = FORM.record(state, first_wins(second))
    gone = second.seats[0]
    left = FORM.withdraw(early, gone)
    assert left != early
    assert FORM.reinstate(left, gone) == early
    assert gone in FORM.record(left, first_wins(first)).withdrawn
    assert FORM.record(FORM.reinstate(left, gone), first_wins(first)) == FORM.record(early, first_wins(first))


@pytest.mark.parametrize("matches", [1, 7, 50])
def test_it_stops_after_so_many_matches(matches: int) -> None:
    """Not one more is played, however many are due at once."""
    _, pairings = played_out(FORM, started(FORM, field(20), matches=matches, at_once=6))
    assert matches == len(pairings)
    assert list(range(1, matches + 1)) == [pairing.number for pairing in pairings]


def test_it_stops_when_the_ranking_is_certain() -> None:
    """More certainty takes more matches, and a ranking that is nearly certain is right."""
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
    """Half of the entrants stay free, so there is a choice for the next match."""
    assert expected == len(FORM.due(started(FORM, field(count), at_once=at_once)))


def test_it_asks_the_least_known_against_the_nearest() -> None:
    """A newcomer plays first, against an opponent of its own strength that it has not met."""
    state = FORM.withdraw(started(FORM, field(6), at_once=1), 5)
    known = [Skill(mean, 1.0) for mean in (10.0, 20.0, 24.0, 26.5, 40.0)]
    newcomer = Skill(25.0, 60.0)
    state = replace(state, ratings=(*known[:4], newcomer, known[4]), due=())
    met = [list(row) for row in state.met]
    met[4][2] = met[2][4] = 3
    state = FORM.withdraw(replace(state, met=tuple(tuple(row) for row in met), withdrawn=frozenset()), 5)
    (pairing,) = FORM.due(state)
    assert {3, 4} == set(pairing.seats)


def test_seats_and_meetings_are_spread() -> None:
    """Among equal entrants, all meet each other, about equally often in either seat."""
    state, _ = played_out(FORM, started(FORM, field(8), matches=140), drawn)
    meetings = [state.met[number][other] for number in range(8) for other in range(number)]
    assert max(meetings) - min(meetings) <= 3
    assert all(abs(first - second) <= 2 for first, second in state.used)


def test_a_rating_moves_as_the_source_says() -> None:
    """One win between equals, by hand: c^2 is 2 (25/3)^2 + 2 (25/6)^2 and p is 1/2, so means move by (25/3)^2 / 2c."""
    state = started(FORM, field(2), matches=5)
    (pairing,) = FORM.due(state)
    state = FORM.record(state, won_by(pairing, 0))
    means, deviation = (27.635231383, 22.364768617), 8.065506316
    assert means == tuple(rating.mean for rating in state.ratings)
    assert [deviation, deviation] == [round(sqrt(rating.variance), 9) for rating in state.ratings]


def test_ratings_are_shown_on_the_scale_of_elo() -> None:
    """All begin at 1500. A difference of 400 points means ten wins to one, as `_updated` expects."""
    state = started(FORM, field(2), matches=5)
    assert FORM.placing_ratings(state) == (1500.0, 1500.0)
    (pairing,) = FORM.due(state)
    first, second = FORM.placing_ratings(FORM.record(state, won_by(pairing, 0)))
    assert 1500 < first == 3000 - second < 1600
    tenfold = log(10) * sqrt(2) * 25 / 6  # the source's beta is 25/6, and both strengths are known otherwise
    known = replace(state, ratings=(Skill(25.0 + tenfold, 0.0), Skill(25.0, 0.0)))
    assert FORM.placing_ratings(known) == (1900.0, 1500.0)


def test_nothing_is_learnt_from_a_match_without_credit() -> None:
    """If nobody is ranked, no rating moves, but the match counts."""
    state = started(FORM, field(2), matches=5)
    (pairing,) = FORM.due(state)
    after = FORM.record(state, PlayedPairing(pairing=pairing, ranking=(), scores=(0, 0), fouls=(0, 1)))
    assert state.ratings == after.ratings
    assert after.done == 1


def play_ladder(start: State, tables: int, seed: int) -> tuple[dict[int, tuple[int, ...]], Any]:
    """Play at some tables; any match may end next.

    Args:
        start: before the first match.
        tables: number of due matches that are played at the same time.
        seed: decides which one ends.

    Returns:
        Who met in which pairing, and the places in the end.
    """
    source, state, met = Random(seed), start, {}
    while due := FORM.due(state):
        pairing = source.choice(due[:tables])
        met[pairing.number] = pairing.seats
        strong_first = sorted(range(len(pairing.seats)), key=lambda seat: (pairing.seats[seat] * pairing.number) % 7)
        ranking = tuple((seat,) for seat in strong_first)
        state = FORM.record(state, PlayedPairing(pairing=pairing, ranking=ranking, scores=(0,) * len(ranking)))
    return met, FORM.places(state)


@settings(max_examples=25)
@given(
    count=st.integers(4, 30), seats=st.sampled_from([2, 3, 4]), at_once=st.integers(1, 6), seed=st.integers(0, 2**32)
)
@pytest.mark.parametrize("options", [{"matches": 40}, {"matches": 60, "certainty": 0.6}])
def test_the_course_does_not_depend_on_the_tables(
    *, count: int, seats: int, at_once: int, seed: int, options: dict[str, Any]
) -> None:
    """The number of tables and the order of the ends change neither pairings nor places."""
    start = started(FORM, field(count, seats), at_once=at_once, **options)
    alone = play_ladder(start, 1, seed)
    for tables in (2, 3, 6):
        assert play_ladder(start, tables, seed) == alone


def test_an_early_result_waits_for_those_before_it() -> None:
    """It moves no rating, and its entrants play no other match, until the first match is over."""
    state = started(FORM, field(12), at_once=3)
    first, second, third = FORM.due(state)
    waiting = FORM.record(FORM.record(state, first_wins(third)), first_wins(second))
    assert FORM.due(waiting) == (first,)
    assert waiting.ratings == state.ratings
    after = FORM.record(waiting, first_wins(first))
    assert (after.done, [pairing.number for pairing in FORM.due(after)]) == (3, [4, 5, 6])


def test_who_withdraws_holds_up_no_result() -> None:
    """Results that waited for a cancelled match count at once."""
    state = started(FORM, field(14), at_once=3)
    first, second, *_ = FORM.due(state)
    state = FORM.withdraw(FORM.record(state, first_wins(second)), first.seats[0])
    assert state.done == 1
    assert state.early == ()
    assert [pairing.number for pairing in FORM.due(state)] == [3, 4, 5]


def test_a_program_that_never_starts_comes_behind_all_that_have_played() -> None:
    """Two entrants that fouled in the same match have not drawn, and an entrant with a point is above both."""
    state = started(FORM, field(4), at_once=1, matches=60)

    def result(pairing: Pairing) -> PlayedPairing:
        fouls = tuple(seat for seat, entrant in enumerate(pairing.seats) if entrant in {0, 1})
        order = sorted(range(2), key=lambda seat: (seat in fouls, -pairing.seats[seat]))
        ranking = ((0, 1),) if len(fouls) == 2 else tuple((seat,) for seat in order)
        return PlayedPairing(pairing=pairing, ranking=ranking, scores=(0, 0), fouls=fouls)

    while set(FORM.due(state)[0].seats) != {0, 1}:
        state = FORM.record(state, result(FORM.due(state)[0]))
    after = FORM.record(state, result(FORM.due(state)[0]))
    assert after.ratings == state.ratings
    low = replace(
        after,
        ratings=(
            Skill(25.0, 9.0),
            Skill(24.0, 9.0),
            Skill(20.0, 9.0),
            Skill(30.0, 9.0),
        ),
    )
    assert FORM.places(low) == ((3,), (2,), (0,), (1,))


def test_an_endless_ladder_is_never_over_and_does_not_grow() -> None:
    """Its length is unknown. Its state is as large after thousands of matches as after a hundred."""
    of = field(12)
    assert FORM.extent(FORM.parse_options({"matches": "endless"}), of) is None
    state, sizes = started(FORM, of, matches="endless"), []
    for number in range(3000):
        assert not FORM.is_over(state)
        state = FORM.record(state, first_wins(FORM.due(state)[number % 2]))
        if number in {101, 2999}:
            sizes.append(len(repr(state)))
    assert sizes[1] < 1.2 * sizes[0]
    for entrant in range(11):
        state = FORM.withdraw(state, entrant)
    assert FORM.is_over(state)


def test_nobody_joins_a_ladder_that_has_no_match_left() -> None:
    """An entrant that comes when the last match is drawn is refused; before that, it plays."""
    state = started(FORM, field(4), at_once=1, matches=2)
    assert FORM.due(FORM.join(state, field(5))) == FORM.due(state)
    state = FORM.record(state, first_wins(FORM.due(state)[0]))
    with pytest.raises(BadRuling, match="all 2 matches of the ladder are played, or begun already"):
        FORM.join(state, field(5))
    endless = started(FORM, field(4), at_once=1, matches="endless")
    assert len(FORM.join(endless, field(5)).ratings) == 5


def test_a_number_of_matches_is_one_or_endless() -> None:
    """Another word is refused."""
    with pytest.raises(BadFormat, match="endles"):
        FORM.parse_options({"matches": "endles"})


def test_a_result_that_is_taken_back_before_it_counts_never_does() -> None:
    """The result waited for an earlier one; when it is taken back, the match counts as void from the beginning."""
    state = started(FORM, field(8), matches=20)
    first, second = FORM.due(state)[:2]
    void = PlayedPairing(pairing=second, ranking=(), scores=())
    taken_back = FORM.revise(FORM.record(state, first_wins(second)), first_wins(second), None)
    found = FORM.record(taken_back, first_wins(first))
    expected = FORM.record(FORM.record(state, void), first_wins(first))
    assert found.ratings == expected.ratings
    assert found.ratings != FORM.record(FORM.record(state, first_wins(second)), first_wins(first)).ratings
    assert FORM.due(found) == FORM.due(expected)
