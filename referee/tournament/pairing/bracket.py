"""The parts that all knockouts share, and the bracket for knockouts of two seats.

The places of all matches are known before their entrants, and so are the numbers of the matches and of their replays.
So the same results always give the same matches, in whatever order the results come in.
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import Literal, Self, TypeVar

from msgspec import Struct, StructMeta
from msgspec.structs import replace

from .base import BadRuling, BracketPlace, Pairing, PairingFormat, PlayedPairing, without


class _AbstractStruct(StructMeta, ABCMeta):
    """Metaclass of structs with abstract methods."""


class EliminationState(Struct, frozen=True, kw_only=True, metaclass=_AbstractStruct):
    """A knockout after some results."""

    seeds: tuple[int, ...]
    """Entrants, best first."""
    replays: int
    """Number of times that an undecided match is played again before the better seeds go on."""
    due: tuple[Pairing, ...] = ()
    """Pairings that are due, in the order of their numbers."""
    withdrawn: frozenset[int] = frozenset()

    def record(self, played: PlayedPairing) -> Self:
        """Return the state after a result.

        Raises:
            NotDue: its pairing is not due.
        """
        return replace(self, due=without(self.due, played)).after(played)

    @abstractmethod
    def withdraw(self, entrant: int) -> Self:
        """Return the state without an entrant; its next opponent goes on."""

    def conclude(self, played: PlayedPairing, leaving: Collection[int]) -> Self:
        """Return the state after a result, without entrants that leave with it.

        Raises:
            NotDue: its pairing is not due.
        """
        return reduce(type(self).withdraw, leaving, self.record(played))

    def place(self, pairing: Pairing) -> int:
        """Return the place of a match, from 0."""
        return (pairing.number - 1) // (self.replays + 1)

    def draws(self, pairing: Pairing) -> int:
        """Return how many undecided matches were played before a pairing of the same place."""
        return (pairing.number - 1) % (self.replays + 1)

    def issue(self, place: int, draws: int, *, seats: tuple[int, ...], round: int, table: str) -> Self:  # noqa: A002  # a pairing's
        """Return the state with one more pairing due.

        Args:
            place: place of the match, from 0.
            draws: number of earlier games of it that decided nothing.
            seats: entrants by seat.
            round: round of the pairing.
            table: label of the pairing.
        """
        pairing = Pairing(number=place * (self.replays + 1) + draws + 1, seats=seats, round=round, table=table)
        return replace(self, due=tuple(sorted((*self.due, pairing), key=lambda other: other.number)))

    def take_back(self, old: PlayedPairing) -> Self:
        """Return the state without a result.

        Raises:
            BadRuling: later matches follow from it.
        """
        raise BadRuling("a result can't be changed where several go on from a table: later tables follow from it")

    @abstractmethod
    def after(self, played: PlayedPairing) -> Self:
        """Return the state after the result of a pairing that is no longer due."""

    def bracket(self) -> tuple[BracketPlace, ...]:
        """Return the places of the bracket; empty if they depend on results."""
        return ()

    @abstractmethod
    def later(self) -> int:
        """Return the number of matches that will follow after the due ones, if there are no more draws."""

    @abstractmethod
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants from best to worst: those still in the tournament, then the last ones to go out."""


S = TypeVar("S", bound=EliminationState)


class EliminationFormat(PairingFormat[S]):
    """A knockout format: it passes each call on to its state."""

    def due(self, state: S) -> tuple[Pairing, ...]:
        """Return every pairing that may be played now."""
        return state.due

    def record(self, state: S, played: PlayedPairing) -> S:
        """Return the state after a result.

        Raises:
            NotDue: the pairing is not due.
        """
        return state.record(played)

    def withdraw(self, state: S, entrant: int) -> S:
        """Return the state without an entrant; its next opponent goes on."""
        return state.withdraw(entrant)

    def conclude(self, state: S, played: PlayedPairing, leaving: Iterable[int]) -> S:
        """Return the state after a result, without entrants that leave with it.

        Raises:
            NotDue: the pairing is not due.
        """
        return state.conclude(played, frozenset(leaving))

    def revise(self, state: S, old: PlayedPairing | None, new: PlayedPairing | None) -> S:
        """Return the state after a result was taken back, or was replaced by a new one.

        Raises:
            BadRuling: matches that depend on the result have been played.
        """
        state = state if old is None else state.take_back(old)
        return state if new is None else state.after(new)

    def later(self, state: S) -> int:
        """Return the least number of matches that will follow after the due ones."""
        return state.later()

    def bracket(self, state: S) -> tuple[BracketPlace, ...]:
        """Return the places of the bracket; empty if they depend on results."""
        return state.bracket()

    def explain_order(self) -> str:
        """Return a sentence that explains the order of the standings."""
        return "The winner comes first, then who went out last; points and tie-breaks order those who are equal."

    def places(self, state: S) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants from best to worst; those that went out in one round share one."""
        return state.places()


# --- A graph of matches of two
#
# A match is due as soon as both its entrants are known. An entrant that has withdrawn stays in the graph, and loses
# each match that it reaches without a game; an entrant without an opponent goes on. So a withdrawal does not change the
# graph, and two withdrawals give the same result in either order.
#
# Numbers follow from places: each place has a fixed range of numbers for its match and all possible replays. So a
# replay always has the same name and the same deal, whatever happened in other matches.


NOBODY = -1


class Source(Struct, frozen=True):
    """Where an entrant of a match comes from."""

    kind: Literal["seed", "winner", "loser"]
    index: int
    """Number of the seed, from 0, or index of the match."""


class BracketMatch(Struct, frozen=True, kw_only=True):
    """One match of the graph."""

    part: str = ""
    """Name of the bracket it belongs to; empty if there is only one bracket."""
    table: str
    round: int
    sources: tuple[Source, Source]
    """Where the two entrants come from. Source matches come before this match in the graph.

    In the first round, the first source is the better seed.
    """
    winner_place: int | None = None
    """Final place of the winner, from 1; None if the winner plays on."""
    loser_place: int | None = None
    """Final place of the loser; None if the loser plays on. The losers of several matches can share a place."""
    is_reset: bool = False
    """True if the match is played only if the second entrant of the previous match has won it."""


class State(EliminationState, frozen=True, kw_only=True):
    """A bracket after some results; the place of a match is its index in the graph."""

    nodes: tuple[BracketMatch, ...]
    """All possible matches. Each comes after the matches that it waits for."""
    results: tuple[tuple[int, int] | None, ...]
    """Winner and loser of each match, each of which may be NOBODY; None if the match is open."""
    played: frozenset[int] = frozenset()
    """Matches whose results come from a game or a ruling."""
    leans: tuple[int, ...]
    """For each entrant, the number of its matches in the first seat, less the number in the second."""

    def after(self, played: PlayedPairing) -> "State":
        """Return the state after a result: the match is decided, or is due again."""
        place, seats = self.place(played.pairing), played.pairing.seats
        state = replace(self, leans=_lean(self, seats, 1))
        winner = _winner(self, played)
        if winner is None:
            return _issue(state, place, self.draws(played.pairing) + 1, (seats[1], seats[0]))
        loser = next((entrant for entrant in seats if entrant != winner), NOBODY)
        return _decide(replace(state, played=state.played | {place}), place, (winner, loser))

    def withdraw(self, entrant: int) -> "State":
        """Return the state without an entrant; its next opponent goes on.

        Matches that the entrant won without a game are decided again, and so are the matches after them that were not
        played. So if two entrants withdraw at about the same time, the order does not matter.
        """
        if entrant in self.withdrawn:
            return self
        results, gone = list(self.results), set[int]()
        for index, node in enumerate(self.nodes):
            follows = not gone.isdisjoint(source.index for source in node.sources if source.kind != "seed")
            if index not in self.played and (follows or entrant in (results[index] or ())):
                gone.add(index)
                results[index] = None
        due = tuple(pairing for pairing in self.due if entrant not in pairing.seats)
        left = replace(self, results=tuple(results), due=due, withdrawn=self.withdrawn | {entrant})
        return _open_matches(left, 0)

    def take_back(self, old: PlayedPairing) -> "State":
        """Return the state without a result, and without later results that followed from it without a game."""
        place = self.place(old.pairing)
        if self.results[place] is None or _winner(self, old) is None:
            raise BadRuling("the match was played again, and only the last one can be ruled on")
        results, gone = list(self.results), {place}
        for index, node in enumerate(self.nodes):
            if gone.isdisjoint(source.index for source in node.sources if source.kind != "seed"):
                continue
            gone.add(index)
            if index in self.played:
                raise BadRuling("later matches that follow from it have been played")
        for index in gone:
            results[index] = None
        leans, played = _lean(self, old.pairing.seats, -1), self.played - {place}
        due = tuple(pairing for pairing in self.due if self.place(pairing) not in gone)
        return replace(self, results=tuple(results), leans=leans, due=due, played=played)

    def later(self) -> int:
        """Return the number of matches that wait for an entrant from another match, and will need a game."""
        waiting, comes = 0, list[tuple[bool, bool]]()
        """For each match: whether its winner, and whether its loser, will be an entrant that still takes part."""
        for node, result in zip(self.nodes, self.results, strict=True):
            first, second = (self._plays(source, comes) for source in node.sources)
            if result is not None:
                winner, loser = result
                comes.append((self._is_there(winner), self._is_there(loser)))
                continue
            is_waiting = any(_entrant(self, source) is None for source in node.sources)
            waiting += first and second and is_waiting and not node.is_reset
            comes.append((first or second, first and second))
        return waiting

    def _plays(self, source: Source, comes: Sequence[tuple[bool, bool]]) -> bool:
        if source.kind != "seed":
            return comes[source.index][source.kind == "loser"]
        return self._is_there(self.seeds[source.index] if source.index < len(self.seeds) else NOBODY)

    def _is_there(self, entrant: int) -> bool:
        return entrant != NOBODY and entrant not in self.withdrawn

    def bracket(self) -> tuple[BracketPlace, ...]:
        """Return all matches of the graph, except for a reset that is not needed."""
        each = self.replays + 1
        return tuple(
            BracketPlace(
                part=node.part,
                round=node.round,
                table=node.table,
                slots=tuple(_candidates(self, source) for source in node.sources),
                winner=result[0] if result is not None and result[0] != NOBODY else None,
                is_optional=node.is_reset,
                numbers=(index * each + 1, (index + 1) * each),
            )
            for index, (node, result) in enumerate(zip(self.nodes, self.results, strict=True))
            if not (node.is_reset and result is not None and not _is_upset(self, index - 1))
        )

    def places(self) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants from best to worst: those still in the tournament, then the last ones to go out."""
        went_out = {
            entrant: place
            for node, result in zip(self.nodes, self.results, strict=True)
            for entrant, place in zip(result or (), (node.winner_place, node.loser_place), strict=False)
            if entrant != NOBODY and place is not None
        }
        groups: dict[int, list[int]] = {}
        for entrant in self.seeds:
            groups.setdefault(went_out.get(entrant, 0), []).append(entrant)
        return tuple(tuple(groups[place]) for place in sorted(groups))


# Seeding is as in tennis: if the better seed always wins, the first two seeds meet in the final, the first four in the
# semi-finals, and so on. A random draw would be simpler, but the two strongest programs could meet in the first round.


def standard_order(size: int) -> list[int]:
    """Return the seeds, from 0, in their order in the first round: the two best can meet only in the final.

    Args:
        size: number of entrants of the bracket, a power of 2.
    """
    order = [0]
    while len(order) < size:
        order = [seed for best in order for seed in (best, 2 * len(order) - 1 - best)]
    return order


def winners_rounds(rounds: int) -> list[list[tuple[Source, Source]]]:
    """Return the sources of the matches of each round; in the graph, these matches must come first, in this order.

    Args:
        rounds: at least one.
    """
    sources, by_round, start = [Source("seed", seed) for seed in standard_order(2**rounds)], [], 0
    for _ in range(rounds):
        by_round.append(list(zip(sources[::2], sources[1::2], strict=True)))
        sources = [Source("winner", start + index) for index in range(len(by_round[-1]))]
        start += len(sources)
    return by_round


def start(nodes: Iterable[BracketMatch], seeds: tuple[int, ...], replays: int) -> State:
    """Return the state before the first match."""
    nodes = tuple(nodes)
    return _open_matches(
        State(nodes=nodes, seeds=seeds, replays=replays, results=(None,) * len(nodes), leans=(0,) * len(seeds)), 0
    )


def _winner(state: State, played: PlayedPairing) -> int | None:
    """Return the entrant that goes on; None if the match must be played again."""
    seats = played.pairing.seats
    best = played.ranking[0] if played.ranking else tuple(range(len(seats)))
    if len(best) == 1:
        return seats[best[0]]
    return min(seats, key=state.seeds.index) if state.draws(played.pairing) >= state.replays else None


def _lean(state: State, seats: tuple[int, ...], sign: int) -> tuple[int, ...]:
    """Return the leans after a match or, with the sign -1, before it. A bye does not change them."""
    leans = list(state.leans)
    for entrant, change in zip(seats, (sign, -sign) if len(seats) > 1 else (), strict=False):
        leans[entrant] += change
    return tuple(leans)


def _decide(state: State, index: int, result: tuple[int, int]) -> State:
    """Return the state with a match's result, and with the matches that can now be played or decided."""
    return _open_matches(_with(state, index, result), index + 1)


def _with(state: State, index: int, result: tuple[int, int]) -> State:
    return replace(state, results=(*state.results[:index], result, *state.results[index + 1 :]))


def _open_matches(state: State, begin: int) -> State:
    """Open or decide all matches, from an index on, whose entrants are known now."""
    waiting = {state.place(pairing) for pairing in state.due}
    for index in range(begin, len(state.nodes)):
        first, second = (_entrant(state, source) for source in state.nodes[index].sources)
        if first is None or second is None or state.results[index] is not None or index in waiting:
            continue
        result = _without_match(state, index, first, second)
        state = (
            _issue(state, index, 0, _seat_two(state, first, second)) if result is None else _with(state, index, result)
        )
    return state


def _entrant(state: State, source: Source) -> int | None:
    """Return the entrant that comes from a source; None if it is still open."""
    if source.kind == "seed":
        return state.seeds[source.index] if source.index < len(state.seeds) else NOBODY
    result = state.results[source.index]
    return None if result is None else result[source.kind == "loser"]


def _candidates(state: State, source: Source) -> tuple[int, ...] | None:
    """Return the entrants that can come from a source, one or two; empty if nobody will; None if it is still open."""
    entrant = _entrant(state, source)
    if entrant is not None:
        return () if entrant == NOBODY else (entrant,)
    met = [_entrant(state, before) for before in state.nodes[source.index].sources]
    entrants = tuple(entrant for entrant in met if entrant not in (None, NOBODY))
    return entrants if len(entrants) == len(met) else None


def _without_match(state: State, index: int, first: int, second: int) -> tuple[int, int] | None:
    """Return the result of a match that needs no game; None if it must be played, or is a bye at the start.

    No game is needed for a walkover, for an entrant without an opponent, and for an unnecessary reset.
    """
    node = state.nodes[index]
    if node.is_reset and not _is_upset(state, index - 1):
        return first, second
    if NOBODY in (first, second):
        is_bye = node.sources[0].kind == "seed" and first not in (NOBODY, *state.withdrawn)
        return None if is_bye else (max(first, second), min(first, second))
    if first in state.withdrawn and second in state.withdrawn:
        better = min(first, second, key=state.seeds.index)
        return better, first + second - better
    if second in state.withdrawn:
        return first, second
    return (second, first) if first in state.withdrawn else None


def _is_upset(state: State, index: int) -> bool:
    """Return whether the second entrant of a match has won it, and neither has withdrawn."""
    result = state.results[index]
    first = _entrant(state, state.nodes[index].sources[0])
    return result is not None and result[0] != first and state.withdrawn.isdisjoint(result)


def _seat_two(state: State, first: int, second: int) -> tuple[int, ...]:
    """Seat two entrants: the one that has had the first seat less often gets it; a bye if there is only one."""
    if second == NOBODY:
        return (first,)
    return (second, first) if state.leans[second] < state.leans[first] else (first, second)


def _issue(state: State, index: int, draws: int, seats: tuple[int, ...]) -> State:
    """Return the state with a match due, for the first time or again."""
    node = state.nodes[index]
    return state.issue(index, draws, seats=seats, round=node.round, table=node.table)
