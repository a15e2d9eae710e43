"""Every registered format passes the conformance suite, and formats that break the contract fail it."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.plugins import load
from referee.testing import check_pairing
from referee.tournament.pairing.base import (
    BadFormat,
    BadPairing,
    EntrantField,
    Group,
    NotDue,
    Pairing,
    PairingFormat,
    PlayedPairing,
)
from referee.tournament.pairing.round_robin import Berger, RoundRobin
from referee.tournament.pairing.swiss import State as SwissState
from referee.tournament.pairing.swiss import Swiss
from referee.tournament.pairing.timetable import State, start

from .tournaments import field, first_wins, started

FORMATS = load().formats
SHORT: dict[str, dict[str, Any]] = {"ladder": {"matches": 60}, "roundrobin": {"rounds": 7}, "swiss": {"rounds": 4}}
"""Options that keep tournaments of many entrants short."""


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=12)
@given(
    count=st.integers(2, 24) | st.integers(2, 70),
    seats=st.sampled_from([2, 2, 2, 3, 4, 12]),
    withdrawals=st.sampled_from([0, 0.005, 0.05, 0.4]),
    is_rated=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_every_registered_format_conforms(
    *, name: str, count: int, seats: int, withdrawals: float, is_rated: bool, seed: int
) -> None:
    """All installed formats, built in or not, pass the same suite."""
    form, source = FORMATS[name], Random(seed)
    seats = seats if seats in form.seats and seats <= count else 2
    ratings = [source.gauss(1500, 300) for _ in range(count)] if is_rated else []
    check_pairing(
        form, source, field=field(count, seats, ratings), options=SHORT.get(name, {}), withdrawals=withdrawals
    )


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_large_fields_conform_too(name: str) -> None:
    """Two hundred entrants, some of which withdraw, pass the same suite."""
    options = {**SHORT.get(name, {}), **({"rounds": 3} if name in {"roundrobin", "swiss"} else {})}
    check_pairing(FORMATS[name], Random(name), field=field(200), options=options, withdrawals=0.01)


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 9])
def test_defaults_suit_small_fields(name: str, count: int) -> None:
    """With default options, every format runs with few entrants."""
    assert check_pairing(FORMATS[name], Random(count), field=field(count), withdrawals=0)


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize(("count", "seats", "complaint"), [(1, 2, "too few"), (2, 13, "not of 13"), (0, 2, "too few")])
def test_a_field_that_fills_no_match_is_refused(name: str, count: int, seats: int, complaint: str) -> None:
    """The error says what is wrong with the field."""
    with pytest.raises(BadFormat, match=complaint):
        started(FORMATS[name], field(count, seats))


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_result_that_is_not_due_is_refused(name: str) -> None:
    """A result counts once, and the result of an invented pairing never."""
    form = FORMATS[name]
    state = started(form, field(6))
    with pytest.raises(NotDue, match="12345"):
        form.record(state, first_wins(Pairing(number=12345, round=1, seats=(0, 1))))


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_after_everybody_has_withdrawn_nothing_is_due(name: str) -> None:
    """A deserted tournament is over."""
    form = FORMATS[name]
    state = started(form, field(7))
    for entrant in range(7):
        state = form.withdraw(state, entrant)
    assert form.is_over(state)
    assert form.due(state) == ()


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"swiss"}))
def test_most_formats_pair_their_rounds_themselves(name: str) -> None:
    """Only rounds of `swiss` for two seats can be paired by another program; all other formats refuse such groups."""
    state = started(FORMATS[name], field(6))
    assert FORMATS[name].to_pair(state) is None
    with pytest.raises(BadPairing, match=name):
        FORMATS[name].take_round(state, ((0, 1), (2, 3), (4, 5)))


class Doubling(RoundRobin):
    """Pairs an entrant twice at the same time."""

    def due(self, state: State) -> tuple[Pairing, ...]:
        due = super().due(state)
        return (*due, *(replace(pairing, number=10_000 + pairing.number) for pairing in due))


class Selfish(RoundRobin):
    """Pairs an entrant with itself."""

    def due(self, state: State) -> tuple[Pairing, ...]:
        return tuple(replace(pairing, seats=(pairing.seats[0],) * 2) for pairing in super().due(state))


class Recounting(Berger, frozen=True):
    """A timetable that counts each cycle from 1."""

    def pairing(self, entrant: int, index: int) -> Pairing:
        found = super().pairing(entrant, index)
        return replace(found, number=(found.number - 1) % 28 + 1)


class Numberless(RoundRobin):
    """Gives a later pairing the number of an earlier one."""

    def new(self, options: Any, field: EntrantField, shuffle: Any) -> State:
        state = super().new(options, field, shuffle)
        timetable: Any = state.timetable
        return start(Recounting(timetable.numbers, timetable.by_number, timetable.rounds), len(field.entrants))


class Clinging(RoundRobin):
    """Lets no entrant withdraw."""

    def withdraw(self, state: State, entrant: int) -> State:
        return state


class Endless(RoundRobin):
    """Is never over."""

    def is_over(self, state: State) -> bool:
        return False


class Hasty(RoundRobin):
    """Is over before everything is played."""

    def is_over(self, state: State) -> bool:
        return len(state.due) < 3


class Forgetting(RoundRobin):
    """Accepts the same result again."""

    def record(self, state: State, played: PlayedPairing) -> State:
        return super().record(state, played) if played.pairing in state.due else state


class Favouring(RoundRobin):
    """Plays no match, so there are only byes, and stops when one entrant has had two."""

    def new(self, options: Any, field: EntrantField, shuffle: Any) -> State:
        return replace(super().new(options, field, shuffle), due=self._byes(1))

    def record(self, state: State, played: PlayedPairing) -> State:
        return replace(state, due=self._byes(played.pairing.number + 1) if played.pairing.number < 2 else ())

    @staticmethod
    def _byes(number: int) -> tuple[Pairing, ...]:
        return (Pairing(number=number, round=number, seats=(0,)),)


class Moody(RoundRobin):
    """Draws different lots each time."""

    def __init__(self) -> None:
        self.drawn = 0

    def new(self, options: Any, field: EntrantField, shuffle: Any) -> State:
        self.drawn += 1
        return super().new(options, field, shuffle.later(self.drawn))


class Gullible(Swiss):
    """Accepts any groups as a round."""

    def take_round(self, state: SwissState, tables: tuple[Group, ...]) -> SwissState:
        return replace(state, round=state.round + 1)


BROKEN: tuple[tuple[Callable[[], PairingFormat[Any]], str], ...] = (
    (Doubling, "two matches at once"),
    (Selfish, "or itself"),
    (Numberless, "comes twice"),
    (Clinging, "that has withdrawn is to play"),
    (Endless, "nothing is due, but the tournament is not over"),
    (Hasty, "the tournament is over, but something is due"),
    (Forgetting, "has two results"),
    (Favouring, "byes are uneven"),
    (Moody, "not due|gave another state"),
    (Gullible, "taken for a round"),
)


@pytest.mark.parametrize(("broken", "says"), BROKEN)
def test_a_broken_format_is_found_out(broken: Callable[[], PairingFormat[Any]], says: str) -> None:
    """The error says what the format breaks."""
    form = broken()
    options = {"cycles": 4} if isinstance(form, RoundRobin) else {}
    with pytest.raises((AssertionError, NotDue), match=says):
        check_pairing(form, Random(5), field=field(8), options=options, withdrawals=0.02)
