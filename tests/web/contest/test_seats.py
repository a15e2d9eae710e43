"""The seat of an author who plays in person: the states of its page before, during and after the match."""

import socket
from typing import Any

import msgspec
import pytest
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from referee.web.contest import seats
from referee.web.contest.seats import HostedSeats
from referee.web.event_streams import LONGEST_S
from referee.web.person.seat import Act, PageState
from referee.web.submissions.challenges import Challenge

from ..looking import Visitor

MATCH = Challenge(
    author="ada", number=1, tournament="cup", version=None, opponent="house:dag", asked="2026-11-01T10:00:00Z"
)
SHOWN = PageState(
    version=1,
    names=("ada", "dag"),
    svg="<svg/>",
    turn=3,
    asked=True,
    touched=(),
    options=("pass",),
    ready=False,
    left_ms=9000.0,
    waiting="ada",
    said=["dag: pass"],
    over="",
    closed=False,
)
ACT = Act(what="touch", turn=3, at=0, option="pass")


class House:
    """All seats, and the match at ada's.

    Args:
        patch: undone after the test.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self.why = "waits"
        self.seats = HostedSeats(self.clock, lambda _: "The Q game", lambda _: self.why)
        self.seat = self.seats.find(MATCH)
        self.transport = StringTransport()
        self._link: Any = None
        patch.setattr(seats, "speak", self._speak)

    def _speak(self, link: Any, ours: socket.socket, _reactor: object) -> None:
        ours.close()
        self.transport = StringTransport()
        self._link = link
        link.makeConnection(self.transport)

    def begin(self) -> None:
        """Begin to play, or continue."""
        self.seat.invite().close()

    def tell(self, state: PageState) -> None:
        """Send the page's state, as the match's process does."""
        self._link.dataReceived(msgspec.json.encode(state) + b"\n")

    def end(self) -> None:
        """End the match's process."""
        self._link.connectionLost(Failure(ConnectionDone()))

    def stop(self) -> None:
        """Stop the match's process before the match is over."""
        self.end()
        self.seat.rest()
        self.tell(SHOWN)

    def state(self) -> PageState:
        """Return what the page shows."""
        return msgspec.json.decode(self.seat.snapshot(), type=PageState)


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    """Return seats where nobody plays yet."""
    return House(monkeypatch)


def test_from_the_first_wait_to_the_end(house: House) -> None:
    """Each state is newer than the one before, from whichever process, and only the last one is final."""
    states = [house.state()]
    for step in (
        house.begin,
        lambda: house.tell(SHOWN),
        lambda: house.tell(msgspec.structs.replace(SHOWN, over="the match stopped", asked=False, closed=True)),
        house.stop,
        house.begin,
        lambda: house.tell(msgspec.structs.replace(SHOWN, over="ada won", asked=False, options=(), closed=True)),
        house.end,
        lambda: house.seat.conclude(None),
    ):
        step()
        states.append(house.state())
    versions = [state.version for state in states]
    assert versions == sorted(versions)
    assert [state.closed for state in states] == [False] * 8 + [True]
    assert [state.still for state in states] == ["waits", "", "", "", "waits", "", "", "", ""]
    assert [state.asked for state in states] == [False, False, True, False, False, False, False, False, False]
    assert (states[-1].over, states[-1].svg, states[-1].options) == ("ada won", "<svg/>", ())


@pytest.mark.parametrize(("trouble", "told"), [("it took too long", "not played: it took too long"), (None, "is over")])
def test_an_end_that_no_process_has_told(house: House, trouble: str | None, told: str) -> None:
    """This happens after a host was killed."""
    ended = msgspec.structs.replace(MATCH, number=2, ended=MATCH.asked, trouble=trouble)
    state = msgspec.json.decode(house.seats.find(ended).snapshot(), type=PageState)
    assert (told in state.over, state.closed) == (True, True)


def test_the_clock_runs_on(house: House) -> None:
    """A page that comes later shows the time that is left then."""
    house.begin()
    house.tell(SHOWN)
    visitor: Any = Visitor()
    for wait_s, left_ms in ((4, 5000.0), (9, 0.0)):
        house.clock.advance(wait_s)
        house.seat.watch(visitor)
        told = msgspec.json.decode(visitor.events()[-1].removeprefix(b"data: "), type=PageState)
        assert told.left_ms == left_ms


def test_what_is_done_goes_to_the_match(house: House) -> None:
    """Actions are passed on while there is a match that accepts them."""
    house.seat.do(ACT)
    house.begin()
    house.seat.do(ACT)
    producer: Any = house.transport.producer
    producer.pauseProducing()
    house.seat.do(ACT)
    producer.resumeProducing()
    assert house.transport.value() == msgspec.json.encode(ACT) + b"\n"
    house.end()
    house.seat.do(ACT)
    assert house.transport.value().count(b"\n") == 1


def test_who_is_there(house: House) -> None:
    """A page that is cut after a while may return if still signed in.

    A finished seat is dropped once no page follows it.
    """
    house.clock.advance(7)
    assert house.seat.away_s == 7
    first: Any = Visitor()
    house.seat.watch(first)
    assert house.seat.away_s == 0
    house.clock.advance(LONGEST_S)
    assert (first.finished.called, house.seat.away_s > 0) == (True, True)
    house.clock.advance(5)
    second: Any = Visitor()
    house.seat.watch(second)
    house.seat.conclude(None)
    assert house.seats.find(MATCH) is house.seat
    house.seats.leave("bob")
    assert house.seat.away_s == 0
    house.seats.leave("ada")
    assert (second.finished.called, house.clock.getDelayedCalls()) == (True, [])
    house.seats.find(msgspec.structs.replace(MATCH, number=2))
    assert house.seats.find(MATCH) is not house.seat
