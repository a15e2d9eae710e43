"""The referee's standstills: credited time needs one on record, and all records of a process have the same."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.match import commands as c
from referee.match import events as e
from referee.match.timekeeper import DISK_MS, MAX_LOOKS, UNNOTICED_MS, Standstill
from referee.plugins import installed
from referee.record.audit.match import audit
from referee.record.audit.processes import Contradiction, contradictions
from referee.record.audit.times import PROMPT_MS, Excuses, Presence, presences
from referee.record.reader import Record, RecordError
from referee.record.writer import RecordWriter

from ...match.folding import LIMIT, PASS, lost, moved, overdue
from ..records import SEALER, Story, cut, standstills_of, tell

ASKED = 1
TURN = 2


def told(*events: e.Event) -> Story:
    """Return a match with this event in turn 2, after which all remaining seats leave."""
    begun = cut(tell("clean"), 5, *events)
    out = {foul.seat for foul in begun.match.fouls}
    last_ms = begun.steps[-1][0].at_ms
    return cut(tell("clean"), 5, *events, *(lost(seat, last_ms + 1) for seat in range(3) if seat not in out))


def audited(folder: Path, story: Story, standstills: dict[int, list[Standstill]] | None = None) -> Record:
    """Audit a story's record, as `referee audit --public-key` does.

    Args:
        folder: for the record.
        story: what happened.
        standstills: by the number of a step; None: those that account for all credited time.
    """
    path = folder / "m.jsonl"
    writer: RecordWriter = story.begin(path)
    for number, (event, commands) in enumerate(story.steps):
        found = standstills_of(event) if standstills is None else standstills.get(number, [])
        writer.write_transition(event, commands, found)
    assert story.match.result is not None
    writer.end(story.match)
    writer.close()
    return audit(path, installed().game, keys=[SEALER.public], find_wire=installed().wire)


ASKED_MS = tell("clean").steps[4][0].at_ms
LATE = moved(ASKED, TURN, PASS, ASKED_MS + 15_000.0, sent=ASKED_MS, lag=14_500.0)
LAGGED = moved(ASKED, TURN, PASS, ASKED_MS + 500.0, sent=ASKED_MS, lag=100.0)
AT = LAGGED.at_ms
UNSURE = overdue(ASKED, ASKED_MS + LIMIT + 2, sent=ASKED_MS, stalled=300.0)
SENT_LATE = moved(ASKED, TURN, PASS, ASKED_MS + 60_001.0, sent=ASKED_MS + 60_000.0)
MOVED = moved(ASKED, TURN, PASS, AT, sent=ASKED_MS)

LIES: dict[str, tuple[e.Event, dict[int, list[Standstill]], str]] = {
    "14.5 s of lag without a standstill": (LATE, {}, "standstills of 14500.0 ms"),
    "lag without a standstill": (LAGGED, {}, "standstills of 100.0 ms"),
    "more lag than the standstill": (LAGGED, {5: [(AT - 90, AT - 8)]}, "standstills of 100.0 ms"),
    "lag of a standstill before the request": (LAGGED, {5: [(0.0, ASKED_MS)]}, "standstills of 100.0 ms"),
    "one standstill, told as two": (LAGGED, {5: [(AT - 60, AT), (AT - 60, AT)]}, "standstills of 100.0 ms"),
    "a verdict that a standstill leaves open, without it": (UNSURE, {}, "the longest of 300.0 ms"),
    "a longer standstill than there was": (UNSURE, {5: [(UNSURE.at_ms - 299, UNSURE.at_ms)]}, "the longest of 300"),
    "a request sent a minute later": (SENT_LATE, {}, "a request sent from"),
    "a standstill behind its line": (MOVED, {5: [(AT - 1, AT + 1)]}, "standstills that begin"),
    "a standstill before the match": (MOVED, {1: [(-900.0, 0.5)]}, "standstills that begin"),
    "a standstill of a line before": (MOVED, {5: [(0.0, 0.5)]}, "standstills that begin"),
    "a standstill without an end": (MOVED, {5: [(AT, AT - 1)]}, "standstills that begin"),
    "standstills in one another": (MOVED, {5: [(AT - 9, AT - 5), (AT - 6, AT)]}, "standstills that begin"),
    "a standstill that shrinks": (MOVED, {5: [(AT - 9, AT - 5), (AT - 9, AT - 6)]}, "standstills that begin"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("lie", "standstills", "expected"), LIES.values(), ids=LIES)
def test_a_lie_about_time_is_named(
    tmp_path: Path, lie: e.Event, standstills: dict[int, list[Standstill]], expected: str
) -> None:
    """The rest of the record follows from the lie, and the seal is genuine, but credited time needs a standstill."""
    line = next(iter(standstills), 5) + 1
    with pytest.raises(RecordError, match=f"line {line}: expected .*{expected}"):
        audited(tmp_path, told(lie), standstills)


LOOKED_MS = MAX_LOOKS * UNNOTICED_MS
TRUE: dict[str, tuple[e.Event, dict[int, list[Standstill]]]] = {
    "a standstill at the end": (LAGGED, {5: [(AT - 100, AT)]}),
    "one that is noticed as late as can be": (LAGGED, {5: [(AT - 100 + UNNOTICED_MS, AT - UNNOTICED_MS)]}),
    "one at the beginning, one at the end": (LAGGED, {5: [(ASKED_MS, ASKED_MS + 30), (AT - 70, AT)]}),
    "one that goes on": (LAGGED, {5: [(AT - 100, AT - 90), (AT - 100, AT)]}),
    "one that nobody is excused by": (MOVED, {5: [(AT - 100, AT)]}),
    "a request that a standstill delays": (SENT_LATE, {5: [(ASKED_MS, ASKED_MS + 60_000.0 - PROMPT_MS)]}),
    "an answer that the referee looked for": (
        moved(ASKED, TURN, PASS, ASKED_MS + LIMIT + 400.0, sent=ASKED_MS, lag=400.002),
        {},
    ),
    "an answer that the referee looked for as long as it may": (
        moved(ASKED, TURN, PASS, ASKED_MS + LIMIT + LOOKED_MS, sent=ASKED_MS, lag=LOOKED_MS + 0.002),
        {},
    ),
}


@pytest.mark.parametrize(("event", "standstills"), TRUE.values(), ids=TRUE)
def test_what_standstills_account_for_holds(
    tmp_path: Path, event: e.Event, standstills: dict[int, list[Standstill]]
) -> None:
    """Within a beat on either side, the recorded standstills cover the credited time."""
    assert audited(tmp_path, told(event), standstills).result is not None


@pytest.mark.forges
@pytest.mark.parametrize(
    ("later_ms", "standing_ms", "is_named"),
    [
        (PROMPT_MS + DISK_MS, 0.0, False),
        (PROMPT_MS + DISK_MS + 1.0, 0.0, True),
        (60_000.0, 0.0, True),
        (60_000.0, 60_000.0 - PROMPT_MS - DISK_MS, False),
    ],
)
def test_a_request_that_waits_for_the_disk_is_sent_soon_too(
    tmp_path: Path, later_ms: float, standing_ms: float, *, is_named: bool
) -> None:
    """With durability `turn`, a disk that takes longer counts as a standstill, and is recorded."""
    sent_ms = ASKED_MS + later_ms
    event = moved(ASKED, TURN, PASS, sent_ms + 1.0, sent=sent_ms)
    story = dataclasses.replace(told(event), header={"durability": "turn"})
    standstills: dict[int, list[Standstill]] = {5: [(ASKED_MS, ASKED_MS + standing_ms)]} if standing_ms else {}
    if not is_named:
        assert audited(tmp_path, story, standstills).result is not None
        return
    with pytest.raises(RecordError, match="line 6: expected a request sent from"):
        audited(tmp_path, story, standstills)


def test_when_which_process_ran_a_match(tmp_path: Path) -> None:
    """A referee that was started again has another clock, with standstills of its own."""
    whole = tell("resumed")
    steps = list(whole.steps)
    steps[0] = (e.MatchOpened(at_ms=0.0, process="aa", clock_ms=100.0), steps[0][1])
    index = next(index for index, (event, _) in enumerate(steps) if isinstance(event, e.MatchResumed))
    died_ms = steps[index][0].at_ms
    steps[index] = (e.MatchResumed(at_ms=died_ms, process="bb", clock_ms=7.0), steps[index][1])
    end_ms = steps[-1][0].at_ms
    story = replace_steps(whole, steps)
    found = presences(audited(tmp_path, story, {4: [(0.5, 1.5)], len(steps) - 1: [(died_ms, end_ms)]}))
    assert found == [
        Presence("m", "aa", 100.0, 0.0, died_ms, ((0.5, 1.5),), heard=frozenset({0, 1, 2})),
        Presence("m", "bb", 7.0, died_ms, end_ms, ((died_ms, end_ms),), heard=frozenset({0, 1, 2})),
    ]


def replace_steps(story: Story, steps: list[tuple[e.Event, tuple[c.Command, ...]]]) -> Story:
    """Return a story with other steps."""
    return Story(story.match, tuple(steps), story.is_fixed)


# --- matches of one process

END_MS = 1000.0
standing = st.lists(st.floats(UNNOTICED_MS + 1, 90.0), max_size=8)
times = st.tuples(st.floats(0, END_MS), st.floats(0, END_MS)).map(sorted)


def process_of(gaps: list[float]) -> list[Standstill]:
    """Return standstills of a process, with gaps of the same length."""
    found, at_ms = [], 0.0
    for length_ms in gaps:
        found.append((at_ms + length_ms, at_ms + 2 * length_ms))
        at_ms += 2 * length_ms
    return found


def presence(name: str, standstills: list[Standstill], begin_ms: float, end_ms: float) -> Presence:
    """Return the standstills that a match reports which ran between two instants of a process, rounded as usual."""
    seen = [(max(begun, begin_ms), min(over, end_ms)) for begun, over in standstills]
    own = tuple(
        (round(begun - begin_ms, 3), round(over - begin_ms, 3))
        for begun, over in seen
        if begin_ms < over and begun < over
    )
    return Presence(name, "aa", round(begin_ms, 3), 0.0, round(end_ms - begin_ms, 3), own)


@given(standing, st.lists(times, min_size=2, max_size=5))
def test_matches_of_one_process_agree(gaps: list[float], spans: list[list[float]]) -> None:
    """True records don't contradict each other, even if a match begins or ends in mid-standstill."""
    ran = [presence(str(n), process_of(gaps), begin, end) for n, (begin, end) in enumerate(spans)]
    assert list(contradictions(ran)) == []


@given(standing.filter(bool), st.data())
def test_a_standstill_that_one_match_leaves_out_is_named(gaps: list[float], data: st.DataObject) -> None:
    """A standstill that begins or ends at another instant is named, too, and so is one that only one match reports."""
    whole = presence("whole", process_of(gaps), 0.0, 2 * END_MS)
    index = data.draw(st.integers(0, len(whole.standstills) - 1))
    begun, over = whole.standstills[index]
    other = data.draw(st.sampled_from([[], [(begun - 1, over)], [(begun, over - 1)], [(begun + 1, over + 1)]]))
    rest = (*whole.standstills[:index], *other, *whole.standstills[index + 1 :])
    lying = replace(whole, match="lying", standstills=rest)
    found = list(contradictions([lying, whole]))
    assert {(lack.match, lack.witness) for lack in found} <= {("lying", "whole"), ("whole", "lying")}
    assert any(lack.match == "lying" or other for lack in found)
    assert list(contradictions([replace(lying, process="bb"), whole])) == []
    assert list(contradictions([replace(lying, process=""), replace(whole, process="")])) == []


def test_a_contradiction_tells_who_and_when() -> None:
    """The instant is one of the match that lacks the standstill."""
    one = Presence("one", "aa", 100.0, 0.0, 500.0, ())
    two = Presence("two", "aa", 0.0, 0.0, 900.0, ((250.0, 300.0),))
    assert list(contradictions([one, two])) == [Contradiction(match="one", witness="two", at_ms=200.0)]


def test_what_is_excused_is_counted_once() -> None:
    """Adjacent standstills leave no time between them that would count twice."""
    excuses = Excuses([Presence("m", "", 0.0, 0.0, 99.0, ((10.0, 20.0), (20.0, 40.0), (90.0, 99.0)))])
    assert [round(excuses.all_ms(*span), 1) for span in ((0.0, 99.0), (15.0, 25.0), (50.0, 80.0))] == [61.5, 10.0, 0.0]
    assert [round(excuses.longest_ms(*span), 1) for span in ((0.0, 99.0), (15.0, 25.0), (50.0, 80.0))] == [
        20.0,
        5.0,
        0.0,
    ]


@pytest.mark.parametrize(
    ("end_ms", "least_ms"),
    [
        (100.0 + UNNOTICED_MS / 2, 0.0),  # nobody had noticed it by then
        (100.0 + UNNOTICED_MS + 1, UNNOTICED_MS + 1),
        (200.0, 100.0),
        (250.0, 100.0),
    ],
)
def test_a_standstill_that_has_just_begun_is_told_of_later(end_ms: float, least_ms: float) -> None:
    """A player that returns between its beginning and its discovery can't be sent it."""
    found = Presence(match="m", process="p", clock_ms=0.0, begin_ms=0.0, end_ms=300.0, standstills=((100.0, 200.0),))
    assert Excuses([found]).least_ms(50.0, end_ms) == pytest.approx(least_ms, abs=0.01)
