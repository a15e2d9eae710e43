"""Swiss: no pairing twice while there is another way, byes, score groups, seats."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.pairing.base import BadFormat, Pairing, PlayedPairing
from referee.pairing.swiss import State, Swiss
from referee.testing import check_pairing, random_result

from .tournaments import SHUFFLE, drawn, falling, field, first_wins, played_out, started

FORM = Swiss()


def rounds_of(state: State, source: Random) -> Iterator[tuple[State, list[Pairing]]]:
    """Yield each round's state before its first result, and its pairings; results come at random."""
    while pairings := list(FORM.due(state)):
        yield state, pairings
        for pairing in pairings:
            state = FORM.record(state, random_result(pairing, source))


def every_pairing(entrants: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to pair off entrants, one of an odd number having a bye."""
    if not entrants:
        yield []
        return
    first, *others = entrants
    if len(entrants) % 2:
        for alone in entrants:
            rest = tuple(entrant for entrant in entrants if entrant != alone)
            yield from ([(alone,), *pairs] for pairs in every_pairing(rest))
        return
    for other in others:
        rest = tuple(item for item in others if item != other)
        yield from ([(first, other), *pairs] for pairs in every_pairing(rest))


@settings(max_examples=40, deadline=None)
@given(count=st.integers(2, 8), rounds=st.integers(1, 8), seed=st.integers(0, 2**32))
def test_nobody_meets_twice_while_there_is_another_way(count: int, rounds: int, seed: int) -> None:
    """Of all pairings that give the bye to one with the fewest, none has fewer repeated meetings."""
    met, byes = Counter[frozenset[int]](), Counter[int]()
    for _, pairings in rounds_of(started(FORM, field(count), rounds=rounds), Random(seed)):
        fewest = min(byes[entrant] for entrant in range(count))
        possible = [
            sum(met[frozenset(table)] for table in way if len(table) == 2)
            for way in every_pairing(tuple(range(count)))
            if all(byes[table[0]] == fewest for table in way if len(table) == 1)
        ]
        tables = [pairing.seats for pairing in pairings]
        assert all(byes[table[0]] == fewest for table in tables if len(table) == 1)
        assert min(possible) == sum(met[frozenset(table)] for table in tables if len(table) == 2)
        met.update(frozenset(table) for table in tables if len(table) == 2)
        byes.update(table[0] for table in tables if len(table) == 1)


@pytest.mark.parametrize(("count", "rounds"), [(8, 5), (9, 5), (30, 11), (31, 15), (50, 8)])
def test_in_usual_tournaments_nobody_meets_twice_or_has_two_byes(count: int, rounds: int) -> None:
    """With clearly fewer rounds than entrants every pairing is new, and seats differ by two at most."""
    played = check_pairing(FORM, Random(count), field=field(count), options={"rounds": rounds}, withdrawals=0)
    met = Counter(frozenset(result.pairing.seats) for result in played)
    assert set(met.values()) == {1}
    for entrant in range(count):
        seats = [result.pairing.seats.index(entrant) for result in played if entrant in result.pairing.seats[:2]]
        own = [seat for seat, result in zip(seats, _of(entrant, played), strict=True) if not result.pairing.is_bye]
        assert abs(own.count(0) - own.count(1)) <= 2


def _of(entrant: int, played: list[PlayedPairing]) -> list[PlayedPairing]:
    return [result for result in played if entrant in result.pairing.seats]


def test_the_first_rounds_are_as_the_handbook_has_them() -> None:
    """Upper half against lower half in alternating seats; then equal scores, paired so that everybody changes seats."""
    state = started(FORM, field(8, ratings=falling(8)), rounds=3)
    first = ((0, 4), (5, 1), (2, 6), (7, 3))
    assert first == tuple(pairing.seats for pairing in FORM.due(state))
    for pairing in FORM.due(state):
        state = FORM.record(state, first_wins(pairing))
    second = {(3, 0), (1, 2), (4, 7), (6, 5)}
    assert second == {pairing.seats for pairing in FORM.due(state)}


@settings(max_examples=20, deadline=None)
@given(count=st.integers(16, 40), seed=st.integers(0, 2**32))
def test_equal_scores_meet(count: int, seed: int) -> None:
    """In a second round nobody is paired more than one score group away."""
    source = Random(seed)
    for state, pairings in rounds_of(started(FORM, field(count), rounds=2), source):
        scores = sorted({card.points for card in state.cards})
        for pairing in pairings:
            levels = [scores.index(state.cards[entrant].points) for entrant in pairing.seats]
            assert max(levels) - min(levels) <= 1


def test_the_bye_goes_to_the_lowest_who_has_had_none() -> None:
    """The last seed has the first bye; the next goes to the lowest of the others, counted by score."""
    state = started(FORM, field(5, ratings=falling(5)), rounds=3)
    byes = []
    while due := FORM.due(state):
        byes += [pairing.seats[0] for pairing in due if pairing.is_bye]
        for pairing in due:
            state = FORM.record(state, first_wins(pairing))
    assert byes == [4, 3, 2]


def test_without_ratings_the_first_round_is_by_lot() -> None:
    """Another shuffle gives other opponents."""
    options, entrants = FORM.parse_options({}), field(16)
    first, second = (FORM.new(options, entrants, SHUFFLE.later(deal)) for deal in (1, 2))
    assert FORM.due(first) != FORM.due(second)


def test_who_waits_for_somebody_who_withdrew_has_a_walkover() -> None:
    """The other one has a bye in place of the match, named for what it is, and points for it."""
    state = started(FORM, field(8), rounds=3)
    gone, other = FORM.due(state)[0].seats
    state = FORM.withdraw(state, gone)
    walkover = FORM.due(state)[-1]
    assert ((other,), "walkover", True) == (walkover.seats, walkover.table, walkover.is_bye)
    state = FORM.record(state, first_wins(walkover))
    assert state.cards[other].points == 2
    assert state.cards[other].byes == 0


@pytest.mark.parametrize(("count", "rounds"), [(2, 1), (3, 2), (16, 4), (17, 5), (200, 8)])
def test_rounds_that_nobody_set_single_out_a_winner(count: int, rounds: int) -> None:
    """As many rounds as a knockout has."""
    assert rounds == started(FORM, field(count)).rounds


def test_too_large_a_field_of_two_seats_is_refused() -> None:
    """Rather an error at once than a round that takes minutes to pair."""
    with pytest.raises(BadFormat, match="1001 entrants are too many"):
        started(FORM, field(1001))


@pytest.mark.parametrize(("count", "seats"), [(16, 4), (23, 3), (60, 4), (48, 12)])
def test_tables_of_many_seats_meet_anew_and_sit_evenly(count: int, seats: int) -> None:
    """Few meet again, everybody has each seat about as often, and winners come together."""
    state, pairings = played_out(FORM, started(FORM, field(count, seats, falling(count)), rounds=5))
    tables = [pairing.seats for pairing in pairings if not pairing.is_bye]
    met = Counter(
        frozenset((entrant, other)) for table in tables for entrant in table for other in table if entrant < other
    )
    assert sum(times - 1 for times in met.values()) / len(met) < (0.5 if seats < 12 else 1.2)
    assert max(times for card in state.cards for times in card.used) <= (3 if seats < 5 else 2)
    last = [pairing.seats for pairing in pairings if pairing.round == 5]
    assert sum(last[0]) < sum(last[count // seats - 1])


def test_draws_keep_everybody_in_one_score_group() -> None:
    """With nothing but draws, all have the same points, and opponents are still new."""
    state, pairings = played_out(FORM, started(FORM, field(10), rounds=5), drawn)
    assert {card.points for card in state.cards} == {5}
    assert len(pairings) == len({frozenset(pairing.seats) for pairing in pairings})
