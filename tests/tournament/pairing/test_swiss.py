"""Swiss: repeated pairings only if there is no other way, byes, score groups, seats."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.testing import check_pairing, random_result, with_rounds
from referee.tournament.pairing.base import BadFormat, BadPairing, Pairing, RoundLine, bye
from referee.tournament.pairing.swiss import State, Swiss

from .tournaments import SHUFFLE, drawn, falling, field, first_wins, played_out, started

FORM = Swiss()


def rounds_of(state: State, source: Random) -> Iterator[tuple[State, list[Pairing]]]:
    """Yield each round's state before its first result, and its pairings; results are random."""
    while pairings := list(FORM.due(state)):
        yield state, pairings
        for pairing in pairings:
            state = with_rounds(FORM, FORM.record(state, random_result(pairing, source)))


def points_of(state: State, entrant: int) -> int:
    """Return an entrant's points, in halves."""
    return sum(line.points for line in state.lines[entrant])


def third_seats(lines: Sequence[Sequence[RoundLine]], pairings: Sequence[Pairing]) -> set[int]:
    """Return the entrants that have the same seat three times in a row, or one seat three times more than the other."""
    found = set()
    for pairing in pairings:
        for seat, entrant in enumerate(pairing.seats if not pairing.is_bye else ()):
            seats = [line.group.index(entrant) for line in lines[entrant] if not line.unplayed] + [seat]
            if len(seats) > 2 and (len(set(seats[-3:])) == 1 or abs(seats.count(0) - seats.count(1)) > 2):
                found.add(entrant)
    return found


def every_pairing(entrants: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to pair off entrants; in an odd field, one has a bye."""
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


@settings(max_examples=40)
@given(count=st.integers(2, 8), rounds=st.integers(1, 8), seed=st.integers(0, 2**32))
def test_nobody_meets_twice_while_there_is_another_way(count: int, rounds: int, seed: int) -> None:
    """Of all pairings that give the bye to an entrant with the fewest, none has fewer repeated meetings."""
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
def test_in_usual_tournaments_nobody_meets_twice(count: int, rounds: int) -> None:
    """With clearly fewer rounds than entrants every pairing is new, and nobody has two byes."""
    played = check_pairing(FORM, Random(count), field=field(count), options={"rounds": rounds}, withdrawals=0)
    met = Counter(frozenset(result.pairing.seats) for result in played)
    assert set(met.values()) == {1}


@pytest.mark.parametrize("count", [10, 15, 24, 33])
def test_nobody_has_the_same_seat_three_times_running(count: int) -> None:
    """The difference between the seats stays below three, too. FIDE allows exceptions for leaders in the last round."""
    state = started(FORM, field(count, ratings=falling(count)), rounds=7)
    source = Random(count)
    for before, pairings in rounds_of(state, source):
        if before.round < 7:
            assert third_seats(before.lines, pairings) == set()


def test_the_first_rounds_are_as_the_handbook_has_them() -> None:
    """The upper half meets the lower half in alternating seats; then equal scores meet, and all change seats."""
    state = started(FORM, field(8, ratings=falling(8)), rounds=3)
    first = ((4, 0), (1, 5), (6, 2), (3, 7))
    assert first == tuple(pairing.seats for pairing in FORM.due(state))
    for pairing in FORM.due(state):
        state = with_rounds(FORM, FORM.record(state, first_wins(pairing)))
    second = {(0, 3), (2, 1), (7, 4), (5, 6)}
    assert second == {pairing.seats for pairing in FORM.due(state)}


def test_who_begins_is_drawn() -> None:
    """The lot decides the best entrant's seat in the first round; all other seats follow from it."""
    options, entrants = FORM.parse_options({}), field(8, ratings=falling(8))
    states = [with_rounds(FORM, FORM.new(options, entrants, SHUFFLE.later(deal))) for deal in range(1, 9)]
    assert {FORM.due(state)[0].seats for state in states} == {(0, 4), (4, 0)}


@settings(max_examples=20)
@given(count=st.integers(16, 40), seed=st.integers(0, 2**32))
def test_equal_scores_meet(count: int, seed: int) -> None:
    """In a second round no pairing is more than one score group apart."""
    source = Random(seed)
    for state, pairings in rounds_of(started(FORM, field(count), rounds=2), source):
        points = [points_of(state, entrant) for entrant in range(count)]
        scores = sorted(set(points))
        for pairing in pairings:
            levels = [scores.index(points[entrant]) for entrant in pairing.seats]
            assert max(levels) - min(levels) <= 1


def test_the_bye_goes_to_the_lowest_who_has_had_none() -> None:
    """The last seed has the first bye; the next one goes to the lowest of the others, by score."""
    state = started(FORM, field(5, ratings=falling(5)), rounds=3)
    byes = []
    while due := FORM.due(state):
        byes += [pairing.seats[0] for pairing in due if pairing.is_bye]
        for pairing in due:
            state = with_rounds(FORM, FORM.record(state, first_wins(pairing)))
    assert byes == [4, 3, 2]


def test_without_ratings_the_first_round_is_by_lot() -> None:
    """Another shuffle gives other opponents."""
    options, entrants = FORM.parse_options({}), field(16)
    first, second = (with_rounds(FORM, FORM.new(options, entrants, SHUFFLE.later(deal))) for deal in (1, 2))
    assert FORM.due(first) != FORM.due(second)


def test_who_waits_for_somebody_who_withdrew_has_a_walkover() -> None:
    """Its opponent has a bye in place of the match, labelled `walkover`, and points for it."""
    state = started(FORM, field(8), rounds=3)
    walkover_of = gone, other = FORM.due(state)[0].seats
    state = FORM.withdraw(state, gone)
    walkover = FORM.due(state)[-1]
    assert ((other,), "walkover", True) == (walkover.seats, walkover.table, walkover.is_bye)
    state = FORM.record(state, first_wins(walkover))
    assert state.lines[other] == (RoundLine(1, walkover_of, 2, "+"),)
    assert state.lines[gone] == (RoundLine(1, walkover_of, 0, "-"),)


@pytest.mark.parametrize(("count", "rounds"), [(2, 1), (3, 2), (16, 4), (17, 5), (200, 8)])
def test_rounds_that_nobody_set_single_out_a_winner(count: int, rounds: int) -> None:
    """By default there are as many rounds as a knockout has."""
    assert rounds == started(FORM, field(count)).rounds


def test_too_large_a_field_of_two_seats_is_refused() -> None:
    """An error at once is better than a round that takes minutes to pair."""
    with pytest.raises(BadFormat, match="1001 entrants are too many"):
        started(FORM, field(1001))


@pytest.mark.parametrize(("count", "seats"), [(16, 4), (23, 3), (60, 4), (48, 12)])
def test_tables_of_many_seats_meet_anew_and_sit_evenly(count: int, seats: int) -> None:
    """Few meet again, all have each seat about equally often, and winners come together."""
    _, pairings = played_out(FORM, started(FORM, field(count, seats, falling(count)), rounds=5))
    tables = [pairing.seats for pairing in pairings if not pairing.is_bye]
    met = Counter(
        frozenset((entrant, other)) for table in tables for entrant in table for other in table if entrant < other
    )
    assert sum(times - 1 for times in met.values()) / len(met) < (0.5 if seats < 12 else 1.2)
    sat = Counter((entrant, seat) for table in tables for seat, entrant in enumerate(table))
    assert max(sat.values()) <= (3 if seats < 5 else 2)
    last = [pairing.seats for pairing in pairings if pairing.round == 5]
    assert sum(last[0]) < sum(last[count // seats - 1])


def test_who_withdraws_after_its_opponent_has_lost_the_same_match() -> None:
    """Both entries of the crosstable agree, and neither entrant has a point."""
    state = started(FORM, field(8), rounds=3)
    table = FORM.due(state)[0].seats
    for entrant in table:
        state = FORM.withdraw(state, entrant)
    assert [state.lines[entrant] for entrant in table] == [(RoundLine(1, table, 0, "-"),)] * 2


def test_who_sits_out_is_not_paired() -> None:
    """After a withdrawal between two rounds, the others are paired; in an odd field, one of them has a bye."""
    state = FORM.new(FORM.parse_options({"rounds": 2}), field(6), SHUFFLE)
    state = with_rounds(FORM, FORM.withdraw(state, 3))
    assert sorted(entrant for pairing in FORM.due(state) for entrant in pairing.seats) == [0, 1, 2, 4, 5]
    assert [len(pairing.seats) for pairing in FORM.due(state)] == [2, 2, 1]


def test_tables_of_another_round_are_refused() -> None:
    """A pairing that comes too late, after a withdrawal, or with too many entrants is refused.

    Larger groups are, too.
    """
    state = FORM.new(FORM.parse_options({"rounds": 2}), field(4, ratings=falling(4)), SHUFFLE)
    tables = ((2, 0), (1, 3))
    assert [pairing.seats for pairing in FORM.due(FORM.take_round(state, tables))] == [*tables]
    with pytest.raises(BadPairing, match="round 1: not everybody"):
        FORM.take_round(FORM.withdraw(state, 3), tables)
    with pytest.raises(BadPairing, match="no round is to be paired"):
        FORM.take_round(FORM.take_round(state, tables), tables)
    with pytest.raises(BadPairing, match="no round is to be paired"):
        FORM.take_round(started(FORM, field(6, 3)), ())


def test_draws_keep_everybody_in_one_score_group() -> None:
    """If all matches are draws, all have the same points, and opponents are still new."""
    state, pairings = played_out(FORM, started(FORM, field(10), rounds=5), drawn)
    assert {points_of(state, entrant) for entrant in range(10)} == {5}
    assert len(pairings) == len({frozenset(pairing.seats) for pairing in pairings})


@pytest.mark.parametrize("absent", [(1,), (0,), (1, 2), (4,), (6, 7), (0, 3, 5)])
def test_starting_numbers_are_given_to_those_who_are_there_in_round_1(absent: tuple[int, ...]) -> None:
    """Opponents and colours are those of a tournament without the absent entrants, also in round 2."""
    count = 9
    staying = [entrant for entrant in range(count) if entrant not in absent]
    state = FORM.new(FORM.parse_options({"rounds": 3}), field(count, 2, falling(count)), SHUFFLE)
    for entrant in absent:
        state = FORM.withdraw(state, entrant)
    alone = FORM.new(FORM.parse_options({"rounds": 3}), field(len(staying), 2, falling(len(staying))), SHUFFLE)
    for _ in range(3):
        state, alone = with_rounds(FORM, state), with_rounds(FORM, alone)
        expected = [tuple(staying[entrant] for entrant in pairing.seats) for pairing in FORM.due(alone)]
        assert expected == [pairing.seats for pairing in FORM.due(state)]
        for pairing in FORM.due(state):
            state = FORM.record(state, first_wins(pairing))
        for pairing in FORM.due(alone):
            alone = FORM.record(alone, first_wins(pairing))


def test_who_is_back_before_round_1_has_its_old_number() -> None:
    """A withdrawal that is taken back in time changes nothing."""
    state = FORM.new(FORM.parse_options({}), field(8, 2, falling(8)), SHUFFLE)
    back = FORM.reinstate(FORM.withdraw(state, 1), 1)
    assert FORM.to_pair(back) == FORM.to_pair(state)


def test_who_withdraws_with_late_byes_that_were_not_given_gets_none() -> None:
    """It gets nothing for the rounds that it had missed, and no group has a walkover for them."""
    state = started(FORM, field(6), rounds=3)
    for pairing in FORM.due(state):
        state = FORM.record(state, first_wins(pairing))
    before = with_rounds(FORM, state)
    joined = FORM.join(before, field(7))
    assert [pairing.round for pairing in FORM.due(joined) if pairing.is_bye] == [1, 2]
    state = FORM.withdraw(joined, 6)
    assert FORM.due(state) == FORM.due(before)
    assert state.lines[6] == ()
    part = FORM.withdraw(FORM.record(joined, bye(FORM.due(joined)[-1])), 6)
    assert part.lines[6] == (RoundLine(2, (6,), 1, "H"),)
    assert FORM.due(part) == FORM.due(before)


def test_a_walkover_is_one_though_the_other_is_back_before_it_is_given() -> None:
    """The withdrawal says which group of the round it was."""
    state = started(FORM, field(8), rounds=3)
    table = gone, other = FORM.due(state)[0].seats
    state = FORM.reinstate(FORM.withdraw(state, gone), gone)
    (walkover,) = (pairing for pairing in FORM.due(state) if pairing.is_bye)
    assert FORM.record(state, bye(walkover)).lines[other] == (RoundLine(1, table, 2, "+"),)
