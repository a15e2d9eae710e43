"""Deadlines on a busy loop: an answer that reached the socket in time counts, whatever the loop does."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from twisted.internet.interfaces import IDelayedCall
from twisted.internet.task import Clock

from referee.match.timekeeper import MAX_LOOKS
from referee.net.event_loop import BEAT_S, Lag
from referee.net.links.origin_limits import STORM
from referee.net.matches.stopwatch import MARGIN_MS, Stopwatch

LIMIT_S = 0.1
UNSEEN_S = BEAT_S * 1.4
"""Time of a turn of the loop that is too short for the beat to be missed."""
_AT_ONCE_S = 1e-9


class Turns(Clock):
    """A clock on which a call that is due at once waits for the loop's next turn, as in a reactor."""

    def callLater(
        self,
        delay: float,
        callable: Callable[..., object],  # noqa: A002  # Twisted's name
        *args: object,
        **kw: object,
    ) -> IDelayedCall:
        """Call a function after a delay, but never in this turn."""
        return super().callLater(max(delay, _AT_ONCE_S), callable, *args, **kw)


class OneRequest:
    """A loop with one player's socket and one open request. A turn runs timers, looks, works for others, and reads.

    Args:
        arrives_s: seconds from the request until the answer reaches the socket.
    """

    def __init__(self, arrives_s: float) -> None:
        self.clock = Turns()
        self.answer: dict[str, Any] | None = None
        self.passed: Mapping[str, Any] | None = None
        self._bytes = 0
        lag = Lag(self.clock, self.clock.seconds)
        lag.start()
        self._watch = Stopwatch(self.clock, lag, last_ms=0.0, count_bytes=lambda _: self._bytes, on_deadline=self._pass)
        self._arrives_s = arrives_s
        self._watch.begin(0, LIMIT_S * 1000)

    def _pass(self, _seat: int, instants: Mapping[str, Any]) -> None:
        self.passed = instants

    def turn(self, work_s: float) -> None:
        """Take one turn of the loop, in which the others' events take some time."""
        self.clock.advance(0)
        is_there = self._arrives_s <= self.clock.seconds()
        self.clock.rightNow += work_s
        if is_there and self.answer is None and self.passed is None:
            self._bytes += 1
            self.answer = self._watch.end(0, self.clock.seconds(), self.clock.seconds())

    def run(self, works_s: Sequence[float]) -> None:
        """Repeat turns until there is a verdict."""
        while self.answer is None and self.passed is None:
            for work_s in works_s:
                self.turn(work_s)


WORKS_S = st.lists(st.floats(0.0005, UNSEEN_S), min_size=1, max_size=8)


@given(st.floats(0.0, LIMIT_S), WORKS_S)
@example(LIMIT_S - 0.0001, [UNSEEN_S])
@example(LIMIT_S, [0.003, UNSEEN_S])
def test_what_reached_the_socket_in_time_is_in_time(arrives_s: float, works_s: list[float]) -> None:
    """No turn of the loop is long enough to count as a standstill, and still none counts for the player."""
    api = OneRequest(arrives_s)
    api.run(works_s)
    assert api.answer is not None
    assert api.answer["at_ms"] - api.answer["sent_ms"] - api.answer["lag_ms"] <= LIMIT_S * 1000


@pytest.mark.parametrize("work_s", [0.0001, 0.001, 0.003, UNSEEN_S])
def test_what_comes_after_the_first_look_is_late(work_s: float) -> None:
    """An answer gains at most two turns of the loop; then the referee has looked, and found nothing."""
    api = OneRequest(LIMIT_S + 2 * work_s + 0.0001)
    api.run([work_s])
    assert api.answer is None
    assert api.passed is not None


def test_an_answer_in_time_keeps_its_time() -> None:
    """No time is subtracted if that is not needed."""
    api = OneRequest(LIMIT_S / 2)
    api.run([0.001])
    assert api.answer is not None
    assert api.answer["lag_ms"] == 0.0


@pytest.mark.parametrize("limit_ms", [1.0, 100.0, 3_600_000.0])
@pytest.mark.parametrize("is_busy", [False, True])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_limit_is_looked_at_when_it_is_over(limit_ms: float, *, is_busy: bool, is_first: bool) -> None:
    """The look is exact up to the margin, for every limit. It ends even if the socket always has more bytes."""
    clock, looks = Turns(), list[int]()
    passed = list[float]()

    def _count_bytes(seat: int) -> int:
        looks.append(seat)
        return len(looks) if is_busy else 0

    lag = Lag(clock, clock.seconds)
    watch = Stopwatch(
        clock, lag, last_ms=0.0, count_bytes=_count_bytes, on_deadline=lambda *_: passed.append(clock.seconds())
    )
    watch.begin(0, limit_ms)
    if not is_first:
        clock.advance(limit_ms / 4000)
        watch.end(0, clock.seconds(), clock.seconds())
        watch.begin(0, limit_ms)
    due_s = clock.seconds() + limit_ms / 1000
    clock.advance(limit_ms * 3 / 4000 + MARGIN_MS / 1000)  # when the first limit would be over
    clock.advance(due_s - clock.seconds() - _AT_ONCE_S)
    assert looks == []
    clock.advance((2 * MARGIN_MS) / 1000)
    assert looks[:1] == [0]
    while not passed:
        clock.advance(_AT_ONCE_S)
    assert looks == [0] * (1 + (MAX_LOOKS if is_busy else 1))


class OneMatch:
    """A match whose process has run for a while, with one request from its beginning."""

    def __init__(self, origin: str = "") -> None:
        self.clock = Clock()
        self.lag = Lag(self.clock, self.clock.seconds)
        self.clock.advance(1.23456789)
        self.lag.start()
        self.watch = Stopwatch(self.clock, self.lag, last_ms=0.0, count_bytes=lambda _: 0, on_deadline=lambda *_: None)
        self.watch.begin(0, 60_000.0, origin)
        self.beat()

    def beat(self) -> None:
        """Let the loop beat undisturbed for a moment."""
        self.clock.pump([BEAT_S] * 4)


@pytest.mark.parametrize(
    ("stood_s", "expected"),
    [
        (0.0, {"lag_ms": 0.0}),
        (40.0, {"lag_ms": 40_000.0, "stalled_ms": 40_000.0}),
        (40.0123456789, {"lag_ms": 40_012.346, "stalled_ms": 40_012.346}),
    ],
)
def test_what_an_answer_tells_of_its_time_is_exact(stood_s: float, expected: dict[str, float]) -> None:
    """Exactly the standstill in which it was read is subtracted, to the microsecond."""
    match = OneMatch()
    match.clock.rightNow += stood_s
    at = match.clock.seconds()
    found = match.watch.end(0, at, at)
    at_ms = 20.0 + round(stood_s * 1000, 3)
    assert found == {"at_ms": at_ms, "sent_ms": 0.0, "first_byte_ms": at_ms, **expected}
    assert match.watch.clock_facts == {"process": match.lag.process, "clock_ms": 1234.568}


@pytest.mark.parametrize(("origin", "expected"), [("honest", {"stalled_ms": 300.0}), ("rogue", {"stormed_ms": 300.0})])
def test_a_standstill_is_told_as_an_excuse_or_as_none(origin: str, expected: dict[str, float]) -> None:
    """A standstill while the player was thinking is no lag. If the player stormed in it, it excuses nothing."""
    match = OneMatch(origin)
    for _ in range(2 * STORM):
        match.lag.storms.count("rogue")
    match.clock.advance(0.3)
    match.beat()
    assert match.watch.measure_delays(0, match.watch.at_ms(), None) == expected
