"""The loop's beat: stalls are found and charged to nobody; a player's thinking time is no lag."""

from typing import Any, cast

import pytest
from twisted.internet.task import Clock

from referee.match.timekeeper import UNNOTICED_MS
from referee.net.event_loop import BEAT_S, Lag
from referee.net.links.origin_limits import STORM


class Watch:
    """A beating loop whose stalls the test chooses: time passes, and the loop notices none of it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.lag = Lag(self.clock, self.clock.seconds)
        self.lag.start()

    def run(self, seconds: float) -> None:
        """Let the loop beat undisturbed."""
        self.clock.pump([BEAT_S] * round(seconds / BEAT_S))

    def stall(self, seconds: float) -> None:
        """Let the loop be busy, then beat late."""
        self.clock.advance(seconds)

    def freeze(self, seconds: float) -> None:
        """Let time pass within one turn of the loop: no beat yet."""
        self.clock.rightNow += seconds


def test_a_beating_loop_has_no_lag() -> None:
    """While every beat is in time, neither sending nor reading is late."""
    watch = Watch()
    watch.run(1.0)
    assert (watch.lag.sending_delay(0.5), watch.lag.reading_delay(0.5, 1.0)) == (0.0, 0.0)


def test_an_answer_read_after_a_stall_may_have_lain_there_all_the_time() -> None:
    """The lag of reading reaches back to the beat before the stall."""
    watch = Watch()
    watch.run(0.1)
    watch.stall(0.15)
    assert pytest.approx(0.15) == watch.lag.reading_delay(0.0, watch.clock.seconds())


def test_a_stall_within_the_same_turn_of_the_loop_counts() -> None:
    """The loop need not have beaten again for its stall to be known."""
    watch = Watch()
    watch.run(0.1)
    watch.freeze(0.2)
    assert pytest.approx(0.2) == watch.lag.reading_delay(0.0, watch.clock.seconds())


def test_a_lag_begins_with_the_request_at_the_earliest() -> None:
    """The player gets no credit for what the loop did before it sent the request."""
    watch = Watch()
    watch.run(0.1)
    watch.freeze(0.05)
    sent = watch.clock.seconds()
    watch.freeze(0.15)
    assert pytest.approx(0.15) == watch.lag.reading_delay(sent, watch.clock.seconds())


def test_a_stall_while_the_player_was_thinking_is_no_lag() -> None:
    """A stall that was over before the answer came gives the player no credit."""
    watch = Watch()
    watch.run(0.1)
    watch.stall(0.1)
    watch.run(0.1)
    assert watch.lag.reading_delay(0.0, watch.clock.seconds()) == 0.0


def test_a_request_written_into_a_stall_waits_for_its_end() -> None:
    """The lag of sending is the rest of the stall during which the request was written."""
    watch = Watch()
    watch.run(0.1)
    watch.freeze(0.05)
    sent = watch.clock.seconds()
    watch.stall(0.1)
    watch.run(0.5)
    assert pytest.approx(0.1) == watch.lag.sending_delay(sent)
    assert watch.lag.sending_delay(watch.clock.seconds()) == 0.0


def test_a_request_written_before_a_beat_may_wait_for_the_stall_behind_it() -> None:
    """Between two beats the loop may have sent nothing, so the stall of the next gap counts; a later one does not."""
    watch = Watch()
    watch.run(0.1)
    watch.freeze(BEAT_S / 2)
    sent = watch.clock.seconds()
    watch.clock.advance(BEAT_S / 2)
    watch.stall(0.1)
    assert pytest.approx(0.1 + BEAT_S / 2) == watch.lag.sending_delay(sent)
    watch.run(0.02)
    watch.stall(0.1)
    assert pytest.approx(0.1 + BEAT_S / 2) == watch.lag.sending_delay(sent)


def test_a_stall_two_beats_after_a_request_is_no_lag_of_sending() -> None:
    """Between the beats, the loop has sent everything."""
    watch = Watch()
    watch.run(0.1)
    watch.freeze(BEAT_S / 2)
    sent = watch.clock.seconds()
    watch.clock.advance(BEAT_S / 2)
    watch.run(BEAT_S)
    watch.stall(0.1)
    assert watch.lag.sending_delay(sent) == 0.0


def test_an_answer_may_have_lain_there_through_two_stalls() -> None:
    """A message that is read after two stalls may have come during the first one."""
    watch = Watch()
    watch.run(0.1)
    watch.stall(0.15)
    watch.freeze(0.05)
    assert pytest.approx(0.2) == watch.lag.reading_delay(0.0, watch.clock.seconds())


@pytest.mark.parametrize(("late_ms", "is_told"), [(-0.001, False), (0.001, True)])
def test_what_goes_unnoticed_is_as_long_as_audits_take_it_to_be(late_ms: float, *, is_told: bool) -> None:
    """A standstill that is longer by a microsecond is reported, while it goes on and afterwards."""
    watch, told, notes = Watch(), list[tuple[float, float]](), list[tuple[str, dict[str, object]]]()
    watch.lag.listeners.add(lambda begin, end: told.append((begin, end)))
    watch.lag.note = lambda event, **facts: notes.append((event, facts))
    watch.clock.advance(BEAT_S)
    length_s = (UNNOTICED_MS + late_ms) / 1000
    watch.freeze(length_s)
    assert (watch.lag.stalled_since(watch.clock.seconds()) is not None) == is_told
    watch.clock.advance(0)
    assert told == ([(BEAT_S, BEAT_S + length_s)] if is_told else [])
    assert notes == ([("loop-stalled", {"stalled_s": round(length_s, 6)})] if is_told else [])


@pytest.mark.parametrize("late_s", [0.001, 0.004, 0.0085, 1.003])
def test_a_late_beat_does_not_put_the_next_one_off(late_s: float) -> None:
    """Beats stay where they were due at the beginning, except for those that are left out."""
    clock = Clock()
    clock.advance(begun_s := 0.0021)
    lag = Lag(clock, clock.seconds)
    lag.start()
    clock.pump([BEAT_S] * 3)
    clock.advance(BEAT_S + late_s)
    (due_s,) = (call.getTime() for call in cast("list[Any]", clock.getDelayedCalls()))
    assert clock.seconds() < due_s <= clock.seconds() + BEAT_S
    beats = (due_s - begun_s) / BEAT_S
    assert beats == pytest.approx(round(beats))


def test_a_stopped_beat_leaves_no_timer() -> None:
    watch = Watch()
    watch.lag.stop()
    watch.lag.stop()
    assert watch.clock.getDelayedCalls() == []


# --- storms


def test_no_standstill_excuses_who_storms_the_door() -> None:
    """Neither a past standstill nor the present one excuses such a player. Both excuse all other players."""
    watch = Watch()
    watch.run(0.1)
    watch.stall(0.3)
    for _ in range(2 * STORM):
        watch.lag.storms.count("rogue")
    watch.stall(0.4)
    now = watch.clock.seconds()
    assert watch.lag.longest_stall(0.0, now, "rogue") == pytest.approx(0.3)
    assert watch.lag.longest_stall(0.0, now, "honest") == pytest.approx(0.4)
    assert watch.lag.sending_delay(0.38, "rogue") == pytest.approx(0.02)
    assert watch.lag.reading_delay(0.0, now, "rogue") == 0.0
    assert watch.lag.reading_delay(0.0, now, "honest") == pytest.approx(0.4)
    for _ in range(2 * STORM):
        watch.lag.storms.count("rogue")
    watch.freeze(0.5)
    now = watch.clock.seconds()
    assert watch.lag.longest_stall(0.75, now, "rogue") == watch.lag.reading_delay(0.75, now, "rogue") == 0.0
    assert watch.lag.longest_stall(0.75, now, "honest") == pytest.approx(0.5)


def test_a_beat_that_is_not_begun_knows_no_standstill() -> None:
    """A loop that nobody watches excuses nobody."""
    clock = Clock()
    lag = Lag(clock, clock.seconds)
    clock.advance(9.0)
    assert lag.longest_stall(0.0, 9.0, "") == lag.reading_delay(0.0, 9.0) == 0.0


def test_the_beat_goes_on_until_whoever_began_it_ends_it() -> None:
    """A second user leaves it beating; the last match to end stops it."""
    clock = Clock()
    lag = Lag(clock, clock.seconds)
    with lag.beating():
        with lag.beating():
            clock.advance(1.0)
        clock.advance(0.5)
        assert lag.longest_stall(0.0, 1.5, "") == pytest.approx(1.0)
    first, second = lag.beating(), lag.beating()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert clock.getDelayedCalls() != []
    second.__exit__(None, None, None)
    assert clock.getDelayedCalls() == []
