"""Knockout and double elimination: brackets, byes, draws, withdrawals, places."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.testing import check_pairing
from referee.tournament.pairing import bracket
from referee.tournament.pairing.base import BadFormat, Pairing, PlayedPairing
from referee.tournament.pairing.double_elimination import DoubleElimination
from referee.tournament.pairing.knockout import Knockout

from .tournaments import drawn, falling, field, first_wins, played_out, started, won_by

KNOCKOUT, DOUBLE = Knockout(), DoubleElimination()


@pytest.mark.parametrize(
    ("size", "order"),
    [(2, [0, 1]), (4, [0, 3, 1, 2]), (8, [0, 7, 3, 4, 1, 6, 2, 5])],
)
def test_the_bracket_is_the_standard_one(size: int, order: list[int]) -> None:
    """Seeds stand so that in every round the best meets the worst that is left, if the better seed always wins."""
    assert order == bracket.standard_order(size)


@pytest.mark.parametrize("count", [2, 3, 5, 8, 11, 16, 200])
def test_the_first_two_seeds_meet_in_the_final(count: int) -> None:
    """If the better seed always wins, seeds meet as late as possible, and the places follow the seeds."""
    form = KNOCKOUT
    state, pairings = played_out(form, started(form, field(count, ratings=falling(count))))
    final = pairings[-1]
    assert ("final", {0, 1}) == (final.table, set(final.seats))
    assert sum(not pairing.is_bye for pairing in pairings) == count - 1
    for group in form.places(state):
        assert max(group) < 2 ** max(group[0], 0).bit_length()


@pytest.mark.parametrize(("count", "byes"), [(8, 0), (7, 1), (6, 2), (5, 3), (9, 7)])
@pytest.mark.parametrize("form", [KNOCKOUT, DOUBLE], ids=["knockout", "double"])
def test_byes_go_to_the_best_seeds(form: Knockout | DoubleElimination, count: int, byes: int) -> None:
    """The best seeds need not play in the first round if it is not full."""
    _, pairings = played_out(form, started(form, field(count, ratings=falling(count))))
    assert set(range(byes)) == {pairing.seats[0] for pairing in pairings if pairing.is_bye}


def test_the_losers_of_the_semi_finals_can_play_for_the_third_place() -> None:
    """With that match, places three and four differ; without it, they are shared."""
    shared, _ = played_out(KNOCKOUT, started(KNOCKOUT, field(4, ratings=falling(4))))
    told, pairings = played_out(KNOCKOUT, started(KNOCKOUT, field(4, ratings=falling(4)), third_place=True))
    assert KNOCKOUT.places(shared) == ((0,), (1,), (2, 3))
    assert KNOCKOUT.places(told) == ((0,), (1,), (2,), (3,))
    assert {"third place", "final", "semi-final"} == {pairing.table for pairing in pairings}


@pytest.mark.parametrize(("count", "matches"), [(2, 1), (3, 2), (4, 4), (5, 5)])
def test_the_third_place_needs_two_who_lost_a_semi_final(count: int, matches: int) -> None:
    """Of three entrants, one has lost to the best two, or had a bye; the stated number of matches is played."""
    of = field(count, ratings=falling(count))
    state, pairings = played_out(KNOCKOUT, started(KNOCKOUT, of, third_place=True, replays=0))
    assert sum(not pairing.is_bye for pairing in pairings) == matches
    extent = KNOCKOUT.extent(KNOCKOUT.parse_options({"third_place": True, "replays": 0}), of)
    assert (extent.fewest, extent.most) == (matches, matches)
    assert KNOCKOUT.places(state)[:4] == tuple((place,) for place in range(min(count, 4)))
    assert ("third place" in {pairing.table for pairing in pairings}) == (count > 3)


@pytest.mark.parametrize("replays", [0, 1, 3])
@pytest.mark.parametrize("form", [KNOCKOUT, DOUBLE], ids=["knockout", "double"])
def test_a_drawn_match_is_played_again_in_other_seats(form: Knockout | DoubleElimination, replays: int) -> None:
    """That happens as often as the option says; then the better seed goes on."""
    state = started(form, field(2, ratings=falling(2)), replays=replays)
    seats = []
    for _ in range(replays + 1):
        (pairing,) = form.due(state)
        seats.append(pairing.seats)
        state = form.record(state, drawn(pairing))
    assert [(0, 1), (1, 0), (0, 1), (1, 0)][: replays + 1] == seats
    state, _ = played_out(form, state)
    assert form.places(state)[0] == (0,)


@pytest.mark.parametrize("form", [KNOCKOUT, DOUBLE], ids=["knockout", "double"])
def test_another_result_is_as_if_it_had_been_the_first_one(form: Any) -> None:
    """That holds as long as no match that follows from it was played."""
    state = started(form, field(8, ratings=falling(8)))
    for _ in range(6):
        pairing = form.due(state)[0]
        one, other = (won_by(pairing, entrant) for entrant in pairing.seats)
        after = form.record(state, one)
        taken_back = form.revise(after, one, None)
        assert form.places(taken_back) == form.places(state)
        revised = form.revise(taken_back, None, other)
        due = form.record(state, other)
        assert {each.seats for each in form.due(revised)} == {each.seats for each in form.due(due)}
        assert form.places(revised) == form.places(due)
        state = after


def test_a_match_without_credit_for_anybody_counts_as_drawn() -> None:
    """One entrant must go on: the better seed, if playing again does not help."""
    state = started(KNOCKOUT, field(2, ratings=falling(2)), replays=0)
    (final,) = KNOCKOUT.due(state)
    state = KNOCKOUT.record(state, PlayedPairing(pairing=final, ranking=(), scores=(0, 0), fouls=(0, 1)))
    assert KNOCKOUT.places(state) == ((0,), (1,))


def test_whoever_meets_somebody_who_withdrew_goes_on() -> None:
    """The bracket stays as it is; the withdrawn entrant is placed where it would have played."""
    state = started(KNOCKOUT, field(8, ratings=falling(8)))
    for pairing in KNOCKOUT.due(state):
        state = KNOCKOUT.record(state, first_wins(pairing))
    state = KNOCKOUT.withdraw(state, 3)
    assert [{1, 2}] == [set(pairing.seats) for pairing in KNOCKOUT.due(state)]
    state, _ = played_out(KNOCKOUT, state)
    assert KNOCKOUT.places(state) == ((0,), (1,), (2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize("gone", range(4))
@pytest.mark.parametrize("form", [KNOCKOUT, DOUBLE], ids=["knockout", "double"])
def test_who_withdraws_before_its_first_match_gives_that_away(form: Knockout | DoubleElimination, gone: int) -> None:
    """Nobody waits for that match, and the best of the others wins."""
    state = form.withdraw(started(form, field(4, ratings=falling(4))), gone)
    state, _ = played_out(form, state)
    assert form.is_over(state)
    assert form.places(state)[0] == (min({0, 1} - {gone}),)


@pytest.mark.parametrize(
    ("seats", "options", "complaint"),
    [
        (4, {"advance": 3}, "3 can't go on from a match of 4 seats"),
        (2, {"advance": 2}, "2 can't go on from a match of 2 seats"),
        (3, {"third_place": True}, "is for two seats"),
    ],
)
def test_options_that_do_not_go_together_are_refused(seats: int, options: dict[str, int], complaint: str) -> None:
    """The error says why."""
    with pytest.raises(BadFormat, match=complaint):
        started(KNOCKOUT, field(8, seats), **options)


@pytest.mark.parametrize(
    ("count", "seats", "options", "sizes"),
    [
        (16, 4, {}, [4, 2, 1]),
        (10, 4, {}, [1, 2, 1]),
        (27, 3, {}, [9, 3, 1]),
        (16, 4, {"advance": 1}, [4, 1]),
        (7, 4, {}, [1, 1, 1]),
        (54, 6, {"advance": 2}, [9, 3, 1]),
    ],
)
def test_tables_are_full_in_every_round(count: int, seats: int, options: dict[str, int], sizes: list[int]) -> None:
    """The best of each table go on until one table is left; its winner has won."""
    state, pairings = played_out(KNOCKOUT, started(KNOCKOUT, field(count, seats, falling(count)), **options))
    tables = Counter(pairing.round for pairing in pairings if not pairing.is_bye)
    assert sizes == [tables[number] for number in sorted(tables)]
    assert pairings[-1].table == "final"
    assert KNOCKOUT.places(state)[:2] == ((0,), (1,))


def test_a_table_that_does_not_say_who_goes_on_is_played_again() -> None:
    """If two of four go on, a tie for second place is a draw, and a tie for first place is not."""
    state = started(KNOCKOUT, field(8, 4, falling(8)), replays=1)
    one, two = KNOCKOUT.due(state)
    state = KNOCKOUT.record(state, PlayedPairing(pairing=one, ranking=((0, 1), (2, 3)), scores=(0,) * 4))
    assert [two] == list(KNOCKOUT.due(state))
    state = KNOCKOUT.record(state, PlayedPairing(pairing=two, ranking=((0,), (1, 2), (3,)), scores=(0,) * 4))
    (again,) = KNOCKOUT.due(state)
    assert set(two.seats) == set(again.seats)


def test_of_a_table_that_breaks_up_all_others_go_on() -> None:
    """Nobody is out because another entrant withdraws."""
    state = started(KNOCKOUT, field(8, 4, falling(8)))
    one, two = KNOCKOUT.due(state)
    gone = one.seats[0]
    state = KNOCKOUT.withdraw(state, gone)
    state = KNOCKOUT.record(state, first_wins(two))
    playing = {entrant for pairing in KNOCKOUT.due(state) for entrant in pairing.seats}
    assert set(one.seats) - {gone} <= playing
    assert gone not in playing


@settings(max_examples=15)
@given(count=st.integers(2, 70), reset=st.booleans(), seed=st.integers(0, 2**32))
def test_who_loses_twice_is_out_and_nobody_before(count: int, reset: bool, seed: int) -> None:  # noqa: FBT001  # Hypothesis names it
    """All entrants but the winner lose twice; without a reset, the second may have lost only once."""
    source = Random(seed)
    losses = Counter[int]()

    def result(pairing: Pairing) -> PlayedPairing:
        winner = source.choice(pairing.seats)
        losses.update(entrant for entrant in pairing.seats if entrant != winner)
        return first_wins(pairing) if pairing.is_bye else won_by(pairing, winner)

    state, _ = played_out(DOUBLE, started(DOUBLE, field(count), reset=reset), result)
    places = DOUBLE.places(state)
    assert len(places[0]) == len(places[1]) == 1
    assert {losses[entrant] for group in places[2:] for entrant in group} <= {2}
    winner, second = losses[places[0][0]], losses[places[1][0]]
    assert winner <= 1
    assert second == 2 or (not reset and (winner, second) == (1, 1))


@pytest.mark.parametrize(
    ("reset", "matches", "tables"), [(True, 2, ["grand final", "grand final, reset"]), (False, 1, ["grand final"])]
)
def test_the_grand_final_is_played_again_if_the_unbeaten_loses_it(
    *, reset: bool, matches: int, tables: list[str]
) -> None:
    """Both have lost once then. Without that option, the first grand final decides."""
    state = started(DOUBLE, field(4, ratings=falling(4)), reset=reset)
    while not any("grand" in pairing.table for pairing in DOUBLE.due(state)):
        state = DOUBLE.record(state, first_wins(DOUBLE.due(state)[0]))
    state, pairings = played_out(DOUBLE, state, lambda pairing: won_by(pairing, max(pairing.seats)))
    assert matches == len(pairings)
    assert tables == [pairing.table for pairing in pairings]
    assert DOUBLE.places(state)[:2] == ((1,), (0,))


def test_double_elimination_of_eight_is_the_usual_one() -> None:
    """Seven matches of winners, six of losers, a grand final; in the early rounds, no two entrants meet twice."""
    state, pairings = played_out(DOUBLE, started(DOUBLE, field(8, ratings=falling(8))))
    found = Counter(pairing.table for pairing in pairings)
    assert found == {
        "winners' round 1": 4,
        "winners' round 2": 2,
        "winners' final": 1,
        "losers' round 1": 2,
        "losers' round 2": 2,
        "losers' round 3": 1,
        "losers' final": 1,
        "grand final": 1,
    }
    rounds = {pairing.table: pairing.round for pairing in pairings}
    assert [rounds[f"winners' {table}"] for table in ("round 1", "round 2", "final")] == [1, 2, 4]
    assert [rounds[f"losers' {table}"] for table in ("round 1", "round 2", "round 3", "final")] == [2, 3, 4, 5]
    assert rounds["grand final"] == 6
    early = [frozenset(pairing.seats) for pairing in pairings if pairing.table[-1:].isdigit()]
    assert len(early) == len(set(early))
    assert DOUBLE.places(state) == ((0,), (1,), (2,), (3,), (4, 5), (6, 7))


@pytest.mark.parametrize("withdrawals", [0.02, 0.3])
@pytest.mark.parametrize(("count", "seats", "options"), [(30, 4, {"advance": 1}), (31, 6, {"advance": 3}), (25, 5, {})])
def test_tables_keep_the_contract_whoever_withdraws(
    *, count: int, seats: int, options: dict[str, int], withdrawals: float
) -> None:
    """This is tried with every possible number that goes on, and every number that is left."""
    for seed in range(5):
        check_pairing(KNOCKOUT, Random(seed), field=field(count, seats), options=options, withdrawals=withdrawals)
