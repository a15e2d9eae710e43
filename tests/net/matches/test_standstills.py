"""The records of all matches have the standstills of the loop, at the same instants."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from twisted.internet.task import Clock

from protocol.messages import Move
from referee.net import event_loop as event_loop_module
from referee.net.event_loop import BEAT_S, EventLoop
from referee.record.audit.processes import contradictions
from referee.record.audit.times import Presence, check_book, presences
from referee.record.reader import read_record

from ..in_memory import LIMIT_S, PASS, InMemoryMatch

READING_S = 20e-6


def passed(clock: Clock, source: Random) -> None:
    """Let some time pass while the loop beats or stands still."""
    clock.advance(source.choice((0.0, BEAT_S, 0.03, 0.2)))
    clock.pump([BEAT_S / 2] * source.randrange(6))


def answer_one(match: InMemoryMatch) -> None:
    """Let the asked seat move."""
    seat, request = next(iter(match.match.open_requests.items()))
    match.peers[seat].heard()
    match.peers[seat].say(Move(match="m1", turn=request.number, move=PASS))


def answer_some(matches: list[InMemoryMatch], loop: EventLoop, meanwhile: Callable[[], None]) -> None:
    """Answer in several matches whose messages have all been read, one match after the other."""
    loop.agenda.hold()
    for match in matches:
        answer_one(match)
    for _ in matches:
        loop.agenda.release()
        meanwhile()


class TickingClock(Clock):
    """A clock that advances whenever it is read, as every real one does: mostly a little, rarely by a standstill.

    Args:
        source: of the random standstills.
        share: average share of the readings of the clock that come after a standstill.
    """

    def __init__(self, source: Random, share: float = 0.1) -> None:
        super().__init__()
        self._source = source
        self._share = share

    def seconds(self) -> float:
        """Return the present instant, in seconds."""
        self.rightNow += 0.03 if self._source.random() < self._share else READING_S
        return super().seconds()


@pytest.mark.parametrize("seed", range(50))
def test_matches_of_one_loop_tell_of_the_same_standstills(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not matter when a match begins or ends; no audit finds a contradiction."""
    monkeypatch.setattr(event_loop_module, "AT_ONCE", 1)
    source, clock = Random(seed), TickingClock(Random(seed))
    loop = EventLoop(clock, clock.seconds)
    loop.lag.start()
    matches: list[InMemoryMatch] = []
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        passed(clock, source)
        matches.append(InMemoryMatch(tmp_path / str(number), clock=clock, event_loop=loop))
        matches[-1].ready()
    while going := [match for match in matches if not match.result]:
        if source.random() < 0.1:
            clock.pump([LIMIT_S, *[BEAT_S / 2] * 4])
        elif source.random() < 0.5:
            answer_one(source.choice(going))
        else:
            answer_some(source.sample(going, source.randrange(1, len(going) + 1)), loop, lambda: passed(clock, source))
        passed(clock, source)
    loop.lag.stop()
    records = [read_record(match.path) for match in matches]
    for record in records:
        check_book(record)
    found = [presence for record in records for presence in presences(record)]
    assert {presence.process for presence in found} == {loop.lag.process}
    assert any(presence.standstills for presence in found)
    assert list(contradictions(found)) == []
    for match in matches:
        match.end()
    assert loop.lag.listeners == set()
    check_found(found)


def check_found(found: list[Presence]) -> None:
    """Check that a match without a standstill is named if another one ran then."""
    one = max(found, key=lambda presence: presence.end_ms)
    for other in found:
        shift_ms = other.clock_ms - one.clock_ms
        for standstill in other.standstills:
            if one is not other and 1 < standstill[1] + shift_ms < one.end_ms - 1 and standstill[1] < other.end_ms - 1:
                lying = Presence(one.match, one.process, one.clock_ms, one.begin_ms, one.end_ms, ())
                assert list(contradictions([lying, other])) != []
                return
