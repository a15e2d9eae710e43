"""Round robin: everybody plays against everybody, as evenly as possible.

For two seats, opponents and seats of each round follow the tables of J. Berger, which FIDE's Handbook prints for up to
16 players (C.05, annex 1). Numbers of the players are drawn by lot. In every second cycle, seats are exchanged. FIDE
advises to exchange the last two rounds of the first cycle, so that nobody has a colour three times in a row. This is
not done, because then cycles would differ, and programs don't get tired of a seat.

For more seats, a plan makes everybody play equally often; see timetable.py. Resting gives no points. If a withdrawal
costs other entrants matches, they play them in extra groups after the last round, when the order no longer matters.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from math import gcd
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...games.base import Shuffle
from . import timetable
from .base import EntrantField, Extent, Pairing, PlayedPairing
from .timetable import (
    FixedFormat,
    SeatedTimetable,
    State,
    add_extra_groups,
    count_extra_groups,
    make_plan,
    without_groups,
)


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    cycles: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Number of times that everybody meets everybody.

    With more than two seats, it is the least average number of meetings: matches are added until everybody has played
    equally often.
    """
    rounds: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """Number of rounds after which the tournament ends; None if `cycles` decides.

    With more than two seats, exactly so many rounds are played, and `cycles` has no effect. If the numbers do not
    divide, some entrants play one match less, and get a bye for it.
    """


class Berger(Struct, frozen=True):
    """The timetable of two seats.

    With an even number n of players, two players meet in round r if the sum of their numbers is r + 1 modulo n - 1. A
    player that would meet itself meets number n. If the sum of two numbers is odd, the smaller number has the first
    seat, and if it is even, the greater one. Number n has the second seat against the smaller half of the numbers. In
    an odd field, nobody has number n.
    """

    numbers: tuple[int, ...]
    """Number of each entrant, from 1."""
    by_number: tuple[int, ...]
    """Number - 1 -> entrant."""
    rounds: int

    @property
    def even(self) -> int:
        """The number of players; a bye counts as one."""
        return len(self.numbers) + len(self.numbers) % 2

    def pairing(self, entrant: int, index: int) -> Pairing:
        """Return an entrant's pairing of a round, counted from 0; a bye if it rests."""
        size = self.even
        cycle, inner = divmod(index, size - 1)
        middle = ((inner + 2) * (size // 2) - 1) % (size - 1) + 1
        number = self.numbers[entrant]
        if number in (middle, size):
            board, first, second = 0, middle, size
            is_turned = middle > size // 2
        else:
            other = (inner + 1 - number) % (size - 1) + 1
            away = (number - middle) % (size - 1)
            board = min(away, size - 1 - away)
            first, second = sorted((number, other))
            is_turned = (first + second) % 2 == 0
        if is_turned != (cycle % 2 == 1):
            first, second = second, first
        seats = tuple(self.by_number[number - 1] for number in (first, second) if number <= len(self.numbers))
        return Pairing(number=index * (size // 2) + board + 1, round=index + 1, seats=seats)


class RoundRobin(FixedFormat[State]):
    """Everybody plays against everybody."""

    name = "roundrobin"
    title = "Round robin"
    seats = range(2, 13)
    options_type = Options
    asks_ratings = False

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field does not fill a match.
        """
        self.check_field(field)
        order, count = tuple(shuffle(range(len(field.entrants)))), len(field.entrants)
        if field.seats == 2:
            numbers = tuple(order.index(entrant) + 1 for entrant in range(count))
            berger = Berger(numbers, order, _berger_rounds(options, count))
            return timetable.start(berger, count, berger.rounds * (count // 2))
        plan = make_plan(SeatedTimetable(seats=field.seats, each=_each(options, field), limit=options.rounds), order)
        return timetable.start(plan, count, plan.matches)

    def idle_options(self, raw: dict[str, Any], field: EntrantField) -> Iterator[tuple[str, str]]:
        """Yield `cycles` if `rounds` decides the length, and `rounds` if all cycles are played anyway."""
        if raw.get("rounds") is None:
            return
        if field.seats > 2:
            if "cycles" in raw:
                yield "cycles", "with rounds, a tournament of more than two seats takes that many"
            return
        options = self.parse_options(raw)
        every = _berger_rounds(replace(options, rounds=None), len(field.entrants))
        if options.rounds >= every:
            yield "rounds", f"everybody has met everybody after {every} of them; cycles adds more"

    def meets_everybody(self, options: Any, field: EntrantField) -> bool:
        """Return whether only whole cycles of two seats are played. With more seats, meetings are not always equal."""
        count = len(field.entrants)
        return field.seats == 2 and _berger_rounds(options, count) % (count - 1 + count % 2) == 0

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return the length; with more than two seats, the number of rounds is known only if it is set."""
        count, seats = len(field.entrants), field.seats
        rounds = _berger_rounds(options, count) if seats == 2 else options.rounds
        matches = _each(options, field) * count // seats if rounds is None else rounds * (count // seats)
        return Extent(fewest=matches, most=matches, rounds=rounds)

    def record(self, state: State, played: PlayedPairing) -> State:
        """Return the state after a result.

        Raises:
            NotDue: the pairing is not due.
        """
        return _make_up(timetable.record(state, played))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state without an entrant; its future opponents get walkovers, or extra groups at the end."""
        return _make_up(_remove(state, entrant))

    def conclude(self, state: State, played: PlayedPairing, leaving: Iterable[int]) -> State:
        """Return the state after a result; entrants that leave with it are in no group that is added at the end.

        Raises:
            NotDue: the pairing is not due.
        """
        return _make_up(reduce(_remove, leaving, timetable.record(state, played)))

    def reinstate(self, state: State, entrant: int) -> State:
        """Return the state with an entrant that comes back, in its own pairings or in extra groups at the end."""
        plan = state.timetable
        if not isinstance(plan, SeatedTimetable):
            return timetable.reinstate(state, entrant)
        back = timetable.with_progress(state, {entrant: plan.rounds})
        back = replace(back, withdrawn=state.withdrawn - {entrant})
        return _make_up(_count_cancellations(state, back))


def _remove(state: State, entrant: int) -> State:
    """Return the state without an entrant, before extra groups are added."""
    plan = state.timetable
    if entrant in state.withdrawn or not isinstance(plan, SeatedTimetable):
        return timetable.withdraw(state, entrant)
    left = timetable.withdraw(state, entrant, without_groups(plan, entrant, state.progress[entrant]))
    return _count_cancellations(state, left)


def _staying(state: State) -> list[int]:
    return [entrant for entrant in range(len(state.progress)) if entrant not in state.withdrawn]


def _make_up(state: State) -> State:
    """Add extra groups, after all planned ones, for the matches that entrants have lost by withdrawals of others.

    At this point neither the order in which matches ended nor the order of withdrawals matters.
    """
    plan = state.timetable
    if state.due or not isinstance(plan, SeatedTimetable):
        return state
    staying = _staying(state)
    new = add_extra_groups(plan, staying)
    if new.rounds == plan.rounds:
        return state
    longer = timetable.arrive(replace(state, timetable=new), dict.fromkeys(staying, plan.rounds))
    return _count_cancellations(state, longer)


def _count_cancellations(before: State, after: State) -> State:
    """Add the number of groups that were lost between two states to the later state."""
    less = _count_groups(before) - _count_groups(after)
    return replace(after, given_up=max(before.given_up + less, 0))


def _count_groups(state: State) -> int:
    """Return the number of groups of a plan, including extra ones."""
    plan = state.timetable
    assert isinstance(plan, SeatedTimetable), "only such plans have extra groups"
    return plan.matches + count_extra_groups(plan, _staying(state))


def _berger_rounds(options: Options, count: int) -> int:
    rounds = options.cycles * (count - 1 + count % 2)
    return min(rounds, options.rounds or rounds)


def _each(options: Options, field: EntrantField) -> int:
    """Return the number of matches of each entrant in groups of more than two: at least as many as `cycles` requires.

    If `rounds` is set and the numbers do not divide, some entrants play one match less.
    """
    count, seats = len(field.entrants), field.seats
    if options.rounds is not None:
        return -(-options.rounds * (count // seats) * seats // count)
    least = seats // gcd(count, seats)
    return -(-options.cycles * (count - 1) // ((seats - 1) * least)) * least
