"""What seats are told, and how a match stands and ends."""

from collections.abc import Collection, Iterable, Sequence

from ..games.base import News, Outcome
from .commands import EndSeat, Result, TellSeat
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


def told_of_play(
    news: News, seats: Iterable[int], turn: int, mover: int, demand: tuple[int | None, float | None]
) -> list[TellSeat]:
    """Return the commands that tell seats the last play; what was drawn, its mover alone.

    Args:
        news: of the play.
        seats: who is told.
        turn: its number.
        mover: the seat that made the play.
        demand: (number of the `ack` that is demanded of it, limit in ms), both perhaps None.
    """
    what = {"kind": "played", **news.public}
    ack, limit_ms = demand
    return [
        TellSeat(seat=seat, turn=turn, what=what, draws=news.draws, ack=ack, limit_ms=limit_ms)
        if seat == mover
        else TellSeat(seat=seat, turn=turn, what=what, draws=None, ack=None, limit_ms=None)
        for seat in seats
    ]


def told_of_foul(foul: Foul, seat: int, turn: int) -> TellSeat:
    """Return the command that tells a seat who was expelled, and for what."""
    what = {"kind": "expelled", "seat": foul.seat, "cause": str(foul.cause)}
    return TellSeat(seat=seat, turn=turn, what=what, draws=None, ack=None, limit_ms=None)


def told_of_end(result: Result, seat: int, ack: int | None = None, limit_ms: float | None = None) -> EndSeat:
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
