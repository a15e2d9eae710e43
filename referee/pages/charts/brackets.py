"""Says how a knockout goes: every match beside the one that its winner went on to; the report draws it."""

from collections.abc import Sequence
from typing import NamedTuple

from ...pairing.base import Pairing, PlayedPairing
from ..summary import Summary


class Box(NamedTuple):
    """A match of a bracket."""

    pairing: Pairing
    played: PlayedPairing | None
    """None: it is still to be played."""


def bracket(summary: Summary) -> list[list[Box]]:
    """Return a knockout, a column for each round, every match beside the one that its winner went on to."""
    boxes = {_key(played.pairing): Box(played.pairing, played) for played in summary.history.played}
    for pairing in summary.tournament.due:
        boxes.setdefault(_key(pairing), Box(pairing, None))
    columns: list[list[Box]] = []
    after: list[Box] = []
    for round_ in sorted({box.pairing.round for box in boxes.values()}, reverse=True):
        after = _in_order([box for box in boxes.values() if box.pairing.round == round_], after)
        columns.append(after)
    return columns[::-1]


def _key(pairing: Pairing) -> tuple[int, frozenset[int]]:
    return pairing.round, frozenset(pairing.seats)


def _in_order(boxes: Sequence[Box], after: Sequence[Box]) -> list[Box]:
    """Put the matches of a round in the order in which the next one needs them; of the last, the final is first."""
    seats = [seat for box in after for seat in box.pairing.seats]
    where = {entrant: at for at, entrant in enumerate(seats)}

    def _order(box: Box) -> tuple[int, bool, int]:
        first = min(where.get(seat, len(seats)) for seat in box.pairing.seats)
        return first, box.pairing.table == "third place", box.pairing.number

    return sorted(boxes, key=_order)
