"""Double elimination: an entrant that loses once goes on in the losers' bracket; one that loses twice is out."""

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta, Struct

from ...games.base import Shuffle
from . import bracket
from .base import EntrantField, Extent, order_by_seed
from .bracket import BracketMatch, EliminationFormat, Source, State


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    reset: bool = True
    """True if the grand final is played again when the winner of the losers' bracket wins it: then both lost once."""
    replays: Annotated[int, Meta(ge=0, le=1000)] = 1
    """Number of times that a drawn match is played again before the better seed goes on."""


class DoubleElimination(EliminationFormat[State]):
    """A knockout in which an entrant is out after its second loss."""

    name = "doubleelimination"
    title = "Double elimination"
    seats = range(2, 3)
    options_type = Options

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field has no match of two.
        """
        self.check_field(field)
        rounds = (len(field.entrants) - 1).bit_length()
        return bracket.start(_nodes(rounds, reset=options.reset), order_by_seed(field, shuffle), options.replays)

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return the length: each entrant except the winner loses twice, and the winner loses once at most."""
        matches = 2 * len(field.entrants) - 2
        return Extent(fewest=matches, most=(matches + options.reset) * (1 + options.replays))


def _nodes(rounds: int, *, reset: bool) -> Iterator[BracketMatch]:
    """Yield the matches of both brackets and the grand final.

    Args:
        rounds: number of rounds of the winners' bracket; at least one.
        reset: whether the grand final may be played again.
    """
    winners, losers = _winners(rounds), _losers(rounds)
    yield from winners
    yield from losers
    last = len(winners) + len(losers) - 1
    champion = Source("winner", len(winners) - 1)
    challenger = Source("winner", last) if losers else Source("loser", len(winners) - 1)
    sources = (champion, challenger)
    yield BracketMatch(
        part="grand final",
        table="grand final",
        round=2 * rounds,
        sources=sources,
        winner_place=None if reset else 1,
        loser_place=None if reset else 2,
    )
    if reset:
        sources = (Source("winner", last + 1), Source("loser", last + 1))
        again, number = "grand final, reset", 2 * rounds + 1
        places = {"winner_place": 1, "loser_place": 2}
        yield BracketMatch(part="grand final", table=again, round=number, sources=sources, **places, is_reset=True)


def _winners(rounds: int) -> list[BracketMatch]:
    return [
        BracketMatch(
            part="winners",
            table="winners' final" if number == rounds else f"winners' round {number}",
            round=max(1, 2 * number - 2),
            sources=pair,
        )
        for number, pairs in enumerate(bracket.winners_rounds(rounds), 1)
        for pair in pairs
    ]


def _losers(rounds: int) -> list[BracketMatch]:
    """Return the losers' bracket. In odd rounds, its survivors meet each other.

    In even rounds, they meet the losers who drop down from the winners' bracket. Every other time, these come in
    reverse order, so that two entrants that have met do not meet again at once.
    """
    nodes: list[BracketMatch] = []
    base, dropped_from = 2**rounds - 1, 0
    sources = [Source("loser", index) for index in range(2 ** (rounds - 1))]
    for number in range(1, 2 * rounds - 1):
        if number % 2:
            pairs = list(zip(sources[::2], sources[1::2], strict=True))
        else:
            dropped_from += 2 ** (rounds - number // 2)
            count = len(sources)
            dropped = [Source("loser", dropped_from + index) for index in range(count)]
            pairs = list(zip(dropped[::-1] if number % 4 == 2 else dropped, sources, strict=True))
        table = "losers' final" if number == 2 * rounds - 2 else f"losers' round {number}"
        out, start = 2 + sum(_sizes(rounds)[number:]), base + len(nodes)
        nodes += [
            BracketMatch(part="losers", table=table, round=number + 1, sources=pair, loser_place=out + 1)
            for pair in pairs
        ]
        sources = [Source("winner", start + index) for index in range(len(pairs))]
    return nodes


def _sizes(rounds: int) -> list[int]:
    """Return the number of matches in each round of the losers' bracket."""
    return [2 ** (rounds - 2 - index // 2) for index in range(2 * rounds - 2)]
