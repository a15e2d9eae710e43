"""The fold of formats in which two meet and one goes on: a graph of matches.

A match is due as soon as both its entrants are known. Who has withdrawn stays in the graph and loses whatever it comes
to, without a match; who has to meet nobody goes on.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from .base import Pairing, PlayedPairing, without

NOBODY = -1


class Source(Struct, frozen=True):
    """Where an entrant of a match comes from."""

    kind: Literal["seed", "winner", "loser"]
    index: int
    """The seed, from 0, or the match's index."""


class BracketMatch(Struct, frozen=True, kw_only=True):
    """One match of the graph."""

    table: str
    round: int
    sources: tuple[Source, Source]
    """The second one is the better seed's opponent at the start; both come before this match in the graph."""
    winner_place: int | None = None
    """The place of the tournament that it decides, from 1, if it decides one; several share a loser's."""
    loser_place: int | None = None
    is_reset: bool = False
    """Played only if the second entrant of the match before it has won that."""


class Graph(Struct, frozen=True):
    """All matches that there may be, each behind those that it waits for."""

    nodes: tuple[BracketMatch, ...]
    feeds: tuple[tuple[int, ...], ...]
    """By match: the matches that wait for its result."""


class State(Struct, frozen=True, kw_only=True):
    """A bracket after some results."""

    graph: Graph
    seeds: tuple[int, ...]
    """Entrants, best first."""
    replays: int
    """How often a drawn match is played again before the better seed goes on."""
    results: tuple[tuple[int, int] | None, ...]
    """By match: winner and loser, or None; each may be NOBODY."""
    due: tuple[Pairing, ...] = ()
    open: tuple[tuple[int, int], ...] = ()
    """By pairing that is due: the match's index, and how often it was drawn already."""
    leans: tuple[int, ...]
    """By entrant: more matches in the first seat than in the second."""
    withdrawn: frozenset[int] = frozenset()
    number: int = 0
    """Of the last pairing."""


def drawn(nodes: Iterable[BracketMatch]) -> Graph:
    """Return a graph of matches."""
    nodes = tuple(nodes)
    feeds: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        for source in node.sources:
            if source.kind != "seed":
                feeds[source.index].append(index)
    return Graph(nodes, tuple(tuple(sorted(set(waiting))) for waiting in feeds))


def standard_order(size: int) -> list[int]:
    """Return seeds, from 0, as they stand in the first round: the first two of them can meet in the final only.

    Args:
        size: of the bracket, a power of 2.
    """
    order = [0]
    while len(order) < size:
        order = [seed for best in order for seed in (best, 2 * len(order) - 1 - best)]
    return order


def start(graph: Graph, seeds: tuple[int, ...], replays: int) -> State:
    """Return the state before the first match."""
    state = State(
        graph=graph, seeds=seeds, replays=replays, results=(None,) * len(graph.nodes), leans=(0,) * len(seeds)
    )
    return _opened(state, range(len(graph.nodes)))


def record(state: State, played: PlayedPairing) -> State:
    """Return the state after a result.

    Raises:
        NotDue: its pairing is not due.
    """
    due = without(state.due, played)
    place = next(place for place, pairing in enumerate(state.due) if pairing.number == played.pairing.number)
    index, draws = state.open[place]
    leans, seats = list(state.leans), state.due[place].seats
    for entrant, step in zip(seats, (1, -1) if len(seats) > 1 else (), strict=False):
        leans[entrant] += step
    after = replace(state, due=due, open=state.open[:place] + state.open[place + 1 :], leans=tuple(leans))
    winner = _winner(state, played, draws)
    if winner is None:
        return _issued(after, index, draws + 1, (seats[1], seats[0]))
    loser = next((entrant for entrant in seats if entrant != winner), NOBODY)
    return _decided(after, index, (winner, loser))


def withdraw(state: State, entrant: int) -> State:
    """Return the state without an entrant; whoever was to meet it goes on."""
    if entrant in state.withdrawn:
        return state
    state = replace(state, withdrawn=state.withdrawn | {entrant})
    for place, pairing in enumerate(state.due):
        if entrant in pairing.seats:
            index, _ = state.open[place]
            others = [other for other in pairing.seats if other != entrant]
            due, opened = state.due[:place] + state.due[place + 1 :], state.open[:place] + state.open[place + 1 :]
            result = (others[0], entrant) if others else (entrant, NOBODY)
            return _decided(replace(state, due=due, open=opened), index, result)
    return state


def places(state: State) -> tuple[tuple[int, ...], ...]:
    """Return groups of entrants from best to worst: those still in it, then as they went out, the last first."""
    went_out = {
        entrant: place
        for node, result in zip(state.graph.nodes, state.results, strict=True)
        for entrant, place in zip(result or (), (node.winner_place, node.loser_place), strict=False)
        if entrant != NOBODY and place is not None
    }
    groups: dict[int, list[int]] = {}
    for entrant in state.seeds:
        groups.setdefault(went_out.get(entrant, 0), []).append(entrant)
    return tuple(tuple(groups[place]) for place in sorted(groups))


def _winner(state: State, played: PlayedPairing, draws: int) -> int | None:
    """Return who goes on; None if the match is to be played again."""
    seats = played.pairing.seats
    best = played.ranking[0] if played.ranking else tuple(range(len(seats)))
    if len(best) == 1:
        return seats[best[0]]
    return min(seats, key=state.seeds.index) if draws >= state.replays else None


def _decided(state: State, index: int, result: tuple[int, int]) -> State:
    """Return the state with a match's result, and with what can be played or decided by that."""
    results = (*state.results[:index], result, *state.results[index + 1 :])
    return _opened(replace(state, results=results), state.graph.feeds[index])


def _opened(state: State, indices: Iterable[int]) -> State:
    """Return the state with those of some matches open whose entrants are known now."""
    for index in indices:
        node = state.graph.nodes[index]
        one, two = (_entrant(state, source) for source in node.sources)
        if one is None or two is None or state.results[index] is not None:
            continue
        if any(index == opened for opened, _ in state.open):
            continue
        result = _without_match(state, index, one, two)
        if result is not None:
            state = _decided(state, index, result)
        else:
            state = _issued(state, index, 0, _seated(state, one, two))
    return state


def _entrant(state: State, source: Source) -> int | None:
    """Return who comes from a source; None if that is open."""
    if source.kind == "seed":
        return state.seeds[source.index] if source.index < len(state.seeds) else NOBODY
    result = state.results[source.index]
    return None if result is None else result[source.kind == "loser"]


def _without_match(state: State, index: int, one: int, two: int) -> tuple[int, int] | None:
    """Return the result of a match that needs none: a bye later than at the start, a walkover, or a needless reset."""
    node = state.graph.nodes[index]
    if node.is_reset and not _is_upset(state, index - 1):
        return one, two
    if NOBODY in (one, two):
        is_bye = node.sources[0].kind == "seed" and one not in (NOBODY, *state.withdrawn)
        return None if is_bye else (max(one, two), min(one, two))
    if two in state.withdrawn:
        return one, two
    return (two, one) if one in state.withdrawn else None


def _is_upset(state: State, index: int) -> bool:
    """Tell whether the second entrant of a match has won it, and both go on."""
    result = state.results[index]
    first = _entrant(state, state.graph.nodes[index].sources[0])
    return result is not None and result[0] != first and state.withdrawn.isdisjoint(result)


def _seated(state: State, one: int, two: int) -> tuple[int, ...]:
    """Seat two entrants: whoever has had the first seat less has it; a bye if there is only one."""
    if two == NOBODY:
        return (one,)
    return (two, one) if state.leans[two] < state.leans[one] else (one, two)


def _issued(state: State, index: int, draws: int, seats: tuple[int, ...]) -> State:
    """Return the state with one more pairing due."""
    node, number = state.graph.nodes[index], state.number + 1
    pairing = Pairing(number=number, round=node.round, seats=seats, table=node.table)
    return replace(state, due=(*state.due, pairing), open=(*state.open, (index, draws)), number=number)
