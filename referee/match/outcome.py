"""Results of matches, also of those that end by default or that are void.

A match is void if the referee had to give it up; nobody is blamed. An organiser's ruling `void` is something else: see
`tournament/rulings.py`.
"""

from collections.abc import Collection, Sequence

from ..games.base import Outcome, Rule
from .commands import Result
from .fouls import Foul
from .setup import MatchSetup

BY_DEFAULT = Rule("default", "One seat or team is left: it wins.", "protocol/SPEC.md, The conversation")
"""Rule that ends a match of a tournament before the game's own rules do."""


def default_outcome(setup: MatchSetup, teams: Sequence[Sequence[int]], present: Sequence[int]) -> Outcome | None:
    """Return the outcome of a match in which only one seat or team is left; None if the match goes on.

    Args:
        setup: settings of the match. Their `default_margin` is the winners' points; None rules out such an end.
        teams: groups of seats that win and lose together; empty if each seat plays for itself.
        present: seats that did not foul.
    """
    margin, sides = setup.default_margin, teams or [(seat,) for seat in present]
    if margin is None or not present or not any(set(present) <= set(side) for side in sides):
        return None
    scores = tuple(margin * (seat in present) for seat in range(len(setup.names)))
    return Outcome((tuple(present),), scores, tuple(present), BY_DEFAULT.id)


def winners_first(outcome: Outcome | None, present: Collection[int]) -> list[int]:
    """List the seats that are still in the match in the order in which they are sent the `end`: winners first.

    Args:
        outcome: the game's outcome; None if there is none.
        present: seats that did not foul, ascending.
    """
    if outcome is None:
        return list(present)
    best = outcome.ranking[0] if outcome.ranking else ()
    return sorted((seat for seat in outcome.order if seat in present), key=lambda seat: seat not in best)


def make_result(
    outcome: Outcome | None,
    fouls: Sequence[Foul],
    used_ms: Sequence[float],
    *,
    out: Collection[int],
    turns: int,
) -> Result:
    """Make the result of a match from the present facts. Seats that fouled share the last rank, below all others.

    Args:
        outcome: the game's outcome; None if there is none.
        fouls: all fouls in the order in which they happened.
        used_ms: time used by each seat, in milliseconds.
        out: seats that fouled, also those that fouled after the game's end.
        turns: number of the last turn.
    """
    levels = outcome.ranking if outcome else ()
    levels_in = [tuple(sorted(seat for seat in level if seat not in out)) for level in levels]
    last = tuple(sorted(out)) if outcome else ()
    return Result(
        winners=levels_in[0] if levels_in else (),
        ranking=tuple(level for level in [*levels_in, last] if level),
        scores=outcome.scores if outcome else (0,) * len(used_ms),
        fouls=tuple(fouls),
        reason=outcome.reason if outcome else None,
        void=None,
        turns=turns,
        used_ms=tuple(round(used, 3) for used in used_ms),
    )


# A failure of the player and a failure of the referee must never be confused: the first is a foul, the second makes the
# match void. A void match keeps the fouls that came before the failure, since their evidence is in its record, but it
# has no ranking, no winners and no reason. A tournament plays such a match again.

MAX_REASON_CHARS = 400
"""Number of characters to which a description is shortened; a traceback belongs in the log, not in the record."""


def describe_fault(error: Exception) -> str:
    """Describe a failure of the referee that makes a match void.

    Args:
        error: the exception that the rules of the game, or the code of the match, raised.
    """
    return f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]


def make_void_result(fouls: Sequence[Foul], used_ms: Sequence[float], *, turns: int, reason: str) -> Result:
    """Make the result of a void match.

    Args:
        fouls: fouls before the failure, in the order in which they happened.
        used_ms: time used by each seat, in milliseconds.
        turns: number of the last turn.
        reason: description of the referee's failure.
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
