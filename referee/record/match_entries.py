"""What came of a recorded match, as the record of its tournament keeps it."""

from ..match.commands import Result
from ..tournament.match_context import Fixture, FoulEntry, MatchEntry
from .reader import Record, RecordError


def entry_of(record: Record) -> MatchEntry:
    """Return what came of a recorded match.

    Raises:
        RecordError: its match is none of a tournament, or not one of so many, or the record is not sealed.
    """
    context, line = record.header.context, record.result
    if context is None:
        raise RecordError(record.path, 0, "a match of a tournament", "none")
    entrants, names = len(context.fixture.entrants), len(record.header.setup.names)
    if entrants != names:
        raise RecordError(record.path, 0, f"the names of {entrants} entrants", f"{names} names")
    if line is None or record.seal is None:
        raise RecordError(
            record.path, len(record.chain.hashes), "a result and its seal", f"a record that is {record.state}"
        )
    return outcome(context.fixture, record.header.setup.names, line.result, record.seal.prev)


def outcome(fixture: Fixture, names: tuple[str, ...], result: Result, head: str) -> MatchEntry:
    """Return what is kept of a match.

    Args:
        fixture: what it was opened for.
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
    return MatchEntry(
        fixture=fixture,
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
