"""Knockout: the loser of a match is out. For two seats, the bracket is made here, and bracket.py applies results."""

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...games.base import Shuffle
from . import bracket
from .balanced_groups import seat_one
from .base import BadFormat, EntrantField, Extent, PlayedPairing, order_by_seed
from .bracket import BracketMatch, EliminationFormat, EliminationState, Source

# --- More than two seats
#
# In a knockout with more than two seats, the best entrants of each group go on to the next round.
#
# Each round begins with the remaining entrants, in the order of their slots. Entrants that go on take the best slots of
# their group, so the strongest seeds meet as late as the results allow. Groups are always full. If there are entrants
# for whom no group has room, those with the best slots get byes.


class GroupsState(EliminationState, frozen=True, kw_only=True):
    """A knockout after some results."""

    slots: tuple[int, ...]
    """Entrants at the beginning of this round, in the order of their slots."""
    going_on: tuple[tuple[int, int], ...] = ()
    """Slot and entrant, for each entrant that has reached the next round."""
    out: tuple[tuple[int, ...], ...] = ()
    """Groups of entrants that are out, in the order in which they went out."""
    ranks: tuple[tuple[int, int], ...] = ()
    """Entrant and its rank in its match, for each entrant that went out in this round."""
    used: tuple[tuple[int, ...], ...]
    """Entrant -> seat -> number of matches in this seat."""
    advance: int
    """Number of entrants that go on from a group."""
    counts: tuple[int, ...] = ()
    """Number of entrants that go on from each match of this round, including byes."""
    first: int = 0
    """Number of this round's first match, counted from 0 over the whole knockout."""
    round: int = 0

    def after(self, played: PlayedPairing) -> "GroupsState":
        """Return the state after a result: the group is decided, or is due again."""
        place, draws = self.place(played.pairing), self.draws(played.pairing)
        group, used, count = played.pairing.seats, list(self.used), self.counts[place - self.first]
        for seat, entrant in enumerate(group if len(group) > 1 else ()):
            used[entrant] = tuple(times + (at == seat) for at, times in enumerate(used[entrant]))
        state = replace(self, used=tuple(used))
        ranking = played.ranking or (tuple(range(len(group))),)
        if not _is_clear(ranking, count) and draws < self.replays:
            return _issue(state, place, draws + 1, seat_one(group, used))
        ranks = {group[seat]: rank for rank, equal in enumerate(ranking) for seat in equal}
        return _settle_group(state, group, ranks, count)

    def withdraw(self, entrant: int) -> "GroupsState":
        """Return the state without an entrant; all others of its group go on."""
        if entrant in self.withdrawn:
            return self
        return _without_match(replace(self, withdrawn=self.withdrawn | {entrant}), entrant)

    def conclude(self, played: PlayedPairing, leaving: Collection[int]) -> "GroupsState":
        """Return the state after a result; entrants that leave with it are removed before the next round is paired."""
        state = replace(self, withdrawn=self.withdrawn.union(leaving)).record(played)
        return reduce(_without_match, sorted(leaving), state)

    def later(self) -> int:
        """Return the number of groups of later rounds."""
        if not self.due:
            return 0
        through = sum(entrant not in self.withdrawn for _, entrant in self.going_on)
        through += sum(self.counts[self.place(pairing) - self.first] for pairing in self.due)
        return sum(groups_by_round(through, len(self.used[0]), self.advance))

    def places(self) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants from best to worst: those still in the tournament, then the last ones to go out."""
        gone = {entrant for group in self.out for entrant in group}
        left = tuple(entrant for entrant in self.seeds if entrant not in gone)
        return (*((left,) if left else ()), *reversed(self.out))


def start_groups(seeds: tuple[int, ...], seats: int, advance: int, replays: int) -> GroupsState:
    """Return the state before the first match."""
    used = ((0,) * seats,) * len(seeds)
    return _next_round(GroupsState(seeds=seeds, slots=seeds, used=used, advance=advance, replays=replays), seeds)


def groups_by_round(left: int, seats: int, advance: int) -> list[int]:
    """Return the number of groups of each round, beginning with `left` entrants, if nobody withdraws."""
    counts = []
    while left >= seats:
        groups, extra = _cut(left, seats, advance)
        counts.append(groups)
        left = left - groups * (seats - advance) + extra if left > seats else 1
    return counts


def _is_clear(groups: Sequence[Sequence[int]], count: int) -> bool:
    """Return whether a ranking separates exactly this number of best seats from the others."""
    through = 0
    for group in groups:
        if through == count:
            return True
        through += len(group)
    return through == count


def _without_match(state: GroupsState, entrant: int) -> GroupsState:
    """Decide the group of a withdrawn entrant, if it is due: all its other members go on."""
    broken = next((pairing for pairing in state.due if entrant in pairing.seats), None)
    if broken is None:
        return state
    group = broken.seats
    state = replace(state, due=tuple(pairing for pairing in state.due if pairing != broken))
    return _settle_group(state, group, {other: int(other == entrant) for other in group}, len(group) - 1)


def _settle_group(state: GroupsState, group: Sequence[int], ranks: dict[int, int], count: int) -> GroupsState:
    """Return the state after the match of a group: those that go on take its best slots, the others are out."""
    slot = {entrant: at for at, entrant in enumerate(state.slots)}
    order = sorted(group, key=lambda entrant: (ranks.get(entrant, len(group)), slot[entrant]))
    best = sorted(slot[entrant] for entrant in group)[:count]
    lost = tuple((entrant, ranks.get(entrant, len(group))) for entrant in order[count:])
    through = (*state.going_on, *zip(best, order[:count], strict=True))
    state = replace(state, going_on=through, ranks=(*state.ranks, *lost))
    if state.due:
        return state
    return _next_round(_close_round(state), tuple(entrant for _, entrant in sorted(through)))


def _close_round(state: GroupsState) -> GroupsState:
    """Return the state after a round: the losers are out, and equal ones share a place."""
    ranks = dict(state.ranks)
    groups = tuple(
        tuple(entrant for entrant in state.slots if ranks.get(entrant) == rank)
        for rank in sorted(set(ranks.values()), reverse=True)
    )
    return replace(state, out=(*state.out, *groups), ranks=(), going_on=())


def _next_round(state: GroupsState, slots: tuple[int, ...]) -> GroupsState:
    """Return the state with the groups of the next round, or with no match due if too few entrants are left for one."""
    left = tuple(entrant for entrant in slots if entrant not in state.withdrawn)
    gone = tuple(entrant for entrant in slots if entrant in state.withdrawn)
    out = (*state.out, gone) if gone else state.out
    seats = len(state.used[0])
    first = state.first + len(state.counts)
    state = replace(state, slots=left, out=out, round=state.round + 1, first=first, counts=())
    if len(left) < seats:
        return state
    groups, extra = _cut(len(left), seats, state.advance)
    byes = len(left) - groups * seats
    members = [seat_one(_snake(left[byes:], groups, index), state.used) for index in range(groups)]
    last = 1 if len(left) == seats else state.advance + extra
    state = replace(state, counts=(*(1,) * byes, *(state.advance,) * (groups - 1), last))
    for place, entrants in enumerate([*((entrant,) for entrant in left[:byes]), *members], first):
        state = _issue(state, place, 0, entrants)
    return state


def _snake(entrants: Sequence[int], groups: int, index: int) -> list[int]:
    """Return the members of one group: entrants are dealt out forwards and backwards by turns."""
    # Always forwards, the first group would get the best entrant of each row.
    rows = range(0, len(entrants), groups)
    return [entrants[row + (index if turn % 2 == 0 else groups - 1 - index)] for turn, row in enumerate(rows)]


def _cut(left: int, seats: int, advance: int) -> tuple[int, int]:
    """Return the number of groups, and how many more entrants than usual go on from the last of them.

    The aim is the largest number below `left` for which all later rounds are full. Such numbers are `seats`, multiplied
    by seats / advance several times.
    """
    # As in a knockout of two seats, only the first round is uneven: some groups play and all other entrants have byes,
    # so that the number of entrants fits for all later rounds. With byes in every round, the best seeds could reach the
    # final without a game.
    if left == seats:
        return 1, 0
    aim = seats
    while aim // advance * seats < left:
        aim = aim // advance * seats
    off = seats - advance
    groups = min(-(-(left - aim) // off), left // seats)
    return groups, max(0, groups * off - (left - aim))


def _issue(state: GroupsState, place: int, draws: int, seats: tuple[int, ...]) -> GroupsState:
    """Return the state with a match due, for the first time or again."""
    table = "final" if len(state.slots) == len(seats) else ""
    return state.issue(place, draws, seats=seats, round=state.round, table=table)


# --- The format


_SMALLEST_WITH_SEMI_FINALS = 4
State = bracket.State | GroupsState


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    third_place: bool = False
    """True if the losers of the semi-finals play for the third place; only for two seats."""
    replays: Annotated[int, Meta(ge=0, le=1000)] = 1
    """Number of times that an undecided match is played again before the better seed goes on."""
    advance: Annotated[int, Meta(ge=1, le=6)] | None = None
    """Number of entrants that go on from a match; it must divide the number of seats.

    The default is half of an even number of seats, and one for an odd number.
    """


class Knockout(EliminationFormat[State]):
    """A knockout: the loser of a match is out, and the last entrant wins."""

    name = "knockout"
    title = "Knockout"
    seats = range(2, 13)
    options_type = Options

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: there are too few entrants for a match, or the options do not fit the number of seats.
        """
        self.check_field(field)
        advance = _advance(options, field)
        if advance == field.seats or field.seats % advance:
            why = "`advance` must divide the seats, and be smaller"
            raise BadFormat(f"{advance} can't go on from a match of {field.seats} seats: {why}")
        if field.seats > 2 and options.third_place:
            raise BadFormat("a match for the third place is for two seats: larger finals rank all their seats")
        seeds = order_by_seed(field, shuffle)
        if field.seats > 2:
            return start_groups(seeds, field.seats, advance, options.replays)
        rounds = (len(seeds) - 1).bit_length()
        nodes = _nodes(rounds, third_place=options.third_place and len(seeds) >= _SMALLEST_WITH_SEMI_FINALS)
        return bracket.start(nodes, seeds, options.replays)

    def idle_options(self, raw: dict[str, Any], field: EntrantField) -> Iterator[tuple[str, str]]:
        """Yield `third_place` if it is set and the field is too small for two semi-finals."""
        if raw.get("third_place") and len(field.entrants) < _SMALLEST_WITH_SEMI_FINALS:
            yield "third_place", f"{len(field.entrants)} entrants play no two semi-finals"

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return the number of matches and rounds. With two seats, everybody but the winner loses once."""
        count = len(field.entrants)
        if field.seats == 2:
            matches = count - 1 + (options.third_place and count >= _SMALLEST_WITH_SEMI_FINALS)
            rounds = (count - 1).bit_length()
        else:
            groups = groups_by_round(count, field.seats, _advance(options, field))
            matches, rounds = sum(groups), len(groups)
        return Extent(fewest=matches, most=matches * (1 + options.replays), rounds=rounds)


def _advance(options: Options, field: EntrantField) -> int:
    return options.advance or (field.seats // 2 if field.seats % 2 == 0 else 1)


def _nodes(rounds: int, *, third_place: bool) -> Iterator[BracketMatch]:
    """Yield the matches of a bracket of two seats.

    Args:
        rounds: at least one.
        third_place: True if the losers of the two semi-finals meet.
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
