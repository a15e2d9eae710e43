"""What a tournament keeps of a record, and the order in which results were taken, told from the records alone.

Knows what stands in headers and results; refuses to fold anything.
"""

from collections.abc import Iterable

from ..match.commands import Result
from ..tournament.entries import Entry, FoulEntry, Occasion
from .reader import Record, RecordError


class BadCourse(Exception):
    """Entries that are not those of one tournament, all of them; the text names the match at fault."""


def entry_of(record: Record) -> Entry:
    """Return what came of a recorded match.

    Raises:
        RecordError: the match was not finished, or it is none of a tournament.
    """
    occasion, line = record.header.occasion, record.result
    if occasion is None:
        raise RecordError(record.path, 1, "an occasion, as in the matches of a tournament", "none")
    if line is None or record.seal is None:
        raise RecordError(record.path, 0, "a sealed record", f"one that is {record.state}")
    return outcome(record.header.setup.match, occasion, record.header.setup.names, line.result, record.seal.prev)


def outcome(match: str, occasion: Occasion, names: tuple[str, ...], result: Result, head: str) -> Entry:
    """Return what is kept of a match.

    Args:
        match: its name.
        occasion: what it was opened for.
        names: of the players by seat.
        result: how it ended.
        head: hash of the record's result line.
    """
    fouls = tuple(
        FoulEntry(
            seat=foul.seat, cause=str(foul.cause), turn=foul.turn, rule=foul.rule, code=foul.code, detail=foul.detail
        )
        for foul in result.fouls
    )
    return Entry(
        match=match,
        occasion=occasion,
        names=names,
        void=result.void,
        ranking=result.ranking,
        scores=result.scores,
        fouls=fouls,
        reason=result.reason or "",
        turns=result.turns,
        used_ms=result.used_ms,
        head=head,
    )


def course(entries: Iterable[Entry]) -> list[Entry]:
    """Put the entries of a tournament into the order in which its results were taken.

    What was taken after the last opening comes last, by the pairings' numbers.

    Raises:
        BadCourse: an entry is there twice, or one is missing that was taken.
    """
    left: dict[str, Entry] = {}
    for entry in entries:
        if entry.match in left:
            raise BadCourse(f"{entry.match} is there twice")
        left[entry.match] = entry
    ordered = []
    for entry in sorted(left.values(), key=lambda one: one.occasion.opening):
        for name in entry.occasion.taken:
            if name not in left:
                raise BadCourse(
                    f"the record of {name} is missing: its result was taken before {entry.match} was opened"
                )
            ordered.append(left.pop(name))
    rest = sorted(left.values(), key=lambda one: (one.occasion.number, one.occasion.leg, one.occasion.attempt))
    return ordered + rest
