"""Knockout: who loses is out. Draws the bracket; bracket.py and multi_seat_knockout.py run results through it."""

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta, Struct

from ...games.base import Shuffle
from . import bracket, multi_seat_knockout
from .base import BadFormat, EntrantField, Extent
from .bracket import BracketMatch, Source
from .elimination import EliminationFormat
from .seeding import seeded

State = bracket.State | multi_seat_knockout.State


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an organiser may set."""

    third_place: bool = False
    """Whether those who lose the semi-finals play for the third place; for two seats only."""
    replays: Annotated[int, Meta(ge=0, le=1000)] = 1
    """How often a match that does not say who goes on is played again before the better seed goes on."""
    advance: Annotated[int, Meta(ge=1, le=6)] | None = None
    """How many of a table go on: a part of its seats without a remainder; if it is not said, half of an even number,
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
        seeds = seeded(field, shuffle)
        if field.seats > 2:
            return multi_seat_knockout.start(seeds, field.seats, advance, options.replays)
        rounds = (len(seeds) - 1).bit_length()
        nodes = _nodes(rounds, third_place=options.third_place and len(seeds) > 3)
        return bracket.start(nodes, seeds, options.replays)

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return how long it takes: of two seats, everybody but the winner loses once."""
        count = len(field.entrants)
        if field.seats == 2:
            matches = count - 1 + (options.third_place and count > 3)
            rounds = (count - 1).bit_length()
        else:
            tables = multi_seat_knockout.tables_by_round(count, field.seats, _advance(options, field))
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
