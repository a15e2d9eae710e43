"""How a match ends: by default, with which result, and in which order its seats hear of it."""

from collections.abc import Collection, Sequence

from ..games.base import Outcome, Rule
from .commands import Result
from .fouls import Foul
from .setup import MatchSetup

BY_DEFAULT = Rule("default", "One seat or team is left: it wins.", "protocol/SPEC.md, The conversation")
"""Rule that ends a match of a tournament before the game's own rules do."""


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


def make_result(
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
    levels_in = [tuple(sorted(seat for seat in level if seat not in out)) for level in levels]
    last = tuple(sorted(out)) if ended else ()
    return Result(
        winners=levels_in[0] if levels_in else (),
        ranking=tuple(level for level in [*levels_in, last] if level),
        scores=ended.scores if ended else (0,) * len(used_ms),
        fouls=tuple(fouls),
        reason=ended.reason if ended else None,
        void=void,
        turns=turns,
        used_ms=tuple(round(used, 3) for used in used_ms),
    )
