"""Knockout: the loser of a match is out. Draws the bracket of two seats, which bracket.py runs results through."""

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...games.base import Shuffle
from . import bracket
from .balanced_tables import seat_one
from .base import BadFormat, EntrantField, Extent, PlayedPairing, order_by_seed
from .bracket import BracketMatch, EliminationFormat, EliminationState, Source

# --- More than two seats
#
# The fold of a knockout with more than two seats: rounds of tables, the best of each go on.
#
# Each round begins with those that are left in the order of their slots; who goes on takes over the best slots of its
# table, so the strongest seeds are kept apart as long as results allow. Tables are always full; who finds no room has a
# bye, the best slots first.


class TablesState(EliminationState, frozen=True, kw_only=True):
    """A knockout after some results."""

    slots: tuple[int, ...]
    """Entrants that began this round, in the order of their slots."""
    going_on: tuple[tuple[int, int], ...] = ()
    """Slot and entrant of all that have reached the next round."""
    out: tuple[tuple[int, ...], ...] = ()
    """Groups of entrants that are out, the first ones out first."""
    ranks: tuple[tuple[int, int], ...] = ()
    """Entrant and its rank in its match, for those that went out in this round."""
    used: tuple[tuple[int, ...], ...]
    """Entrant -> seat -> matches in it."""
    advance: int
    """Number of entrants that go on from a group."""
    counts: tuple[int, ...] = ()
    """Number of entrants that go on from each match of this round, byes included."""
    first: int = 0
    """The place of the first match of this round."""
    round: int = 0

    def after(self, played: PlayedPairing) -> "TablesState":
        """Return the state with the table settled, or with the table due again."""
        place, draws = self.place(played.pairing), self.draws(played.pairing)
        table, used, count = played.pairing.seats, list(self.used), self.counts[place - self.first]
        for seat, entrant in enumerate(table if len(table) > 1 else ()):
            used[entrant] = tuple(times + (at == seat) for at, times in enumerate(used[entrant]))
        state = replace(self, used=tuple(used))
        groups = played.ranking or (tuple(range(len(table))),)
        if not _is_clear(groups, count) and draws < self.replays:
            return _issue(state, place, draws + 1, seat_one(table, used))
        ranks = {table[seat]: rank for rank, group in enumerate(groups) for seat in group}
        return _settle_table(state, table, ranks, count)

    def withdraw(self, entrant: int) -> "TablesState":
        """Return the state without an entrant; all others at its table go on."""
        if entrant in self.withdrawn:
            return self
        return _without_match(replace(self, withdrawn=self.withdrawn | {entrant}), entrant)

    def conclude(self, played: PlayedPairing, leaving: Collection[int]) -> "TablesState":
        """Return the state after a result; who leaves with it is gone before the next round is drawn."""
        state = replace(self, withdrawn=self.withdrawn.union(leaving)).record(played)
        return reduce(_without_match, sorted(leaving), state)

    def later(self) -> int:
        """Return how many tables the rounds after this one have."""
        if not self.due:
            return 0
        through = sum(entrant not in self.withdrawn for _, entrant in self.going_on)
        through += sum(self.counts[self.place(pairing) - self.first] for pairing in self.due)
        return sum(tables_by_round(through, len(self.used[0]), self.advance))

    def places(self) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants from best to worst: those still in it, then as they went out, the last first."""
        gone = {entrant for group in self.out for entrant in group}
        left = tuple(entrant for entrant in self.seeds if entrant not in gone)
        return (*((left,) if left else ()), *reversed(self.out))


def start_tables(seeds: tuple[int, ...], seats: int, advance: int, replays: int) -> TablesState:
    """Return the state before the first match."""
    used = ((0,) * seats,) * len(seeds)
    return _next_round(TablesState(seeds=seeds, slots=seeds, used=used, advance=advance, replays=replays), seeds)


def tables_by_round(left: int, seats: int, advance: int) -> list[int]:
    """Return how many tables each round has, if so many entrants are left at its beginning and nobody withdraws."""
    counts = []
    while left >= seats:
        tables, extra = _cut(left, seats, advance)
        counts.append(tables)
        left = left - tables * (seats - advance) + extra if left > seats else 1
    return counts


def _is_clear(groups: Sequence[Sequence[int]], count: int) -> bool:
    """Tell whether a ranking says who the best are, so many."""
    through = 0
    for group in groups:
        if through == count:
            return True
        through += len(group)
    return through == count


def _without_match(state: TablesState, entrant: int) -> TablesState:
    """Return the state with the table settled at which an entrant sits that has withdrawn, if there is one."""
    broken = next((pairing for pairing in state.due if entrant in pairing.seats), None)
    if broken is None:
        return state
    table = broken.seats
    state = replace(state, due=tuple(pairing for pairing in state.due if pairing != broken))
    return _settle_table(state, table, {other: int(other == entrant) for other in table}, len(table) - 1)


def _settle_table(state: TablesState, table: Sequence[int], ranks: dict[int, int], count: int) -> TablesState:
    """Return the state with a table through: who goes on takes its best slots, the others are out."""
    slot = {entrant: at for at, entrant in enumerate(state.slots)}
    order = sorted(table, key=lambda entrant: (ranks.get(entrant, len(table)), slot[entrant]))
    best = sorted(slot[entrant] for entrant in table)[:count]
    lost = tuple((entrant, ranks.get(entrant, len(table))) for entrant in order[count:])
    through = (*state.going_on, *zip(best, order[:count], strict=True))
    state = replace(state, going_on=through, ranks=(*state.ranks, *lost))
    if state.due:
        return state
    return _next_round(_close_round(state), tuple(entrant for _, entrant in sorted(through)))


def _close_round(state: TablesState) -> TablesState:
    """Return the state with those who are out in groups: equally good ones of a round share one."""
    ranks = dict(state.ranks)
    groups = tuple(
        tuple(entrant for entrant in state.slots if ranks.get(entrant) == rank)
        for rank in sorted(set(ranks.values()), reverse=True)
    )
    return replace(state, out=(*state.out, *groups), ranks=(), going_on=())


def _next_round(state: TablesState, slots: tuple[int, ...]) -> TablesState:
    """Return the state with the tables of the next round, or with the last ones ranked if there is none."""
    left = tuple(entrant for entrant in slots if entrant not in state.withdrawn)
    gone = tuple(entrant for entrant in slots if entrant in state.withdrawn)
    out = (*state.out, gone) if gone else state.out
    seats = len(state.used[0])
    first = state.first + len(state.counts)
    state = replace(state, slots=left, out=out, round=state.round + 1, first=first, counts=())
    if len(left) < seats:
        return state
    tables, extra = _cut(len(left), seats, state.advance)
    byes = len(left) - tables * seats
    members = [seat_one(_snake(left[byes:], tables, index), state.used) for index in range(tables)]
    last = 1 if len(left) == seats else state.advance + extra
    state = replace(state, counts=(*(1,) * byes, *(state.advance,) * (tables - 1), last))
    for place, entrants in enumerate([*((entrant,) for entrant in left[:byes]), *members], first):
        state = _issue(state, place, 0, entrants)
    return state


def _snake(entrants: Sequence[int], tables: int, index: int) -> list[int]:
    """Return the members of one table: entrants are dealt out forwards and backwards by turns."""
    rows = range(0, len(entrants), tables)
    return [entrants[row + (index if turn % 2 == 0 else tables - 1 - index)] for turn, row in enumerate(rows)]


def _cut(left: int, seats: int, advance: int) -> tuple[int, int]:
    """Return how many tables play, and how many more than usual go on from the last of them.

    The aim is the next smaller number from which every round is full: the seats of the final, times seats / advance as
    often as it goes.
    """
    if left == seats:
        return 1, 0
    aim = seats
    while aim // advance * seats < left:
        aim = aim // advance * seats
    off = seats - advance
    tables = min(-(-(left - aim) // off), left // seats)
    return tables, max(0, tables * off - (left - aim))


def _issue(state: TablesState, place: int, draws: int, seats: tuple[int, ...]) -> TablesState:
    """Return the state with a match due, for the first time or again."""
    table = "final" if len(state.slots) == len(seats) else ""
    return state.issue(place, draws, seats=seats, round=state.round, table=table)


# --- The format


_SMALLEST_WITH_SEMI_FINALS = 4
State = bracket.State | TablesState


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an organiser may set."""

    third_place: bool = False
    """True if the losers of the semi-finals play for the third place; for two seats only."""
    replays: Annotated[int, Meta(ge=0, le=1000)] = 1
    """Number of times that an undecided match is played again before the better seed goes on."""
    advance: Annotated[int, Meta(ge=1, le=6)] | None = None
    """Number of entrants that go on from a match; it divides the seats. By default half of an even number of seats,
    else one."""


class Knockout(EliminationFormat[State]):
    """Who loses is out; the last one wins."""

    name = "knockout"
    title = "Knockout"
    seats = range(2, 13)
    options_type = Options

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field does not fill a match, or the options do not go with its seats.
        """
        self.check_field(field)
        advance = _advance(options, field)
        if advance == field.seats or field.seats % advance:
            raise BadFormat(f"of {field.seats} seats, {advance} can't go on: it takes a part without a remainder")
        if field.seats > 2 and options.third_place:
            raise BadFormat("a match for the third place is for two seats: larger finals rank all their seats")
        seeds = order_by_seed(field, shuffle)
        if field.seats > 2:
            return start_tables(seeds, field.seats, advance, options.replays)
        rounds = (len(seeds) - 1).bit_length()
        nodes = _nodes(rounds, third_place=options.third_place and len(seeds) >= _SMALLEST_WITH_SEMI_FINALS)
        return bracket.start(nodes, seeds, options.replays)

    def idle_options(self, raw: dict[str, Any], field: EntrantField) -> Iterator[tuple[str, str]]:
        """Yield a match for the third place that too small a field does not have."""
        if raw.get("third_place") and len(field.entrants) < _SMALLEST_WITH_SEMI_FINALS:
            yield "third_place", f"{len(field.entrants)} entrants play no two semi-finals"

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return how long it takes: of two seats, everybody but the winner loses once."""
        count = len(field.entrants)
        if field.seats == 2:
            matches = count - 1 + (options.third_place and count >= _SMALLEST_WITH_SEMI_FINALS)
            rounds = (count - 1).bit_length()
        else:
            tables = tables_by_round(count, field.seats, _advance(options, field))
            matches, rounds = sum(tables), len(tables)
        return Extent(fewest=matches, most=matches * (1 + options.replays), rounds=rounds)


def _advance(options: Options, field: EntrantField) -> int:
    return options.advance or (field.seats // 2 if field.seats % 2 == 0 else 1)


def _nodes(rounds: int, *, third_place: bool) -> Iterator[BracketMatch]:
    """Yield the matches of a bracket of two seats.

    Args:
        rounds: at least one.
        third_place: whether the losers of the semi-finals meet; there are two of them.
    """
    *early, [(one, two)] = bracket.winners_rounds(rounds)
    for number, pairs in enumerate(early, 1):
        is_semi = number == rounds - 1
        place = None if is_semi and third_place else 2 ** (rounds - number) + 1
        for pair in pairs:
            yield BracketMatch(table="semi-final" if is_semi else "", round=number, sources=pair, loser_place=place)
    if third_place:
        losers = (Source("loser", one.index), Source("loser", two.index))
        part = "third place"
        yield BracketMatch(part=part, table=part, round=rounds, sources=losers, winner_place=3, loser_place=4)
    yield BracketMatch(table="final", round=rounds, sources=(one, two), winner_place=1, loser_place=2)
