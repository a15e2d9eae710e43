"""What came of a tournament's match, as its ledger keeps it. Knows results and occasions; refuses to know files."""

from ..match.commands import Result
from ..tournament.entries import Entry, FoulEntry, Occasion


def outcome(match: str, occasion: Occasion, names: tuple[str, ...], result: Result, head: str) -> Entry:
    """Return a match's entry in the ledger.

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
