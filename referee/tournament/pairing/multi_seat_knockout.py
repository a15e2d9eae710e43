"""The fold of a knockout with more than two seats: rounds of tables, the best of each go on.

Each round begins with those that are left in the order of their slots; who goes on takes over the best slots of its
table, so the strongest seeds are kept apart as long as results allow. Tables are always full; who finds no room has a
bye, the best slots first.
"""

from collections.abc import Collection, Sequence
from functools import reduce

from msgspec.structs import replace

from .balanced_tables import seat_one
from .base import PlayedPairing
from .elimination import EliminationState


class State(EliminationState, frozen=True, kw_only=True):
    """A knockout after some results."""

    slots: tuple[int, ...]
    """Those that began this round, in the order of their slots."""
    going_on: tuple[tuple[int, int], ...] = ()
    """Slot and entrant of all that are through to the next round."""
    out: tuple[tuple[int, ...], ...] = ()
    """Groups of those that are out, the first ones out first."""
    ranks: tuple[tuple[int, int], ...] = ()
    """Entrant and rank at its table, of those that went out in this round."""
    used: tuple[tuple[int, ...], ...]
    """Entrant -> seat -> matches in it."""
    advance: int
    """How many of a table go on."""
    counts: tuple[int, ...] = ()
    """How many go on from each match of this round, byes included."""
    first: int = 0
    """The place of the first match of this round."""
    round: int = 0

    def after(self, played: PlayedPairing) -> "State":
        """Return the state with the table settled, or with the table due again."""
        place, draws = self.place(played.pairing), self.draws(played.pairing)
        table, used, count = played.pairing.seats, list(self.used), self.counts[place - self.first]
        for seat, entrant in enumerate(table if len(table) > 1 else ()):
            used[entrant] = tuple(times + (at == seat) for at, times in enumerate(used[entrant]))
        state = replace(self, used=tuple(used))
        groups = played.ranking or (tuple(range(len(table))),)
        if not _is_clear(groups, count) and draws < self.replays:
            return _issued(state, place, draws + 1, seat_one(table, used))
        ranks = {table[seat]: rank for rank, group in enumerate(groups) for seat in group}
        return _settled(state, table, ranks, count)

    def withdraw(self, entrant: int) -> "State":
        """Return the state without an entrant; all others at its table go on."""
        if entrant in self.withdrawn:
            return self
        return _without_match(replace(self, withdrawn=self.withdrawn | {entrant}), entrant)

    def conclude(self, played: PlayedPairing, leaving: Collection[int]) -> "State":
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


def start(seeds: tuple[int, ...], seats: int, advance: int, replays: int) -> State:
    """Return the state before the first match."""
    used = ((0,) * seats,) * len(seeds)
    return _next_round(State(seeds=seeds, slots=seeds, used=used, advance=advance, replays=replays), seeds)


def tables_by_round(left: int, seats: int, advance: int) -> list[int]:
    """Return how many tables each round has, if so many entrants are left at its beginning and nobody withdraws."""
    found = []
    while left >= seats:
        tables, extra = _cut(left, seats, advance)
        found.append(tables)
        left = left - tables * (seats - advance) + extra if left > seats else 1
    return found


def _is_clear(groups: Sequence[Sequence[int]], count: int) -> bool:
    """Tell whether a ranking says who the best are, so many."""
    through = 0
    for group in groups:
        if through == count:
            return True
        through += len(group)
    return through == count


def _without_match(state: State, entrant: int) -> State:
    """Return the state with the table settled at which an entrant sits that has withdrawn, if there is one."""
    broken = next((pairing for pairing in state.due if entrant in pairing.seats), None)
    if broken is None:
        return state
    table = broken.seats
    state = replace(state, due=tuple(pairing for pairing in state.due if pairing != broken))
    return _settled(state, table, {other: int(other == entrant) for other in table}, len(table) - 1)


def _settled(state: State, table: Sequence[int], ranks: dict[int, int], count: int) -> State:
    """Return the state with a table through: who goes on takes its best slots, the others are out."""
    slot = {entrant: at for at, entrant in enumerate(state.slots)}
    order = sorted(table, key=lambda entrant: (ranks.get(entrant, len(table)), slot[entrant]))
    best = sorted(slot[entrant] for entrant in table)[:count]
    lost = tuple((entrant, ranks.get(entrant, len(table))) for entrant in order[count:])
    through = (*state.going_on, *zip(best, order[:count], strict=True))
    state = replace(state, going_on=through, ranks=(*state.ranks, *lost))
    if state.due:
        return state
    return _next_round(_closed(state), tuple(entrant for _, entrant in sorted(through)))


def _closed(state: State) -> State:
    """Return the state with those who are out in groups: equally good ones of a round share one."""
    ranks = dict(state.ranks)
    groups = tuple(
        tuple(entrant for entrant in state.slots if ranks.get(entrant) == rank)
        for rank in sorted(set(ranks.values()), reverse=True)
    )
    return replace(state, out=(*state.out, *groups), ranks=(), going_on=())


def _next_round(state: State, slots: tuple[int, ...]) -> State:
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
        state = _issued(state, place, 0, entrants)
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


def _issued(state: State, place: int, draws: int, seats: tuple[int, ...]) -> State:
    """Return the state with a match due, for the first time or again."""
    table = "final" if len(state.slots) == len(seats) else ""
    return state.issued(place, draws, seats=seats, round=state.round, table=table)
