"""Swiss: everybody plays in every round, against opponents with equal points.

A library or a program pairs rounds of two seats by FIDE's Dutch system, outside of the fold; dutch.py checks them.
Groups of more seats are made here: neighbours in the ranking meet, and near groups exchange entrants to avoid repeated
meetings.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from math import ceil, log2
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...games.base import Shuffle
from . import base
from .balanced_groups import Counts, better, fewest, seat_one
from .dutch import TRF, check_round, complaint, read_output

_WALKOVER = "walkover"
_MOST = 1000
"""Largest field for two seats: to pair it takes most of a minute, and the time grows with the third power."""


TrfLine = Annotated[str, Meta(max_length=1000, pattern=r"^XX[AP] [ -~]+$(?!\n)")]
ProgramWord = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\x00]*$(?!\n)")]


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    rounds: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    """Number of rounds; by default as many as a knockout of two seats has."""
    pairing_program: Annotated[tuple[ProgramWord, ...], Meta(min_length=1)] | None = None
    """Command line of a program that pairs rounds of two seats instead of the built-in library.

    The word `{trf}` stands for the file that the program reads. It prints the groups in the form of bbpPairings.
    """
    pairing_lines: tuple[TrfLine, ...] = ()
    """Further lines for the file of the pairing program.

    `XXP {ada} {bob}` forbids a pair, and `XXA {ada}  1.0  1.0` accelerates an entrant. `{NAME}` stands for a starting
    number, in four columns.
    """
    pairing_limit: Annotated[float, Meta(gt=0, le=86_400)] = 120.0
    """Time limit of the pairing program for a round, in seconds."""


# Why is a round of two seats paired outside of the fold? It takes seconds for a large field, and the fold runs in the
# thread of the event loop, which could not read messages of players in this time. So the fold stops with `to_pair`, a
# process pairs the round, and the groups come back as an event. This has a second advantage: the record holds the
# pairing, so an audit needs neither the same library nor the same version. It checks the groups by the rules.
#
# Lines and points here belong to the format alone. They count half points, 2 for a win and 1 for a draw, independent of
# the organiser's scoring: the pairings must not depend on whether a win is worth three points.


class State(Struct, frozen=True, kw_only=True):
    """A tournament after some results."""

    rounds: int
    seats: int
    """Number of seats of a match."""
    order: tuple[int, ...]
    """Entrants by seed, best first. From round 1 on, they are in the order of starting numbers, absent ones last."""
    is_white_first: bool
    """True if the best seed has the first seat in round 1, in matches of two."""
    has_program: bool = False
    """True if the organiser's program may pair rounds."""
    lines: tuple[tuple[base.RoundLine, ...], ...]
    """Finished rounds of each entrant, except for those that it missed."""
    withdrawn: frozenset[int] = frozenset()
    round: int = 0
    """Number of the round that was paired last, from 1."""
    number: int = 0
    """Number of the last pairing."""
    due: tuple[base.Pairing, ...] = ()
    given_up: int = 0
    """Number of pairings that are not played because entrants withdrew, including those of later rounds."""


class Swiss(base.PairingFormat[State]):
    """A Swiss: in each round entrants with equal points meet, and nobody is eliminated."""

    name = "swiss"
    title = "Swiss"
    seats = range(2, 13)
    options_type = Options
    gives_late_byes = True

    def new(self, options: Any, field: base.EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field does not fill a match, or is too large.
        """
        self.check_field(field)
        count = len(field.entrants)
        if field.seats == 2 and count > _MOST:
            raise base.BadFormat(f"{count} entrants are too many for {self.name}: it pairs {_MOST} at most")
        has_program = options.pairing_program is not None
        if has_program and field.seats > 2:
            raise base.BadFormat(f"a pairing_program pairs matches of 2, not of {field.seats}")
        if has_program and not any(TRF in word for word in options.pairing_program):
            raise base.BadFormat(f'pairing_program: one of its words must hold "{TRF}", which stands for its file')
        if options.pairing_lines and not has_program:
            raise base.BadFormat("pairing_lines are for a pairing_program: the built-in library does not read them")
        state = State(
            rounds=_rounds(options, field),
            seats=field.seats,
            order=base.order_by_seed(field, shuffle),
            is_white_first=shuffle.later(1)([True, False])[0],
            has_program=has_program,
            lines=((),) * count,
        )
        return _pair_groups(state)

    def idle_options(self, raw: dict[str, Any], field: base.EntrantField) -> Iterator[tuple[str, str]]:
        """Yield the limit of a pairing program if there is no such program."""
        if "pairing_limit" in raw and raw.get("pairing_program") is None:
            yield "pairing_limit", "it is for a pairing_program, and there is none"

    def extent(self, options: Any, field: base.EntrantField) -> base.Extent:
        """Return the length: every round has as many groups as the field can fill."""
        rounds = _rounds(options, field)
        matches = rounds * (len(field.entrants) // field.seats)
        return base.Extent(fewest=matches, most=matches, rounds=rounds)

    def count_cancelled_pairings(self, state: State) -> int:
        """Return how many groups are left out because of withdrawals, in this round and in later ones."""
        return state.given_up

    def later(self, state: State) -> int:
        """Return the number of groups in the rounds that are not paired yet."""
        return (state.rounds - state.round) * ((len(state.lines) - len(state.withdrawn)) // state.seats)

    def due(self, state: State) -> tuple[base.Pairing, ...]:
        """Return the pairings of the round that have no result yet."""
        return state.due

    def to_pair(self, state: State) -> base.RoundToPair | None:
        """Return the next round of two seats, after all results of the previous one have come; None before that."""
        if state.seats > 2 or _is_settled(state):
            return None
        return base.RoundToPair(round=state.round + 1, played=make_played_rounds(state))

    def take_round(self, state: State, groups: tuple[base.Group, ...]) -> State:
        """Return the state with a round of two seats that was paired.

        Raises:
            BadPairing: no round must be paired now, or the groups break a rule.
        """
        request = self.to_pair(state)
        if request is None:
            raise base.BadPairing("no round is to be paired")
        wrong = complaint(groups, request.played)
        if wrong is not None:
            raise base.BadPairing(f"round {request.round}: {wrong}")
        return _open_round(state, groups)

    def take_printed_round(self, state: State, groups: tuple[base.Group, ...], output: str) -> State:
        """Return the state with a round of two seats that the organiser's program paired.

        Raises:
            BadPairing: no round must be paired now, or not by a program; or the groups differ from the output, or break
                a rule that holds for every pairing.
        """
        request = self.to_pair(state)
        if request is None:
            raise base.BadPairing("no round is to be paired")
        if not state.has_program:
            raise base.BadPairing("its tournament names no pairing_program")
        if read_output(output, request.played) != groups:
            raise base.BadPairing("the groups are not those that the program printed")
        check_round(groups, request.played)
        return _open_round(state, groups)

    def record(self, state: State, played: base.PlayedPairing) -> State:
        """Return the state after a result.

        Raises:
            NotDue: the pairing is not due.
        """
        return _pair_groups(_record(state, played))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state without an entrant; the others of its group get a walkover instead of the match."""
        return _pair_groups(_remove(state, entrant))

    def conclude(self, state: State, played: base.PlayedPairing, leaving: Iterable[int]) -> State:
        """Return the state after a result; entrants that leave with it are in no later round.

        Raises:
            NotDue: the pairing is not due.
        """
        return _pair_groups(reduce(_remove, leaving, _record(state, played)))

    def join(self, state: State, field: base.EntrantField) -> State:
        """Return the state with another entrant, as the last seed. It gets byes for the rounds that it has missed.

        Raises:
            BadRuling: the last round is paired.
        """
        if state.round == state.rounds:
            raise base.BadRuling("nobody can join a Swiss whose last round is paired")
        entrant, first = len(state.lines), state.number + 1
        byes = tuple(
            base.Pairing(number=first + index, round=index + 1, seats=(entrant,), table=base.LATE)
            for index in range(state.round)
        )
        return replace(
            state,
            order=(*state.order, entrant),
            lines=(*state.lines, ()),
            due=(*state.due, *byes),
            number=state.number + len(byes),
        )

    def reinstate(self, state: State, entrant: int) -> State:
        """Return the state with an entrant that comes back from the next round on; missed rounds give no points."""
        staying, seats = len(state.lines) - len(state.withdrawn), state.seats
        later = (state.rounds - state.round) * ((staying + 1) // seats - staying // seats)
        withdrawn = state.withdrawn - {entrant}
        return replace(state, withdrawn=withdrawn, given_up=max(state.given_up - later, 0))

    def count_rounds(self, state: State) -> int:
        """Return how many rounds are paired."""
        return state.round

    def revise(self, state: State, old: base.PlayedPairing | None, new: base.PlayedPairing | None) -> State:
        """Return the state after a result has changed; rounds that were paired with the old points stay as they are."""
        result = old or new
        assert result is not None, "there is an old or a new result"
        points = [0] * len(result.pairing.seats) if new is None else base.half_points(new)
        worth = dict(zip(result.pairing.seats, points, strict=True))
        return replace(
            state,
            lines=tuple(
                tuple(
                    replace(line, points=worth[entrant])
                    if entrant in worth and line.round == result.pairing.round
                    else line
                    for line in own
                )
                for entrant, own in enumerate(state.lines)
            ),
        )

    def is_over(self, state: State) -> bool:
        """Return whether nothing is due and no round is left."""
        return not state.due and _is_settled(state)


def make_played_rounds(state: State) -> base.PlayedRounds:
    """Return the finished rounds of a tournament of two seats."""
    through = state.round - bool(state.due)
    return base.PlayedRounds(
        rounds=state.rounds,
        through=through,
        order=_number_entrants(state),
        lines=tuple(tuple(line for line in own if line.round <= through) for own in state.lines),
        away=state.withdrawn,
        is_white_first=state.is_white_first,
    )


def _number_entrants(state: State) -> tuple[int, ...]:
    """Return the entrants by starting number.

    Before round 1, entrants that have withdrawn get the last numbers. The first colour depends on whether a number is
    odd, so in the middle they would exchange the colours of all pairs below them.
    """
    if state.round:
        return state.order
    return tuple(sorted(state.order, key=state.withdrawn.__contains__))


def _record(state: State, played: base.PlayedPairing) -> State:
    """Return the state after a result, before the next round is paired."""
    due = base.without(state.due, played)
    group = played.pairing.seats
    if not played.pairing.is_bye:
        points = base.half_points(played)
        lines = {entrant: base.RoundLine(state.round, group, points[seat]) for seat, entrant in enumerate(group)}
        return replace(_add_lines(state, lines), due=due)
    (entrant,) = group
    if played.pairing.table == base.LATE:
        line = base.RoundLine(played.pairing.round, group, base.bye_half_points(state.seats) // 2, "H")
    else:
        unplayed, group = ("+", _walked_over(state, entrant)) if played.pairing.table == _WALKOVER else ("U", group)
        line = base.RoundLine(state.round, group, base.bye_half_points(state.seats), unplayed)
    return replace(_add_lines(state, {entrant: line}), due=due)


def _remove(state: State, entrant: int) -> State:
    """Return the state without an entrant, before the next round is paired."""
    if entrant in state.withdrawn:
        return state
    gone = [pairing for pairing in state.due if entrant in pairing.seats]
    left = [other for pairing in gone for other in pairing.seats if other != entrant]
    byes = tuple(
        base.Pairing(number=number, round=state.round, seats=(other,), table=_WALKOVER)
        for number, other in enumerate(left, start=state.number + 1)
    )
    due = (*(pairing for pairing in state.due if pairing not in gone), *byes)
    number, withdrawn, seats = state.number + len(byes), state.withdrawn | {entrant}, state.seats
    staying = len(state.lines) - len(withdrawn)
    later = (state.rounds - state.round) * ((staying + 1) // seats - staying // seats)
    lost = state.given_up + later + sum(not pairing.is_bye for pairing in gone)
    for pairing in gone:
        group = _walked_over(state, entrant) if pairing.table == _WALKOVER else pairing.seats
        if len(group) > 1:
            state = _add_lines(state, {entrant: base.RoundLine(state.round, group, 0, "-")})
    return replace(state, due=due, number=number, withdrawn=withdrawn, given_up=lost)


def _rounds(options: Options, field: base.EntrantField) -> int:
    return options.rounds or ceil(log2(len(field.entrants)))


def _add_lines(state: State, lines: dict[int, base.RoundLine]) -> State:
    """Return the state with another round of some entrants."""
    return replace(
        state,
        lines=tuple((*own, lines[entrant]) if entrant in lines else own for entrant, own in enumerate(state.lines)),
    )


def _walked_over(state: State, entrant: int) -> base.Group:
    """Return the group of the round to which an entrant with a walkover belonged."""
    lines = (own[-1] for own in state.lines if own)
    return next(line.group for line in lines if line.round == state.round and {entrant} < {*line.group})


def _is_settled(state: State) -> bool:
    """Return whether no round can be paired now: one is being played, or there are no more."""
    return bool(state.due) or state.round == state.rounds or len(state.lines) - len(state.withdrawn) < state.seats


def _pair_groups(state: State) -> State:
    """Return the state with the next round of more than two seats paired, if the last one is over."""
    if state.seats == 2 or _is_settled(state):
        return state
    active = [entrant for entrant in state.order if entrant not in state.withdrawn]
    points = [sum(line.points for line in own) for own in state.lines]
    ranked = sorted(active, key=lambda entrant: -points[entrant])
    return _open_round(state, _make_groups(ranked, state.seats, state.lines, is_first=state.round == 0))


def _open_round(state: State, groups: Sequence[base.Group]) -> State:
    """Return the state with the next round, given its groups. The first round fixes the starting numbers."""
    due = tuple(
        base.Pairing(number=number, round=state.round + 1, seats=group)
        for number, group in enumerate(groups, start=state.number + 1)
    )
    return replace(state, order=_number_entrants(state), due=due, round=state.round + 1, number=state.number + len(due))


def _make_groups(
    ranked: Sequence[int], seats: int, lines: Sequence[Sequence[base.RoundLine]], *, is_first: bool
) -> list[base.Group]:
    """Make the groups of a round of more seats.

    Args:
        ranked: entrants that play, best first.
        seats: number of seats of a group.
        lines: rounds of each entrant so far.
        is_first: True in the first round, in which each group gets strong and weak entrants.

    Returns:
        Entrants by seat of each group, from the first board; byes come last.
    """
    byes = [sum(line.unplayed == "U" for line in own) for own in lines]
    resting = fewest(ranked, byes, len(ranked) % seats)
    order = [entrant for entrant in ranked if entrant not in resting]
    count = len(order) // seats
    together = [
        order[place::count] if is_first else order[place * seats : (place + 1) * seats] for place in range(count)
    ]
    met, used = _counts(seats, lines)
    better(together, met, 2)
    return [*(seat_one(group, used) for group in together), *((entrant,) for entrant in resting)]


def _counts(seats: int, lines: Sequence[Sequence[base.RoundLine]]) -> tuple[Counts, Counts]:
    """Return entrant -> entrant -> number of meetings, and entrant -> seat -> number of matches in this seat."""
    met, used = [[0] * len(lines) for _ in lines], [[0] * seats for _ in lines]
    for entrant, own in enumerate(lines):
        for line in own:
            if not line.unplayed:
                used[entrant][line.group.index(entrant)] += 1
                for other in line.group:
                    met[entrant][other] += other != entrant
    return met, used
