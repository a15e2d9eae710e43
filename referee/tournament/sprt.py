"""Is B better than A? A sequential test that stops as soon as the results say, and the format that plays by it.

The question is between two hypotheses: B is elo0 better than A, or elo1. After any number of matches their
likelihoods are compared, draws and all: each hypothesis takes the distribution of scores that fits the results best
among those with its mean. The test may be looked at after every match; that is what its bounds are made for.

Where a deal is played twice with the seats changed, the two matches belong together: luck in the deal cancels out. They
are counted as one pair with five outcomes, and the test needs fewer matches than it would for each by itself.

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
"""Loss, draw, win; or a pair's 0, 1/2, 1, 3/2, 2 points."""
_UNSEEN = 1e-3
"""Stands for an outcome that has not been seen, so that no hypothesis is ruled out for want of it; as in fishtest."""
_HALVINGS = 100
"""Number of times an interval is halved: more than a floating-point number has bits."""


class SprtDecision(Enum):
    """What the results allow to say."""

    CONTINUE = "continue"
    ACCEPT = "accept"
    """B is better by elo1 rather than by elo0."""
    REJECT = "reject"
    """B is better by elo0 at most, rather than by elo1."""


class Hypotheses(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The two hypotheses, and the error rates that are accepted."""

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    """Probability of ACCEPT if B is elo0 better."""
    beta: float = 0.05
    """Probability of REJECT if B is elo1 better."""

    def __post_init__(self) -> None:
        """Refuse a test that cannot end."""
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
    """Where a test stands."""

    llr: float
    """Logarithm of how much likelier the results are under elo1 than under elo0."""
    lower: float
    upper: float
    verdict: SprtDecision


def sprt(counts: Sequence[int], hypotheses: Hypotheses) -> Progress:
    """Return where a test stands.

    Args:
        counts: number of times that B got each outcome, from worst to best: losses, draws, wins; or pairs of matches
            in which it got 0, 1/2, 1, 3/2 and 2 points.
        hypotheses: the hypotheses to compare.

    Raises:
        ValueError: there are neither three counts nor five, or one is negative.
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
        mean0: the one, between 0 and 1, both excluded.
        mean1: the other.

    Returns:
        Above 0 if the second mean fits better; 0 without any results.
    """
    if not sum(counts):
        return 0.0
    weights = [count or _UNSEEN for count in counts]
    fitted0, fitted1 = _fit(weights, mean0), _fit(weights, mean1)
    return sum(weight * log(q1 / q0) for weight, q0, q1 in zip(weights, fitted0, fitted1, strict=True))


# Halving and not Newton's method: the function is steep near both ends of the interval, where a step can leave it. A
# hundred halvings take microseconds, and can't fail.


def _fit(weights: Sequence[float], mean: float) -> list[float]:
    """Return the likeliest distribution among those with a mean.

    It has the form p / (1 + x (score - mean)), p being what was observed; x is where its mean is right, and is found
    by halving: on the interval that keeps all probabilities positive, the mean goes down as x goes up.
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
# Two programs against each other, until a sequential test tells which is better.
#
# The second entrant, B, is tested against the first, A: is B better by `elo1` rather than by `elo0`? A pairing whose
# deal is played from both seats counts as a pair, a single match for itself; whichever it is, seats alternate.
#
# It is no plugin, and breaks the contract of formats in two points. Both programs are in every pairing, so several are
# due at the same time all the same: else one table alone would be busy. And when the test has decided, it is over
# though pairings are due: those that are going on may still be handed in.
#
# Results count in the order of the pairings, in whatever order they come in: a test that heard of short matches first
# would decide by them, and the same matches could decide otherwise another time.


PLAIN = Scoring()
"""1, 1/2 and 0: the points of the test, whatever the tournament's own are."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be set."""

    hypotheses: Hypotheses = Hypotheses()
    max_pairs: Annotated[int, Meta(ge=1, le=1_000_000)] = 2000
    """Number of pairings after which the match stops, decided or not."""
    window: Annotated[int, Meta(ge=1, le=1000)] = 8
    """Number of pairings that are due at the same time; one for each table keeps all of them busy."""


class State(Struct, frozen=True, kw_only=True):
    """An SPRT match after some results."""

    options: Options
    due: tuple[Pairing, ...] = ()
    number: int = 0
    """Number of the last pairing."""
    counts: tuple[int, ...] = ()
    """Number of times that B got each outcome, from worst to best, in the pairings up to `counted`."""
    counted: int = 0
    """Number of the last pairing up to which no result is missing."""
    ahead: tuple[tuple[int, int], ...] = ()
    """Number and outcome of pairings beyond that."""
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
        """Return every pairing that may be played now, and those that may be handed in when all is decided."""
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
        """Return whether nothing more is to be begun: the test has decided, or all pairings are played."""
        return state.verdict is not SprtDecision.CONTINUE or not state.due

    def places(self, state: State) -> None:
        """Return None: points decide."""

    def progress(self, state: State) -> Progress:
        """Return where the test stands, with all results that count so far."""
        return sprt(state.counts or (0,) * OUTCOMES[0], state.options.hypotheses)


def outcome(legs: tuple[PlayedPairing, ...]) -> int:
    """Return how B fared in a pairing: its half points; of two that both fouled, each gets one."""
    return int(2 * sum((_points_of_b(leg) for leg in legs), Fraction(0)))


def _points_of_b(leg: PlayedPairing) -> Fraction:
    points = dict(zip(leg.pairing.seats, match_points(leg, PLAIN), strict=True))
    return (1 + points[1] - points[0]) / 2


def _count(state: State) -> State:
    """Return the state with all results counted before which none is missing."""
    ahead, counts, counted, verdict = dict(state.ahead), list(state.counts), state.counted, state.verdict
    while counted + 1 in ahead:
        counted += 1
        counts[ahead.pop(counted)] += 1
        if verdict is SprtDecision.CONTINUE:
            verdict = sprt(counts, state.options.hypotheses).verdict
    return replace(state, ahead=tuple(ahead.items()), counts=tuple(counts), counted=counted, verdict=verdict)


def _fill(state: State) -> State:
    """Return the state with as many pairings due as may be."""
    if state.verdict is not SprtDecision.CONTINUE or state.is_given_up:
        return state
    last = min(state.number + state.options.window - len(state.due), state.options.max_pairs)
    added = (
        Pairing(number=number, round=number, seats=(0, 1) if number % 2 else (1, 0))
        for number in range(state.number + 1, last + 1)
    )
    return replace(state, due=(*state.due, *added), number=last)
