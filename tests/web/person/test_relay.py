"""A seat whose page is in another process: the messages there and back."""

import socket
from typing import Any

import msgspec
import pytest
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from referee.chance import Dealer
from referee.errors import BadRequest
from referee.plugins import load
from referee.programs.player_spec import Launch, PersonPlace
from referee.web.person import relay
from referee.web.person.browser import PACE_S
from referee.web.person.relay import SeatRelay
from referee.web.person.seat import Act, Choosing, PageState, PersonSeat
from referee.web.person.table import PersonTable, UserInterface

GAME = load().games["quincy"]


class Wire:
    """A person who is asked for a move in Quincy, and the connection to the page's process."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.seat = PersonSeat(GAME, "ada", self.clock)
        state = GAME.new(GAME.parse_options({}), 2, Dealer(bytes(32)))
        self.seat.names, self.seat.position, self.seat.turn = ("ada", "bob"), state, 1
        self.seat.choosing = Choosing(GAME, state)
        self.relay = SeatRelay(self.seat, self.clock)
        self.transport = StringTransport()
        self.relay.makeConnection(self.transport)  # type: ignore[no-untyped-call]  # Twisted has no types

    def told(self) -> list[PageState]:
        """Return the states that the page got since the last call."""
        lines = self.transport.value().splitlines()
        self.transport.clear()
        return [msgspec.json.decode(line, type=PageState) for line in lines]

    def act(self, what: str, at: int, option: str = "") -> None:
        """Act on the page."""
        self.relay.lineReceived(msgspec.json.encode(Act(what=what, turn=1, at=at, option=option)))


def test_what_is_done_on_the_page_is_shown_there() -> None:
    """Several changes are sent at once, and nothing without a change."""
    wire = Wire()
    (first,) = wire.told()
    assert (first.asked, first.touched, first.names) == (True, (), ("ada", "bob"))
    wire.act("touch", 0, first.options[0])
    wire.act("undo", 9)
    assert wire.told() == []
    wire.clock.advance(PACE_S)
    (then,) = wire.told()
    assert (then.touched[0], then.version > first.version) == (first.options[0], True)
    wire.clock.advance(PACE_S)
    assert wire.told() == []


def test_the_end_is_told_before_the_wire_is_cut() -> None:
    """The process waits only a moment for it; a wire that is cut earlier does no harm."""
    for heard in (True, False):
        wire = Wire()
        wire.seat.changed()
        closed = Deferred.fromCoroutine(wire.relay.close())
        assert [state.closed for state in wire.told()] == [False, True]
        assert (wire.transport.disconnecting, closed.called) == (True, False)
        if heard:
            wire.relay.connectionLost(Failure(ConnectionDone()))
        else:
            wire.clock.advance(60)
        assert closed.called
    wire.seat.changed()
    wire.clock.advance(PACE_S)


def _launches(*persons: str) -> Any:
    return [Launch(name=name, argv=(), person=PersonPlace.PAGE) for name in persons]


@pytest.mark.parametrize("persons", [(), ("ada",), ("ada", "cyd"), ("ada", "bob", "cyd")])
def test_each_person_plays_over_a_socket(persons: tuple[str, ...]) -> None:
    """No socket is left over."""
    interface = UserInterface(show=print, say=print, open=None, relays={"ada": 7, "bob": 8})
    with pytest.raises(BadRequest, match="the sockets do not match the persons"):
        PersonTable(GAME, _launches(*persons), interface)


def test_a_socket_is_a_persons_whatever_its_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed record has the players in the order of the lot, and their sockets come in another order."""
    given = {"ada": 7, "bob": 8}
    spoken: dict[int, str] = {}

    def _speak(seat: Any, own: int, _reactor: object) -> None:
        spoken[own] = seat.seat.name
        seat.makeConnection(StringTransport())
        seat.connectionLost(Failure(ConnectionDone()))

    monkeypatch.setattr(relay, "speak", _speak)
    monkeypatch.setattr(socket, "socket", lambda fileno: fileno)
    table = PersonTable(GAME, _launches("bob", "ada"), UserInterface(show=print, say=print, open=None, relays=given))

    async def _open() -> None:
        async with table.opened(Clock()):
            pass

    assert Deferred.fromCoroutine(_open()).called
    assert spoken == {descriptor: name for name, descriptor in given.items()}
