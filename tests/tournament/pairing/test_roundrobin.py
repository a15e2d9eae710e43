"""Round robin: the published tables, balance, withdrawals, many seats."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.tournament.pairing.base import Pairing
from referee.tournament.pairing.round_robin import Berger, RoundRobin

from .tournaments import field, first_wins, played_out, started

PUBLISHED = {
    4: "1-4 2-3, 4-3 1-2, 2-4 3-1",
    6: "1-6 2-5 3-4, 6-4 5-3 1-2, 2-6 3-1 4-5, 6-5 1-4 2-3, 3-6 4-2 5-1",
    8: "1-8 2-7 3-6 4-5, 8-5 6-4 7-3 1-2, 2-8 3-1 4-7 5-6, 8-6 7-5 1-4 2-3, 3-8 4-2 5-1 6-7, 8-7 1-6 2-5 3-4, "
    "4-8 5-3 6-2 7-1",
    10: "1-10 2-9 3-8 4-7 5-6, 10-6 7-5 8-4 9-3 1-2, 2-10 3-1 4-9 5-8 6-7, 10-7 8-6 9-5 1-4 2-3, "
    "3-10 4-2 5-1 6-9 7-8, 10-8 9-7 1-6 2-5 3-4, 4-10 5-3 6-2 7-1 8-9, 10-9 1-8 2-7 3-6 4-5, 5-10 6-4 7-3 8-2 9-1",
}
"""FIDE Handbook C.05, annex 1: rounds of pairings, the first number with White."""


def berger(count: int) -> Berger:
    """Return the timetable in which entrant 0 has number 1, and so on."""
    return Berger(tuple(range(1, count + 1)), tuple(range(count)), count - 1 + count % 2)


@pytest.mark.parametrize("count", sorted(PUBLISHED))
def test_the_published_tables_come_out(count: int) -> None:
    """Rounds, opponents and colours are those of FIDE's tables, board by board."""
    table = berger(count)
    rounds = []
    for index in range(count - 1):
        pairings = {table.pairing(entrant, index) for entrant in range(count)}
        boards = [pairing.seats for pairing in sorted(pairings, key=lambda pairing: pairing.number)]
        rounds.append(" ".join(f"{white + 1}-{black + 1}" for white, black in boards))
    assert PUBLISHED[count] == ", ".join(rounds)


@pytest.mark.parametrize("count", sorted(PUBLISHED))
def test_in_an_odd_field_whoever_meets_the_last_number_has_the_bye(count: int) -> None:
    """By FIDE's rules, the table is that of one more player."""
    full, odd = berger(count), berger(count - 1)
    for index in range(count - 1):
        for entrant in range(count - 1):
            expected = tuple(seat for seat in full.pairing(entrant, index).seats if seat != count - 1)
            assert expected == odd.pairing(entrant, index).seats


@settings(max_examples=30)
@given(count=st.integers(2, 41), cycles=st.integers(1, 3))
def test_everybody_meets_everybody_as_often_in_balanced_seats(count: int, cycles: int) -> None:
    """Meetings and byes are equal, seats differ by one at most, and an even number of cycles makes them equal."""
    form = RoundRobin()
    _, pairings = played_out(form, started(form, field(count), cycles=cycles))
    met = Counter(tuple(sorted(pairing.seats)) for pairing in pairings if not pairing.is_bye)
    assert dict.fromkeys(combinations(range(count), 2), cycles) == met
    byes = Counter(pairing.seats[0] for pairing in pairings if pairing.is_bye)
    assert (dict.fromkeys(range(count), cycles) if count % 2 else {}) == byes
    lean = Counter[int]()
    for pairing in pairings:
        if not pairing.is_bye:
            lean.update({pairing.seats[0]: 1})
            lean.subtract({pairing.seats[1]: 1})
    most = 0 if cycles % 2 == 0 or count % 2 else 1
    assert {abs(lean[entrant]) for entrant in range(count)} == {most}


def test_the_last_round_of_a_short_one_can_be_set() -> None:
    """With `rounds` set, exactly that number is played, even across cycles."""
    form = RoundRobin()
    for rounds, options in ((3, {}), (9, {"cycles": 2})):
        _, pairings = played_out(form, started(form, field(6), rounds=rounds, **options))
        assert rounds == max(pairing.round for pairing in pairings)


def test_a_slow_match_holds_up_only_those_who_wait_for_its_players() -> None:
    """An entrant that has played goes on before the round is over; in the end all wait for the slow ones."""
    form = RoundRobin()
    state = started(form, field(6))
    slow = form.due(state)[0]
    rounds: set[int] = set()
    while others := [pairing for pairing in form.due(state) if pairing != slow]:
        rounds.update(pairing.round for pairing in others)
        state = form.record(state, first_wins(others[0]))
    assert form.due(state) == (slow,)
    assert rounds == {1, 2}


def test_who_was_to_meet_somebody_who_withdrew_has_a_walkover() -> None:
    """The remaining entrants play their own matches, and each has a walkover over the withdrawn one."""
    form = RoundRobin()
    _, whole = played_out(form, started(form, field(6)))
    state = form.withdraw(started(form, field(6)), 2)
    _, pairings = played_out(form, state)
    assert {item for item in whole if 2 not in item.seats} == {pairing for pairing in pairings if not pairing.is_bye}
    expected = {
        replace(item, seats=tuple(seat for seat in item.seats if seat != 2), table="walkover", against=2)
        for item in whole
        if 2 in item.seats
    }
    assert expected == {pairing for pairing in pairings if pairing.is_bye}


@pytest.mark.parametrize("after", range(15))
def test_whoever_met_it_before_or_was_to_meet_it_later_has_as_many_results(after: int) -> None:
    """Whenever an entrant withdraws, each other entrant has exactly one result against every opponent."""
    form = RoundRobin()
    state, results = started(form, field(6)), Counter[int]()
    for _ in range(after):
        due = form.due(state)[-1]
        results.update(due.seats)
        state = form.record(state, first_wins(due))
    _, pairings = played_out(form, form.withdraw(state, 2))
    results.update(entrant for pairing in pairings for entrant in pairing.seats)
    assert {entrant: 5 for entrant in range(6) if entrant != 2} == {
        result: results[result] for result in results if result != 2
    }


def test_a_match_of_two_who_withdrew_is_nobodys() -> None:
    """Neither of them has a walkover, and each other entrant has one for each."""
    form = RoundRobin()
    state = form.withdraw(form.withdraw(started(form, field(6)), 2), 4)
    _, pairings = played_out(form, state)
    byes = Counter(pairing.seats[0] for pairing in pairings if pairing.is_bye)
    assert dict.fromkeys((0, 1, 3, 5), 2) == byes
    assert form.count_cancelled_pairings(state) == 9


def spread(tables: list[tuple[int, ...]], count: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the least and the most meetings of any pair, and matches of any entrant in any seat."""
    met = Counter(pair for table in tables for pair in combinations(sorted(table), 2))
    used = Counter((entrant, seat) for table in tables for seat, entrant in enumerate(table))
    meetings = [met[pair] for pair in combinations(range(count), 2)]
    by_seat = [used[entrant, seat] for entrant in range(count) for seat in range(len(tables[0]))]
    return (min(meetings), max(meetings)), (min(by_seat), max(by_seat))


@pytest.mark.parametrize(
    ("count", "seats", "options", "meetings", "used"),
    [
        (5, 4, {"rounds": 5}, (3, 3), (1, 1)),
        (9, 3, {}, (1, 1), (1, 2)),
        (8, 4, {"rounds": 14}, (6, 6), (3, 4)),
        (12, 12, {"rounds": 24}, (24, 24), (2, 2)),
        (30, 3, {}, (0, 2), (5, 5)),
        (40, 12, {"rounds": 12}, (0, 6), (0, 1)),
        (7, 4, {}, (2, 2), (1, 1)),
        (7, 3, {}, (1, 1), (1, 1)),
        (13, 4, {}, (1, 1), (1, 1)),
        (16, 4, {}, (1, 1), (1, 2)),
        (10, 4, {}, (1, 2), (1, 1)),
        (13, 12, {}, (11, 11), (1, 1)),
        (7, 4, {"cycles": 60}, (60, 60), (30, 30)),
    ],
)
def test_tables_of_many_seats_are_balanced(
    *, count: int, seats: int, options: dict[str, int], meetings: tuple[int, int], used: tuple[int, int]
) -> None:
    """Meetings are as even as the plan could make them, and everybody's seats differ by one at most."""
    form = RoundRobin()
    _, pairings = played_out(form, started(form, field(count, seats), **options))
    tables = [pairing.seats for pairing in pairings if not pairing.is_bye]
    assert spread(tables, count) == (meetings, used)


@pytest.mark.parametrize(("count", "seats"), [(13, 4), (7, 3), (23, 5), (50, 12)])
def test_seats_and_byes_of_everybody_are_even(count: int, seats: int) -> None:
    """If rounds do not divide, any two seats differ by one match, and an entrant with one less has a bye."""
    form = RoundRobin()
    _, pairings = played_out(form, started(form, field(count, seats), rounds=25))
    used = Counter((one, seat) for pairing in pairings if not pairing.is_bye for seat, one in enumerate(pairing.seats))
    for entrant in range(count):
        own = [used[entrant, seat] for seat in range(seats)]
        assert max(own) - min(own) <= 1
    assert len(set(results_of(pairings).values())) == 1
    byes = Counter(pairing.seats[0] for pairing in pairings if pairing.is_bye)
    assert set(byes.values()) <= {1}


def results_of(pairings: list[Pairing]) -> Counter[int]:
    """Return each entrant's number of results, with byes."""
    return Counter(entrant for pairing in pairings for entrant in pairing.seats)


@settings(max_examples=25)
@given(count=st.integers(3, 26), seats=st.integers(3, 12), cycles=st.integers(1, 3))
def test_everybody_plays_equally_often_and_nobody_has_a_bye(count: int, seats: int, cycles: int) -> None:
    """Each pair meets at least as often as there are cycles on average, in as few matches as possible."""
    form, seats = RoundRobin(), min(seats, count)
    _, pairings = played_out(form, started(form, field(count, seats), cycles=cycles))
    assert not any(pairing.is_bye for pairing in pairings)
    (each,) = set(results_of(pairings).values())
    assert each * (seats - 1) >= cycles * (count - 1)
    fewer = [times for times in range(1, each) if times * count % seats == 0]
    assert all(times * (seats - 1) < cycles * (count - 1) for times in fewer)


def test_tables_are_laid_at_the_same_time_where_all_meet_equally_often_anyway() -> None:
    """Sixteen at tables of four play five rounds of four tables."""
    form = RoundRobin()
    _, pairings = played_out(form, started(form, field(16, 4)))
    assert dict.fromkeys(range(1, 6), 4) == Counter(pairing.round for pairing in pairings)


@settings(max_examples=40)
@given(
    count=st.integers(4, 16),
    seats=st.integers(3, 5),
    options=st.sampled_from([{}, {"cycles": 2}, {"rounds": 5}]),
    seed=st.integers(0, 2**32),
)
def test_whoever_stays_has_as_many_results_as_others(
    count: int, seats: int, options: dict[str, int], seed: int
) -> None:
    """After any withdrawal, matches that can't be played are cancelled, and a bye replaces each missing match."""
    form, source, results = RoundRobin(), Random(seed), Counter[int]()
    of = field(max(count, seats), seats)
    told = form.extent(form.parse_options(options), of)
    state, gone, matches = started(form, of, **options), set[int](), 0
    while due := form.due(state):
        if source.random() < 0.08:
            gone.add(source.randrange(len(of.entrants)))
            for entrant in gone:
                state = form.withdraw(state, entrant)
        else:
            pairing = source.choice(due)
            matches += not pairing.is_bye
            results.update(pairing.seats)
            state = form.record(state, first_wins(pairing))
    assert len({results[entrant] for entrant in range(len(of.entrants)) if entrant not in gone}) <= 1
    assert told.fewest == matches + form.count_cancelled_pairings(state)


def test_a_withdrawal_from_tables_makes_new_tables() -> None:
    """Rounds that have not begun are full again without that entrant, and all others play as often as before."""
    form = RoundRobin()
    state = started(form, field(9, 4), cycles=3)
    played = []
    for pairing in form.due(state):
        state = form.record(state, first_wins(pairing))
        played.append(pairing)
    state = form.withdraw(state, 0)
    _, pairings = played_out(form, state)
    results = results_of([*played, *pairings])
    assert dict.fromkeys(range(1, 9), 8) == {entrant: results[entrant] for entrant in range(1, 9)}
    assert sum(pairing.is_bye for pairing in pairings) < 4


@pytest.mark.parametrize(
    ("count", "seats", "rounds", "leaves", "matches", "byes"),
    [
        (9, 4, 3, None, {1, 2, 3}, {3}),
        (9, 4, 3, 3, {1, 2, 3, 4, 5}, {3, 5}),
        (7, 3, 4, 0, {1, 2, 3, 4, 5, 6}, {4}),
        (7, 4, 3, 3, {1, 2}, {2, 3}),
    ],
)
def test_byes_belong_to_the_round_before(  # of a table
    *, count: int, seats: int, rounds: int, leaves: int | None, matches: set[int], byes: set[int]
) -> None:
    """No round consists of byes only: byes that are added follow the last round with a match."""
    form = RoundRobin()
    state = started(form, field(count, seats), rounds=rounds)
    _, pairings = played_out(form, state if leaves is None else form.withdraw(state, leaves))
    assert {pairing.round for pairing in pairings if not pairing.is_bye} == matches
    assert {pairing.round for pairing in pairings if pairing.is_bye} == byes


def test_when_a_table_cannot_be_filled_any_more_it_is_over() -> None:
    """Three entrants that are left of five can't play at a table of four."""
    form = RoundRobin()
    state = form.withdraw(form.withdraw(started(form, field(5, 4)), 0), 1)
    _, pairings = played_out(form, state)
    assert [pairing for pairing in pairings if not pairing.is_bye] == []
