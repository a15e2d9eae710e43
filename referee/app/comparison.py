"""Compares two programs by pairs of matches, with one estimate, one scale and one sentence for all who compare.

`referee compare`, the strength in `referee check` and `referee.evaluate` play their matches in different ways: as a
tournament that can go on later, for some seconds during a check, and in forked processes. All of them draw their
conclusions here, so that equal results always lead to equal words.

A pair is one deal played twice with the seats changed. The two matches of a deal are not independent: a good hand is
played by both players, once by each. So the unit that is counted is the pair, with its five outcomes, and the interval
rests on how much pairs vary (see `paired_score`).

The interval and the sequential test answer different questions. The interval says how far the share of points may be
from the one that was seen, had the number of matches been fixed beforehand. The test may be looked at after every pair,
and says which of two hypotheses fits better. A test that stops early stops at a favourable moment, so the estimate that
stands beside its verdict is a little too far from zero. This is known and accepted: correcting it takes more theory
than it is worth for a number that is rounded to whole points of Elo.
"""

from collections.abc import Sequence
from math import inf, isfinite
from typing import Literal

from msgspec import Struct

from ..text import counted
from ..tournament.ratings.elo import Estimate, as_elo, paired_score
from ..tournament.sprt import Hypotheses, SprtDecision, sprt

Verdict = Literal["better", "not better", "worse", "undecided"]
_VERDICTS: dict[SprtDecision, Verdict] = {
    SprtDecision.ACCEPT: "better",
    SprtDecision.REJECT: "not better",
    SprtDecision.CONTINUE: "undecided",
}
_SENTENCES: dict[Verdict, str] = {
    "better": "{b} is better than {a}",
    "not better": "{b} is no better than {a}",
    "worse": "{b} is worse than {a}",
    "undecided": "{b} may be better or worse than {a}",
}
_EVEN = 0.5
"""Share of the points that two equal programs get."""


class SequentialTest(Struct, frozen=True, kw_only=True):
    """What the sequential test says: is the player better by `elo1` rather than by `elo0`?

    >>> SequentialTest(elo0=0, elo1=20, verdict="undecided", llr=1.2, lower=-2.94, upper=2.94).verdict
    'undecided'
    """

    elo0: float
    elo1: float
    verdict: str
    """`better`, `not better`, or `undecided`."""
    llr: float
    """Log-likelihood ratio of the results; positive if `elo1` explains them better than `elo0`."""
    lower: float
    """Lower bound: with a ratio of at most this, the test says `not better`."""
    upper: float
    """Upper bound: with a ratio of at least this, the test says `better`."""


class Comparison(Struct, frozen=True, kw_only=True):
    """The result of matches between two programs, A and B, from the side of B."""

    a: str
    """Name of A."""
    b: str
    """Name of B."""
    sentence: str
    """The result in one sentence."""
    verdict: Verdict
    """The verdict of the test; without one, `better` or `worse` if the interval lies on one side of half the points."""
    matches: int
    """Matches in pairs that were played to their end."""
    outcomes_of_b: tuple[int, ...]
    """Number of pairs in which B got 0 points, then 1/2, 1, 3/2 and 2 points."""
    score: float | None
    """Share of the points that B got, from 0 to 1; null if no pair was played."""
    score_low: float | None
    """Lower end of the 95 % interval of `score`."""
    score_high: float | None
    """Upper end of the 95 % interval of `score`."""
    elo: float | None
    """Difference in strength in points of Elo, positive if B is stronger; null if B got all points or none."""
    elo_low: float | None
    """Lower end of the 95 % interval of `elo`; null if there is none."""
    elo_high: float | None
    """Upper end of the 95 % interval of `elo`; null if there is none."""
    test: SequentialTest | None
    """Where the sequential test stands; null if none was asked for."""


def run_test(
    outcomes_of_b: Sequence[int], hypotheses: Hypotheses, decision: SprtDecision | None = None
) -> SequentialTest:
    """Return where the sequential test stands.

    Args:
        outcomes_of_b: pairs in which B got 0, 1/2, 1, 3/2 and 2 points.
        hypotheses: the two strengths that are tested, and how often the test may be wrong.
        decision: decision of the test when it stopped; None: the decision that follows from these pairs.
    """
    progress = sprt(outcomes_of_b or (0,) * 5, hypotheses)
    return SequentialTest(
        elo0=hypotheses.elo0,
        elo1=hypotheses.elo1,
        verdict=_VERDICTS[progress.verdict if decision is None else decision],
        llr=progress.llr,
        lower=progress.lower,
        upper=progress.upper,
    )


def compare_pairs(a: str, b: str, outcomes_of_b: Sequence[int], test: SequentialTest | None = None) -> Comparison:
    """Compare a program B with a program A by the outcomes of their pairs of matches.

    Args:
        a: name of A.
        b: name of B.
        outcomes_of_b: pairs in which B got 0, 1/2, 1, 3/2 and 2 points.
        test: where the sequential test stands; None: the interval alone decides.

    >>> print(compare_pairs("greedy", "pearl", (20, 0, 60, 0, 20)).sentence)
    pearl may be better or worse than greedy: 50 % of the points, +0 ± 43 Elo, 200 matches
    >>> print(compare_pairs("random", "pearl", (0, 0, 0, 0, 10)).sentence)
    pearl is better than random: 100 % of the points, above +219 Elo, 20 matches
    """
    pairs = sum(outcomes_of_b)
    score = paired_score(outcomes_of_b) if pairs else Estimate(_EVEN, 0.0, 1.0)
    elo = as_elo(score)
    verdict: Verdict = "undecided"
    if test is not None:
        verdict = next(word for word in _VERDICTS.values() if word == test.verdict)
    elif score.low > _EVEN or score.high < _EVEN:
        verdict = "better" if score.low > _EVEN else "worse"
    result = f"{score.value:.0%}".replace("%", " %")
    return Comparison(
        a=a,
        b=b,
        sentence=(
            f"{_SENTENCES[verdict].format(a=a, b=b)}: {result} of the points, {_word_elo(elo)}, "
            f"{counted(2 * pairs, 'match', 'matches')}"
            if pairs
            else f"{_SENTENCES[verdict].format(a=a, b=b)}: no pair of matches was finished"
        ),
        verdict=verdict,
        matches=2 * pairs,
        outcomes_of_b=tuple(outcomes_of_b),
        score=score.value if pairs else None,
        score_low=score.low if pairs else None,
        score_high=score.high if pairs else None,
        elo=_finite(elo.value) if pairs else None,
        elo_low=_finite(elo.low),
        elo_high=_finite(elo.high),
        test=test,
    )


def _word_elo(elo: Estimate) -> str:
    """Return a difference in points of Elo with its interval; if its halves differ, the wider one is given."""
    if elo.high == inf:
        return f"above {elo.low:+.0f} Elo"
    if elo.low == -inf:
        return f"below {elo.high:+.0f} Elo"
    return f"{elo.value:+.0f} ± {max(elo.value - elo.low, elo.high - elo.value):.0f} Elo"


def _finite(number: float) -> float | None:
    """Return a number as JSON can have it: JSON knows no infinity."""
    return number if isfinite(number) else None
