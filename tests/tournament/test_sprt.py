"""The sequential test: published ratios, its bounds, refused arguments, and how often it errs."""

from math import isfinite, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.tournament.ratings.elo import expected_score
from referee.tournament.sprt import Hypotheses, SprtDecision, log_likelihood_ratio, sprt


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "expected"),
    [
        ((253, 4282, 17604, 4431, 286), -0.25, 1.25, 2.94),
        ((58, 3302, 33130, 3518, 84), 0.25, 1.25, 2.97),
        ((491, 7345, 29693, 7670, 465), -0.25, 1.25, 2.96),
        ((17, 253, 1042, 337, 39), -0.5, 1.5, 2.96),
        ((11, 407, 3238, 513, 11), 0.25, 1.75, 2.93),
        ((133, 1751, 5094, 1849, 165), -0.5, 1.5, 2.94),
        ((424, 2948, 5832, 3045, 460), -1.0, 3.0, 2.94),
        ((1284, 17437, 55536, 18085, 1292), 0.0, 2.0, 2.94),
    ],
)
def test_pairs_have_the_ratios_that_fishtest_published(
    counts: tuple[int, ...], elo0: float, elo1: float, expected: float
) -> None:
    """To the digits given. Source: tests of Stockfish quoted in its pull requests 3209, 3098, 2971, 2950 and 2493."""
    found = sprt(counts, Hypotheses(elo0=elo0, elo1=elo1)).llr
    assert expected == pytest.approx(found, abs=0.006)


def test_without_draws_the_ratio_is_that_of_a_coin() -> None:
    """Sixty of a hundred have the binomial likelihoods, except for one unseen draw."""
    expected = 60 * log(expected_score(50) / expected_score(0)) + 40 * log(expected_score(-50) / expected_score(0))
    assert expected == pytest.approx(log_likelihood_ratio((40, 0, 60), 0.5, expected_score(50)), abs=1e-3)


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ((0, 0, 0), SprtDecision.CONTINUE),
        ((0, 0, 1), SprtDecision.CONTINUE),
        ((0, 0, 11), SprtDecision.CONTINUE),
        ((10, 10, 40), SprtDecision.ACCEPT),
        ((40, 10, 10), SprtDecision.REJECT),
        ((60, 0, 60), SprtDecision.REJECT),
        ((0, 0, 0, 0, 0), SprtDecision.CONTINUE),
        ((2, 4, 10, 20, 30), SprtDecision.ACCEPT),
        ((30, 20, 10, 4, 2), SprtDecision.REJECT),
    ],
)
def test_the_counts_decide(counts: tuple[int, ...], verdict: SprtDecision) -> None:
    """The hypotheses are 0 and 100 points of Elo."""
    assert verdict is sprt(counts, Hypotheses(elo0=0, elo1=100)).verdict


def test_the_bounds_are_walds() -> None:
    """At 5 % each, they are the well-known 2.94."""
    progress = sprt((0, 0, 0), Hypotheses(elo0=0, elo1=5))
    assert (0.0, -log(19), log(19)) == pytest.approx((progress.llr, progress.lower, progress.upper))
    strict = Hypotheses(elo0=0, elo1=5, alpha=0.01, beta=0.1)
    assert (log(0.1 / 0.99), log(0.9 / 0.01)) == pytest.approx((strict.lower, strict.upper))


@given(st.lists(st.integers(0, 500), min_size=5, max_size=5) | st.lists(st.integers(0, 500), min_size=3, max_size=3))
def test_seen_from_the_other_side_the_ratio_changes_its_sign(counts: list[int]) -> None:
    """A is better than B by x Elo just when B is better than A by -x, and the ratio is always a number."""
    one = log_likelihood_ratio(counts, expected_score(-5), expected_score(20))
    other = log_likelihood_ratio(counts[::-1], expected_score(-20), expected_score(5))
    assert isfinite(one)
    assert one == pytest.approx(-other, abs=1e-6)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))
def test_a_win_never_speaks_against(losses: int, draws: int, wins: int) -> None:
    """Turning a loss into a win raises the ratio."""
    before = log_likelihood_ratio((losses + 1, draws, wins), 0.5, expected_score(30))
    after = log_likelihood_ratio((losses, draws, wins + 1), 0.5, expected_score(30))
    assert before < after


@pytest.mark.parametrize("counts", [(1, 2), (1, 2, 3, 4), (1, -1, 2), ()])
def test_other_counts_are_refused(counts: tuple[int, ...]) -> None:
    """There must be three or five counts, none negative."""
    with pytest.raises(ValueError, match="three counts, or five"):
        sprt(counts, Hypotheses())


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"elo0": 5.0, "elo1": 5.0}, "not below"),
        ({"elo0": float("nan")}, "not below"),
        ({"elo1": float("inf")}, "not below"),
        ({"alpha": 0.0}, "between 0 and 0.5"),
        ({"beta": 0.5}, "between 0 and 0.5"),
    ],
)
def test_a_test_that_cannot_end_is_refused(raw: dict[str, float], words: str) -> None:
    """The error says what to fix."""
    with pytest.raises(ValueError, match=words):
        Hypotheses(**raw)


@pytest.mark.parametrize(("truth", "wrong"), [(0, SprtDecision.ACCEPT), (120, SprtDecision.REJECT)])
def test_it_errs_about_as_seldom_as_it_is_told(truth: float, wrong: SprtDecision) -> None:
    """It looks after every match, with a third of them drawn; 5 % are allowed."""
    random = Random(5)
    hypotheses = Hypotheses(elo0=0, elo1=120)
    verdicts = [played_out(random, truth, hypotheses) for _ in range(60)]
    assert verdicts.count(wrong) <= 0.1 * len(verdicts)


def played_out(random: Random, truth: float, hypotheses: Hypotheses) -> SprtDecision:
    """Play until the test ends."""
    win = expected_score(truth) - 1 / 6
    counts = [0, 0, 0]
    verdict = SprtDecision.CONTINUE
    while verdict is SprtDecision.CONTINUE:
        chance = random.random()
        counts[2 if chance < win else 1 if chance < win + 1 / 3 else 0] += 1
        verdict = sprt(counts, hypotheses).verdict
    return verdict
