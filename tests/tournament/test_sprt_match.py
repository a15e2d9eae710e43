"""The duel: when it decides, what it counts, and in which order."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.chance import Dealer
from referee.tournament import events as e
from referee.tournament.pairing.base import BadFormat, NotDue, Pairing, PlayedPairing
from referee.tournament.sprt import Hypotheses, SprtDecision, SprtMatch, State, sprt

from . import playing
from .pairing.tournaments import field, started
from .playing import begun, spec_of
from .results import Groups
from .simulated import duel_ranking

EASY = {"hypotheses": {"elo0": 0.0, "elo1": 200.0}}
POINTS: dict[Groups, float] = {((1,), (0,)): 1.0, ((0, 1),): 0.5, ((0,), (1,)): 0.0}
"""Result of B by the ranking of a match in which it has seat 1."""


def single(pairing: Pairing, points: float, fouls: tuple[int, ...] = ()) -> PlayedPairing:
    """Return a match in which B, entrant 1, gets some points."""
    seat = pairing.seats.index(1)
    ranking = {1.0: ((seat,), (1 - seat,)), 0.0: ((1 - seat,), (seat,)), 0.5: ((0, 1),)}[points]
    return PlayedPairing(pairing=pairing, ranking=ranking, scores=(0, 0), fouls=fouls)


def pair(pairing: Pairing, one: float, other: float) -> PlayedPairing:
    """Return a pairing of two legs in which B got `one` and `other` points."""
    legs = (single(pairing, one), single(pairing, other))
    return PlayedPairing(pairing=pairing, ranking=((0, 1),), scores=(0, 0), legs=legs)


def played_out(random: Random, lead: float, *, is_pairs: bool, **options: Any) -> State:
    """Play a duel in which B is better by `lead` Elo, until it is over; pairings end in any order."""
    form = SprtMatch()
    state: State = started(form, field(2), **options)
    while not form.is_over(state):
        pairing = random.choice(form.due(state))
        points = [POINTS[duel_ranking(random, -lead, 0.3)] for _ in range(2)]
        state = form.record(state, pair(pairing, *points) if is_pairs else single(pairing, points[0]))
    return state


@pytest.mark.parametrize("is_pairs", [False, True])
@pytest.mark.parametrize(("lead", "verdict"), [(300.0, SprtDecision.ACCEPT), (-50.0, SprtDecision.REJECT)])
def test_a_clear_difference_is_told(*, is_pairs: bool, lead: float, verdict: SprtDecision) -> None:
    """B is declared better if it is, and not if it is not, long before the last pairing."""
    state = played_out(Random(1), lead, is_pairs=is_pairs, **EASY)
    assert state.verdict is verdict
    assert sum(state.counts) == state.counted < 200
    assert len(state.counts) == (5 if is_pairs else 3)
    assert sprt(state.counts, Hypotheses(elo1=200.0)).verdict is SprtMatch().progress(state).verdict is verdict


@pytest.mark.parametrize("most", [1, 7, 8, 20])
def test_it_stops_undecided_after_so_many_pairings(most: int) -> None:
    """All of them are counted, and none is due any more."""
    state = played_out(Random(2), 0.0, is_pairs=True, max_pairs=most)
    assert (state.verdict, state.counted, state.due) == (SprtDecision.CONTINUE, most, ())


@pytest.mark.parametrize(
    ("played", "counts"),
    [
        (lambda pairing: single(pairing, 0.0), (1, 0, 0)),
        (lambda pairing: single(pairing, 0.5), (0, 1, 0)),
        (lambda pairing: single(pairing, 1.0), (0, 0, 1)),
        (lambda pairing: single(pairing, 0.5, fouls=(0, 1)), (0, 1, 0)),
        (lambda pairing: pair(pairing, 0.0, 0.0), (1, 0, 0, 0, 0)),
        (lambda pairing: pair(pairing, 0.5, 0.0), (0, 1, 0, 0, 0)),
        (lambda pairing: pair(pairing, 1.0, 0.0), (0, 0, 1, 0, 0)),
        (lambda pairing: pair(pairing, 0.5, 0.5), (0, 0, 1, 0, 0)),
        (lambda pairing: pair(pairing, 1.0, 0.5), (0, 0, 0, 1, 0)),
        (lambda pairing: pair(pairing, 1.0, 1.0), (0, 0, 0, 0, 1)),
    ],
)
def test_an_outcome_is_what_b_got(played: Any, counts: tuple[int, ...]) -> None:
    """B may have either seat; if both fouled, neither is better."""
    form = SprtMatch()
    for index in (0, 1):
        state = started(form, field(2), window=2)
        first, second = form.due(state)
        assert (first.seats, second.seats) == ((0, 1), (1, 0))
        state = form.record(state, single(first, 0.5)) if index and len(counts) == 3 else state
        state = form.record(state, pair(first, 1.0, 0.0)) if index and len(counts) == 5 else state
        before = state.counts or (0,) * len(counts)
        state = form.record(state, played((first, second)[index]))
        assert tuple(now - then for now, then in zip(state.counts, before, strict=True)) == counts


@settings(max_examples=30)
@given(
    outcomes=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=30, max_size=30),
    window=st.integers(1, 9),
    random=st.randoms(use_true_random=False),
)
def test_the_order_in_which_matches_end_does_not_count(outcomes: list[float], window: int, random: Random) -> None:
    """The verdict and its counts depend only on the result of each pairing."""

    def _states(*, is_shuffled: bool) -> Iterator[State]:
        form = SprtMatch()
        state = started(form, field(2), window=window, max_pairs=30, **EASY)
        while not form.is_over(state):
            pairing = random.choice(form.due(state)) if is_shuffled else form.due(state)[0]
            state = form.record(state, single(pairing, outcomes[pairing.number - 1]))
            assert len(form.due(state)) <= window
            yield state

    *_, one = _states(is_shuffled=False)
    *_, other = _states(is_shuffled=True)
    assert other.verdict is one.verdict
    assert other.counted >= one.counted
    assert sum(other.counts) == other.counted


def test_what_comes_after_the_decision_is_taken_and_changes_nothing() -> None:
    """Results of matches that were going on are still accepted; nothing new is due, and the verdict stands."""
    form = SprtMatch()
    state = started(form, field(2), window=8, **EASY)
    while not form.is_over(state):
        state = form.record(state, single(form.due(state)[0], 1.0))
    left, number = form.due(state), state.number
    assert len(left) == 7
    for pairing in left:
        state = form.record(state, single(pairing, 0.0))
        assert form.is_over(state)
    assert (state.verdict, state.due, state.number) == (SprtDecision.ACCEPT, (), number)
    assert state.counts[0] == 7
    with pytest.raises(NotDue, match=f"{number} is not due"):
        form.record(state, single(left[-1], 0.0))


@pytest.mark.parametrize("is_duplicate", [False, True])
def test_a_tournament_is_a_duel_too(*, is_duplicate: bool) -> None:
    """Its legs count as pairs. Once it is decided no match is to be opened, and open matches are still accepted."""
    options = {"hypotheses": {"elo0": 0.0, "elo1": 400.0}, "window": 3}
    spec = spec_of(2, "sprt", duplicate=is_duplicate, format_options=options)
    tournament = begun(spec, SprtMatch())
    events = playing.played_out(tournament, Random(3), tables=5)
    assert tournament.is_over
    assert tournament.played == sum(isinstance(event, e.MatchClosed) for event in events)
    assert len(tournament.state.counts) == (5 if is_duplicate else 3)
    assert tournament.state.verdict is not SprtDecision.CONTINUE
    assert list(tournament.fixtures()) == []


def test_it_ends_when_one_of_the_two_withdraws() -> None:
    """Nothing is due any more, and there is no decision; withdrawing again changes nothing."""
    form = SprtMatch()
    state = form.withdraw(form.withdraw(started(form, field(2)), 1), 1)
    assert form.is_over(state)
    assert (form.due(state), state.verdict) == ((), SprtDecision.CONTINUE)


@pytest.mark.parametrize(
    ("count", "seats", "options", "complaint"),
    [
        (3, 2, {}, "between two entrants, not 3"),
        (1, 2, {}, "too few"),
        (3, 3, {}, "not of 3"),
        (2, 2, {"max_pairs": 0}, "max_pairs"),
        (2, 2, {"window": 0}, "window"),
        (2, 2, {"hypotheses": {"elo0": 5.0, "elo1": 5.0}}, "not below elo1"),
        (2, 2, {"pairs": 4}, "pairs"),
    ],
)
def test_what_is_no_duel_is_refused(count: int, seats: int, options: dict[str, Any], complaint: str) -> None:
    """The text says what is wrong."""
    form = SprtMatch()
    with pytest.raises(BadFormat, match=complaint):
        form.new(form.parse_options(options), field(count, seats), Dealer(bytes(32)))
