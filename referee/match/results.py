"""How a match stands and ends, from what the game says and who fouled. Knows ranks, and no requests."""

from collections.abc import Collection, Sequence

from ..games.base import Outcome
from .commands import EndSeat, Result
from .fouls import Foul


def result_of(
    outcome: Outcome | None,
    fouls: Sequence[Foul],
    used_ms: Sequence[float],
    *,
    out: Collection[int],
    turns: int,
    void: str | None,
) -> Result:
    """Return the result of a match as it stands.

    Args:
        outcome: the game's, without those who fouled; None if there is none.
        fouls: in their order.
        used_ms: by seat.
        out: the seats that fouled, those after the game's end included.
        turns: number of the last turn.
        void: the referee's own fault; then nobody is ranked.
    """
    ended = None if void else outcome
    levels = ended.ranking if ended else ()
    kept = [tuple(sorted(seat for seat in level if seat not in out)) for level in levels]
    last = tuple(sorted(out)) if ended else ()
    return Result(
        winners=kept[0] if kept else (),
        ranking=tuple(level for level in [*kept, last] if level),
        scores=ended.scores if ended else (0,) * len(used_ms),
        fouls=tuple(fouls),
        reason=ended.reason if ended else None,
        void=void,
        turns=turns,
        used_ms=tuple(round(used, 3) for used in used_ms),
    )


def told_of(result: Result, seat: int, ack: int | None, limit_ms: float | None) -> EndSeat:
    """Return the command that tells a seat a result.

    Args:
        result: as it stands.
        seat: who is told.
        ack: number of the `ack` that is demanded, or None.
        limit_ms: until when, or None.
    """
    return EndSeat(
        seat=seat,
        winners=result.winners,
        ranking=result.ranking,
        scores=result.scores,
        void=result.void,
        ack=ack,
        limit_ms=limit_ms,
    )
