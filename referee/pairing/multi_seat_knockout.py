"""The fold of a knockout with more than two seats: rounds of tables, the best of each go on.

Each round begins with those that are left in the order of their slots; who goes on takes over the best slots of its
table, so the strongest seeds are kept apart as long as results allow. Tables are always full; who finds no room has a
bye, the best slots first.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from .balanced_tables import seat_one
from .base import Pairing, PlayedPairing, without


class State(Struct, frozen=True, kw_only=True):
    """A knockout after some results."""

    seeds: tuple[int, ...]
    """Entrants, best first."""
    slots: tuple[int, ...]
    """Those that began this round, in the order of their slots."""
    going_on: tuple[tuple[int, int], ...] = ()
    """Slot and entrant of all that are through to the next round."""
    out: tuple[tuple[int, ...], ...] = ()
    """Groups of those that are out, the first ones out first."""
    places: tuple[tuple[int, int], ...] = ()
    """Entrant and place at its table, of those that went out in this round."""
    used: tuple[tuple[int, ...], ...]
    """Entrant -> seat -> matches in it."""
    advance: int
    """How many of a table go on."""
    replays: int
    """How often a table is played again that does not say who goes on, before the better slots do."""
    due: tuple[Pairing, ...] = ()
    open: tuple[tuple[int, int], ...] = ()
    """By pairing that is due: how many go on, and how often it was drawn already."""
    withdrawn: frozenset[int] = frozenset()
    round: int = 0
    number: int = 0
    """Of the last pairing."""


def start(seeds: tuple[int, ...], seats: int, advance: int, replays: int) -> State:
    """Return the state before the first match."""
    used = ((0,) * seats,) * len(seeds)
    return _next_round(State(seeds=seeds, slots=seeds, used=used, advance=advance, replays=replays), seeds)


def tables_by_round(left: int, seats: int, advance: int) -> list[int]:
    """Return how many tables each round has, if nobody withdraws.

    Args:
        left: how many entrants begin.
        seats: of a table.
        advance: how many of a table go on.
    """
    found = []
    while left >= seats:
        tables, extra = _cut(left, seats, advance)
        found.append(tables)
        left = left - tables * (seats - advance) + extra if left > seats else 1
    return found


def record(state: State, played: PlayedPairing) -> State:
    """Return the state after a result.

    Raises:
        NotDue: its pairing is not due.
    """
    due = without(state.due, played)
    place = next(place for place, pairing in enumerate(state.due) if pairing.number == played.pairing.number)
    (count, draws), table = state.open[place], state.due[place].seats
    used = list(state.used)
    if len(table) > 1:
        for seat, entrant in enumerate(table):
            used[entrant] = tuple(times + (at == seat) for at, times in enumerate(used[entrant]))
    opened = state.open[:place] + state.open[place + 1 :]
    after = replace(state, due=due, open=opened, used=tuple(used))
    groups = played.ranking or (tuple(range(len(table))),)
    if not _is_clear(groups, count) and draws < state.replays:
        again = seat_one(table, used)
        return _issued(after, again, count, draws + 1)
    ranks = {table[seat]: rank for rank, group in enumerate(groups) for seat in group}
    return _settled(after, table, ranks, count)


def withdraw(state: State, entrant: int) -> State:
    """Return the state without an entrant; of a table that it breaks up, all others go on."""
    if entrant in state.withdrawn:
        return state
    state = replace(state, withdrawn=state.withdrawn | {entrant})
    place = next((place for place, pairing in enumerate(state.due) if entrant in pairing.seats), None)
    if place is None:
        return state
    table = state.due[place].seats
    due, opened = state.due[:place] + state.due[place + 1 :], state.open[:place] + state.open[place + 1 :]
    ranks = {other: int(other == entrant) for other in table}
    return _settled(replace(state, due=due, open=opened), table, ranks, len(table) - 1)


def places(state: State) -> tuple[tuple[int, ...], ...]:
    """Return groups of entrants from best to worst: those still in it, then as they went out, the last first."""
    gone = {entrant for group in state.out for entrant in group}
    left = tuple(entrant for entrant in state.seeds if entrant not in gone)
    return (*((left,) if left else ()), *reversed(state.out))


def _is_clear(groups: Sequence[Sequence[int]], count: int) -> bool:
    """Tell whether a ranking says who the best are, so many."""
    through = 0
    for group in groups:
        if through == count:
            return True
        through += len(group)
    return through == count


def _settled(state: State, table: Sequence[int], ranks: dict[int, int], count: int) -> State:
    """Return the state with a table through: who goes on takes its best slots, the others are out."""
    slot = {entrant: at for at, entrant in enumerate(state.slots)}
    order = sorted(table, key=lambda entrant: (ranks.get(entrant, len(table)), slot[entrant]))
    best = sorted(slot[entrant] for entrant in table)[:count]
    lost = tuple((entrant, ranks.get(entrant, len(table))) for entrant in order[count:])
    through = (*state.going_on, *zip(best, order[:count], strict=True))
    state = replace(state, going_on=through, places=(*state.places, *lost))
    if state.due:
        return state
    return _next_round(_closed(state), tuple(entrant for _, entrant in sorted(through)))


def _closed(state: State) -> State:
    """Return the state with those who are out in groups: equally good ones of a round share one."""
    ranks = sorted({rank for _, rank in state.places}, reverse=True)
    groups = tuple(tuple(entrant for entrant, place in state.places if place == rank) for rank in ranks)
    return replace(state, out=(*state.out, *groups), places=(), going_on=())


def _next_round(state: State, slots: tuple[int, ...]) -> State:
    """Return the state with the tables of the next round, or with the last ones ranked if there is none."""
    left = tuple(entrant for entrant in slots if entrant not in state.withdrawn)
    gone = tuple(entrant for entrant in slots if entrant in state.withdrawn)
    out = (*state.out, gone) if gone else state.out
    seats = len(state.used[0])
    state = replace(state, slots=left, out=out, round=state.round + 1)
    if len(left) < seats:
        return state
    tables, extra = _cut(len(left), seats, state.advance)
    byes = len(left) - tables * seats
    for entrant in left[:byes]:
        state = _issued(state, (entrant,), 1, 0)
    for index in range(tables):
        members = _snake(left[byes:], tables, index)
        count = state.advance + (extra if index == tables - 1 else 0)
        state = _issued(state, seat_one(members, state.used), 1 if len(left) == seats else count, 0)
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


def _issued(state: State, seats: tuple[int, ...], count: int, draws: int) -> State:
    """Return the state with one more pairing due, from which so many go on."""
    is_final = len(state.slots) == len(seats)
    number = state.number + 1
    pairing = Pairing(number=number, round=state.round, seats=seats, table="final" if is_final else "")
    return replace(state, due=(*state.due, pairing), open=(*state.open, (count, draws)), number=number)
