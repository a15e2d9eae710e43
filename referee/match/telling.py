"""What seats are told, and how a match stands and ends."""

from collections.abc import Collection, Iterable, Sequence

from ..games.base import News, Outcome, Rule
from .commands import EndSeat, Result, TellSeat
from .fouls import Foul
from .setup import MatchSetup

BY_DEFAULT = Rule("default", "One seat or team is left: it wins.", "protocol/SPEC.md, The conversation")
"""What ends a match of a tournament before the game's own rules do."""


def default_outcome(setup: MatchSetup, teams: Sequence[Sequence[int]], present: Sequence[int]) -> Outcome | None:
    """Return how a match ends because of who is left; None if it goes on.

    Args:
        setup: says whether it may end so, and with which points.
        teams: the seats that win and lose together; empty if everyone plays for itself.
        present: the seats that did not foul.
    """
    margin, sides = setup.default_margin, teams or [(seat,) for seat in present]
    if margin is None or not present or not any(set(present) <= set(side) for side in sides):
        return None
    scores = tuple(margin * (seat in present) for seat in range(len(setup.names)))
    return Outcome((tuple(present),), scores, tuple(present), BY_DEFAULT.id)


def winners_first(outcome: Outcome | None, present: Collection[int]) -> list[int]:
    """Return the seats that are present, in the order in which they are told the end.

    Args:
        outcome: the game's; None if there is none.
        present: the seats that did not foul, ascending.
    """
    if outcome is None:
        return list(present)
    best = outcome.ranking[0] if outcome.ranking else ()
    return sorted((seat for seat in outcome.order if seat in present), key=lambda seat: seat not in best)


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
    news: News, seats: Iterable[int], turn: int, mover: int, demand: tuple[int, float] | None
) -> list[TellSeat]:
    """Return the commands that tell seats the last play; what was drawn, its mover alone.

    Args:
        news: of the play.
        seats: who is told.
        turn: its number.
        mover: the seat that made the play.
        demand: number of the `ack` that is demanded of it, and limit in ms; None: there is none.
    """
    what = {"kind": "played", **news.public}
    ack, limit_ms = demand or (None, None)
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
