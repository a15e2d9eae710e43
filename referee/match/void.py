"""A void match: the referee itself has failed, so the match blames nobody, ranks nobody and counts for nothing."""

from collections.abc import Sequence

from .commands import Result
from .fouls import Foul

# A program can fail because of the player or because of the referee, and the two must never be confused: the first is a
# foul, the second voids the match. A void match keeps the fouls that came before the failure, since their evidence is
# in its record, but it has no ranking, no winners and no reason. A tournament plays it again.

MAX_REASON_CHARS = 400
"""Longest reason; a traceback belongs in the log, not in the record."""


def describe_fault(error: Exception) -> str:
    """Return why a match is void, for a failure of the rules or of the fold itself.

    Args:
        error: the exception that they raised.
    """
    return f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]


def make_void_result(fouls: Sequence[Foul], used_ms: Sequence[float], *, turns: int, reason: str) -> Result:
    """Make the result of a void match.

    Args:
        fouls: fouls before the failure, in their order.
        used_ms: time used by each seat, in milliseconds.
        turns: number of the last turn.
        reason: the referee's own fault in words.
    """
    return Result(
        winners=(),
        ranking=(),
        scores=(0,) * len(used_ms),
        fouls=tuple(fouls),
        reason=None,
        void=reason,
        turns=turns,
        used_ms=tuple(round(used, 3) for used in used_ms),
    )
