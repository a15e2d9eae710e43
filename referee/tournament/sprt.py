"""Is program B better than program A? A sequential test that ends as soon as the results suffice, and its format.

The test decides between two hypotheses: B is better than A by elo0 points, or by elo1 points. After each match it
compares their likelihoods. For each hypothesis, it takes the distribution of scores that fits the results best, among
those with the mean score of the hypothesis; so draws count, too. Its bounds allow a decision after every match.

If a deal is played twice with the seats changed, luck in the deal cancels out between the two matches. So they are
counted as one pair with five possible outcomes, and the test needs fewer matches than with single ones.

Source: A. Wald, Sequential Tests of Statistical Hypotheses, Annals of Mathematical Statistics 16 (1945), for the
bounds; M. Van den Bergh, The Generalized Sequential Probability Ratio Test for multinomial outcomes, as used by
fishtest, for the likelihoods and for pairs.
"""

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction
from math import isfinite, log
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ..games.base import Shuffle
from .pairing.base import BadFormat, EntrantField, Pairing, PairingFormat, PlayedPairing, without
from .points import Scoring, match_points
from .ratings.elo import expected_score

# --- The test


OUTCOMES = (3, 5)
"""Numbers of possible outcomes: loss, draw and win; or 0, 1/2, 1, 3/2 and 2 points of a pair of matches."""
_UNSEEN = 1e-3
"""Count used for an outcome that has not occurred yet, so that it can't rule out a hypothesis; fishtest does this, too.
"""
_HALVINGS = 100
"""Number of times that an interval is halved: more than the number of bits in a float."""


class SprtDecision(Enum):
    """The decision that the results allow."""

    CONTINUE = "continue"
    """More results are needed."""
    ACCEPT = "accept"
    """The results support elo1: B is better by about this much."""
    REJECT = "reject"
    """The results support elo0: B is better by at most about this much."""


class Hypotheses(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The two hypotheses, and the accepted error rates."""

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    """Probability of ACCEPT if B is elo0 better."""
    beta: float = 0.05
    """Probability of REJECT if B is elo1 better."""

    def __post_init__(self) -> None:
        """Raise ValueError for a test that can't end."""
        if not (isfinite(self.elo0) and isfinite(self.elo1) and self.elo0 < self.elo1):
            raise ValueError(f"elo0 ({self.elo0}) is not below elo1 ({self.elo1})")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(f"alpha ({self.alpha}) and beta ({self.beta}) are not both between 0 and 0.5")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at or below which the test rejects."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at or above which the test accepts."""
        return log((1 - self.beta) / self.alpha)


class Progress(Struct, frozen=True, kw_only=True):
    """The present state of a test."""

    llr: float
    """Logarithm of how much likelier the results are under elo1 than under elo0."""
    lower: float
    upper: float
    verdict: SprtDecision


def sprt(counts: Sequence[int], hypotheses: Hypotheses) -> Progress:
    """Return the present state of a test.

    Args:
        counts: how often B had each outcome, from worst to best: losses, draws and wins; or pairs of matches with 0,
            1/2, 1, 3/2 and 2 points.
        hypotheses: the hypotheses to compare.

    Raises:
        ValueError: there are not three or five counts, or one is negative.
    """
    if len(counts) not in OUTCOMES or min(counts) < 0:
        raise ValueError(f"{list(counts)} are not three counts, or five, from 0 up")
    llr = log_likelihood_ratio(counts, expected_score(hypotheses.elo0), expected_score(hypotheses.elo1))
    verdict = SprtDecision.CONTINUE
    if llr >= hypotheses.upper:
        verdict = SprtDecision.ACCEPT
    elif llr <= hypotheses.lower:
        verdict = SprtDecision.REJECT
    return Progress(llr=llr, lower=hypotheses.lower, upper=hypotheses.upper, verdict=verdict)


def log_likelihood_ratio(counts: Sequence[int], mean0: float, mean1: float) -> float:
    """Compare how well two mean scores fit.

    Args:
        counts: counts of outcomes whose scores go from 0 to 1 in equal steps.
        mean0: the first mean score, greater than 0 and less than 1.
        mean1: the second mean score, in the same range.

    Returns:
        A number above 0 if the second mean fits better; 0 if there are no results.
    """
    if not sum(counts):
        return 0.0
    weights = [count or _UNSEEN for count in counts]
    fitted0, fitted1 = _fit(weights, mean0), _fit(weights, mean1)
    return sum(weight * log(q1 / q0) for weight, q0, q1 in zip(weights, fitted0, fitted1, strict=True))


# This uses halving and not Newton's method: the function is steep near both ends of the interval, so a step of Newton's
# method could leave the interval. A hundred halvings take microseconds and can't fail.


def _fit(weights: Sequence[float], mean: float) -> list[float]:
    """Return the likeliest distribution among those with a given mean.

    It has the form p / (1 + x (score - mean)), where p is the observed distribution. Halving finds the x that gives the
    right mean: on the interval that keeps all probabilities positive, the mean decreases when x increases.
    """
    total, last = sum(weights), len(weights) - 1
    observed = [(weight / total, index / last - mean) for index, weight in enumerate(weights)]
    low, high = -1 / (1 - mean), 1 / mean
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        if sum(p * off / (1 + x * off) for p, off in observed) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * off) for p, off in observed]


# --- The format
#
# Two programs play against each other until the sequential test decides which is better.
#
# The second entrant, B, is tested against the first, A: is B better by `elo1` rather than by `elo0`? With duplicate
# deals, a pairing counts as a pair of matches; without them, as a single match. In both cases seats alternate.
#
# This format is no plugin, because it breaks the contract of formats in two points. First, both programs are in every
# pairing, but several pairings are due at the same time: otherwise only one table would be busy. Second, when the test
# has decided, the format is over though pairings are due; results of running matches are still accepted.
#
# Results count in the order of the pairings, not in the order in which they arrive. Otherwise short matches would count
# first, and the same matches could lead to another decision in another run.


PLAIN = Scoring()
"""The points of the test: 1, 1/2 and 0, independent of the tournament's own scoring."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    hypotheses: Hypotheses = Hypotheses()
    max_pairs: Annotated[int, Meta(ge=1, le=1_000_000)] = 2000
    """Number of pairings after which the match ends, even if the test has not decided."""
    window: Annotated[int, Meta(ge=1, le=1000)] = 8
    """Number of pairings that are due at the same time. One for each table keeps all tables busy."""


class State(Struct, frozen=True, kw_only=True):
    """An SPRT match after some results."""

    options: Options
    due: tuple[Pairing, ...] = ()
    number: int = 0
    """Number of the last pairing."""
    counts: tuple[int, ...] = ()
    """How often B had each outcome, from worst to best, in the pairings up to `counted`."""
    counted: int = 0
    """Number of the last pairing that was counted: no result up to this one is missing."""
    ahead: tuple[tuple[int, int], ...] = ()
    """Number and outcome of each later pairing that has a result."""
    verdict: SprtDecision = SprtDecision.CONTINUE
    """Decision of the test; later results do not change it."""
    is_given_up: bool = False
    """True if one of the two has withdrawn."""


class SprtMatch(PairingFormat[State]):
    """Two entrants, and a test of which is better."""

    name = "sprt"
    title = "SprtMatch"
    seats = range(2, 3)
    options_type = Options

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: there are not two entrants for matches of two.
        """
        self.check_field(field)
        if len(field.entrants) != 2:
            raise BadFormat(f"an SPRT match is between two entrants, not {len(field.entrants)}")
        return _fill(State(options=options))

    def due(self, state: State) -> tuple[Pairing, ...]:
        """Return the pairings that may be played now. After the decision, only their running matches may finish."""
        return state.due

    def record(self, state: State, played: PlayedPairing) -> State:
        """Return the state after a result.

        Raises:
            NotDue: the pairing is not due.
        """
        due = without(state.due, played)
        legs = played.legs or (played,)
        counts = state.counts or (0,) * (2 * len(legs) + 1)
        ahead = (*state.ahead, (played.pairing.number, outcome(legs)))
        return _fill(_count(replace(state, due=due, counts=counts, ahead=ahead)))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state after one of the two has withdrawn: nothing is due any more."""
        return replace(state, due=(), is_given_up=True)

    def is_over(self, state: State) -> bool:
        """Return whether no further match may begin: the test has decided, or all pairings are played."""
        return state.verdict is not SprtDecision.CONTINUE or not state.due

    def places(self, state: State) -> None:
        """Return None: points decide."""

    def progress(self, state: State) -> Progress:
        """Return the state of the test after all results that were counted so far."""
        return sprt(state.counts or (0,) * OUTCOMES[0], state.options.hypotheses)


def outcome(legs: tuple[PlayedPairing, ...]) -> int:
    """Return the number of half points that B got in a pairing. If both fouled, each gets half a point."""
    return int(2 * sum((_points_of_b(leg) for leg in legs), Fraction(0)))


def _points_of_b(leg: PlayedPairing) -> Fraction:
    points = dict(zip(leg.pairing.seats, match_points(leg, PLAIN), strict=True))
    return (1 + points[1] - points[0]) / 2


def _count(state: State) -> State:
    """Count results in the order of the pairings, up to the first one that is missing."""
    ahead, counts, counted, verdict = dict(state.ahead), list(state.counts), state.counted, state.verdict
    while counted + 1 in ahead:
        counted += 1
        counts[ahead.pop(counted)] += 1
        if verdict is SprtDecision.CONTINUE:
            verdict = sprt(counts, state.options.hypotheses).verdict
    return replace(state, ahead=tuple(ahead.items()), counts=tuple(counts), counted=counted, verdict=verdict)


def _fill(state: State) -> State:
    """Add due pairings until the window is full."""
    if state.verdict is not SprtDecision.CONTINUE or state.is_given_up:
        return state
    last = min(state.number + state.options.window - len(state.due), state.options.max_pairs)
    added = (
        Pairing(number=number, round=number, seats=(0, 1) if number % 2 else (1, 0))
        for number in range(state.number + 1, last + 1)
    )
    return replace(state, due=(*state.due, *added), number=last)
