"""Server-sent events: everybody gets the newest snapshot, and the server stores only that one."""

from collections.abc import Callable

import pytest
from twisted.internet.task import Clock

from referee.web import event_streams
from referee.web.event_streams import ALIVE_S, LOOK_S, PACE_S, EventStreams, PersonStreams
from referee.web.sessions import Person, SiteRole

from .looking import Visitor


class Contest:
    """A number that changes, and its followers."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.number = 0
        self.streams = EventStreams(self.clock, lambda: b"%d" % self.number)

    def visitor(self, host: str = "10.0.0.1") -> Visitor:
        """Let a visitor follow."""
        visitor = Visitor(host)
        self.streams.add(visitor)
        return visitor

    def change(self) -> None:
        """Change the number."""
        self.number += 1
        self.streams.notify()


def test_what_changes_at_once_is_told_once() -> None:
    """A new follower first gets the whole state."""
    contest = Contest()
    first = contest.visitor()
    for _ in range(5):
        contest.change()
    other = contest.visitor()
    contest.clock.advance(PACE_S)
    assert first.events() == [b"data: 0", b"data: 5"]
    assert other.events() == [b"data: 5", b"data: 5"]
    contest.clock.advance(PACE_S)
    assert first.events() == []


def test_who_is_slow_gets_the_newest() -> None:
    """Only the last of the missed snapshots is kept."""
    contest = Contest()
    slow = contest.visitor()
    slow.events()
    slow.producer.pauseProducing()
    for _ in range(3):
        contest.change()
        contest.clock.advance(PACE_S)
    assert slow.events() == []
    slow.producer.resumeProducing()
    slow.producer.resumeProducing()
    assert slow.events() == [b"data: 3"]


@pytest.mark.parametrize(("looks", "is_there"), [(1, True), (2, False)])
def test_who_takes_nothing_is_cut(looks: int, *, is_there: bool) -> None:
    """A follower that takes nothing between two signs of life is cut; the others are not affected."""
    contest = Contest()
    stuck, other = contest.visitor(), contest.visitor()
    stuck.producer.pauseProducing()
    other.events()
    for _ in range(looks):
        contest.clock.advance(ALIVE_S)
    assert len(contest.streams) == 1 + is_there
    assert other.events() == [b": alive"] * looks


def test_one_address_has_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """For one more, its own oldest makes way; other addresses are not affected."""
    monkeypatch.setattr(event_streams, "MOST_OF_ADDRESS", 2)
    contest = Contest()
    other = contest.visitor("10.0.0.2")
    first, *_ = (contest.visitor() for _ in range(3))
    assert len(contest.streams) == 3
    assert (first.finished.called, other.finished.called) == (True, False)


def _leave(contest: Contest, visitor: Visitor) -> None:
    visitor.finished.errback(ConnectionError())


def _close(contest: Contest, visitor: Visitor) -> None:
    contest.streams.close()


@pytest.mark.parametrize("end", [_leave, _close])
def test_nothing_is_left_behind(end: Callable[[Contest, Visitor], None]) -> None:
    """Without followers, no timer runs."""
    contest = Contest()
    visitor = contest.visitor()
    contest.change()
    end(contest, visitor)
    contest.clock.advance(PACE_S)
    assert (len(contest.streams), contest.clock.getDelayedCalls()) == (0, [])


def test_many_who_look_on_are_told_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """So there is a limit on the bytes a second for all together."""
    contest = Contest()
    visitors = [contest.visitor() for _ in range(4)]
    monkeypatch.setattr(event_streams, "MOST_BYTES_A_SECOND", len(visitors) * len(b"data: 1\n\n") / (4 * PACE_S))
    contest.change()
    contest.clock.advance(PACE_S)
    contest.change()
    contest.clock.advance(3 * PACE_S)
    assert {tuple(visitor.events()) for visitor in visitors} == {(b"data: 0", b"data: 1")}
    contest.clock.advance(PACE_S)
    assert {tuple(visitor.events()) for visitor in visitors} == {(b"data: 2",)}


def test_who_missed_some_news_gets_all() -> None:
    """Followers that know the rest get the changes; new and slow ones get the whole state."""
    clock = Clock()
    streams = EventStreams(clock, lambda: b"all", lambda: b"news")
    slow, other = Visitor(), Visitor()
    streams.add(slow)
    streams.add(other)
    slow.producer.pauseProducing()
    streams.notify()
    clock.advance(PACE_S)
    slow.producer.resumeProducing()
    assert (slow.events(), other.events()) == ([b"data: all", b"data: all"], [b"data: all", b"data: news"])


def test_of_several_people_each_is_told_of_its_own_changes() -> None:
    """Other followers may come in between, or all of them leave."""
    clock, stamps = Clock(), {"ada": 0, "bob": 0}
    streams = PersonStreams(clock, lambda person: stamps[person.name])
    for _ in range(2):
        seen = {name: Visitor("10.0.0.1") for name in stamps}
        for name, visitor in seen.items():
            streams.add(Person(SiteRole.AUTHOR, name), visitor)
        clock.pump([PACE_S, PACE_S])
        assert all(visitor.events() for visitor in seen.values())
        stamps["bob"] += 1
        clock.pump([LOOK_S, PACE_S])
        assert [visitor.events() for visitor in seen.values()] == [[], [b"data: %d" % stamps["bob"]]]
        streams.close_all()
        assert clock.getDelayedCalls() == []
