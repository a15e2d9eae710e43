"""The page of a person's seat: who gets an answer, the page's state, and its actions."""

from typing import Any

import msgspec
import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from referee.chance import Dealer
from referee.plugins import load
from referee.web.person.page import HostGuard, make_app, make_local
from referee.web.person.seat import Choosing, PageState, PersonSeat
from referee.web.visitors import HEADERS, NO_BODY, Visitors

PEER: Any = IPv4Address("TCP", "127.0.0.1", 1)
GAME = load().games["quincy"]
PORT = 8123
HOST = f"127.0.0.1:{PORT}"


class Table:
    """Two persons who play Quincy, the first of whom is asked; and the moves that they handed in."""

    def __init__(self) -> None:
        clock = Clock()
        state = GAME.new(GAME.parse_options({}), 2, Dealer(bytes(32)))
        self.seats = [PersonSeat(GAME, name, clock) for name in ("ada", "bob")]
        self.handed_in = 0
        for number, seat in enumerate(self.seats):
            seat.names, seat.seat, seat.position, seat.turn = ("ada", "bob"), number, state, 1
        self.seats[0].choosing = Choosing(GAME, state)
        self.pages = {seat.name: make_local(seat, clock) for seat in self.seats}
        guard = HostGuard(make_app(self.pages).resource())
        guard.port = PORT
        self._site = Visitors(guard, clock, lambda *_: NO_BODY)

    def ask(self, method: str, path: str, host: str = HOST) -> tuple[int, str, bytes]:
        """Return status, head and body of an answer; TOKEN in the path is ada's."""
        transport = StringTransport(peerAddress=PEER)
        channel = self._site.buildProtocol(PEER)
        channel.makeConnection(transport)
        path = path.replace("TOKEN", self.pages["ada"].token)
        channel.dataReceived(f"{method} {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        head, _, body = transport.value().partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode().lower(), body

    def state(self, what: str, **arguments: object) -> PageState:
        """Act on ada's page, and return its next state."""
        query = "&".join(f"{name}={value}".replace(" ", "%20") for name, value in arguments.items())
        return msgspec.json.decode(self.ask("POST", f"/TOKEN/{what}?{query}")[2], type=PageState)


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        ("GET", "/TOKEN/", HOST, 200),
        ("GET", "/TOKEN/", f"localhost:{PORT}", 200),
        ("GET", "/TOKEN/events", HOST, 200),
        ("POST", "/TOKEN/undo?turn=1&at=0", HOST, 200),
        ("GET", "/TOKEN/", "evil.example", 421),
        ("GET", "/TOKEN/", f"evil.example:{PORT}", 421),
        ("GET", "/TOKEN/", "127.0.0.1", 421),
        ("POST", "/TOKEN/undo?turn=1&at=0", "evil.example", 421),
        ("GET", "/", HOST, 404),
        ("GET", "/TOKENx/", HOST, 404),
        ("GET", "/x/", HOST, 404),
        ("GET", "/x/events", HOST, 404),
        ("POST", "/x/undo", HOST, 404),
        ("POST", "/undo", HOST, 404),
        ("GET", "/TOKEN/undo", HOST, 405),
        ("DELETE", "/TOKEN/", HOST, 405),
    ],
)
def test_who_is_answered(method: str, path: str, host: str, status: int) -> None:
    """Only a request with the token, under the server's own name; all others get an empty answer."""
    found, head, body = Table().ask(method, path, host)
    assert found == status
    assert (body == b"") == (status != 200)
    assert all(f"{name}: {value}".lower() in head for name, value in HEADERS.items())
    assert "cache-control: no-store" in head


def test_the_page_asks_nobody_but_its_own_server() -> None:
    """Its policy allows only its script, its style and its own server."""
    body = Table().ask("GET", "/TOKEN/")[2].decode()
    policy = body.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'self'; base-uri 'none'; form-action 'none'" in policy
    assert "unsafe" not in policy


def test_a_move_is_chosen_and_taken_back() -> None:
    """Each answer is the page's new state; an outdated page changes nothing."""
    table = Table()
    start = table.state("undo", turn=1, at=0)
    assert (start.asked, start.touched, start.ready, start.names) == (True, (), False, ("ada", "bob"))
    chosen = table.state("touch", turn=1, at=0, option=start.options[0])
    assert chosen.touched[0] == start.options[0]
    for stale in ({"turn": 1, "at": 0}, {"turn": 2, "at": 1}, {"turn": "x", "at": 1}, {"at": 1}, {}):
        assert table.state("undo", **stale).touched == chosen.touched
    assert table.state("touch", turn=1, at=len(chosen.touched), option="row 99, column 99").touched == chosen.touched
    assert table.state("hand-in", turn=1, at=len(chosen.touched)).asked
    assert table.state("undo", turn=1, at=len(chosen.touched)).touched == ()


def test_nobody_else_is_asked_or_shown_the_hand() -> None:
    """Each of two persons sees only the own hand, and who is to move."""
    table = Table()
    ada, bob = (local.view.state() for local in table.pages.values())
    hands = [{"{}|{}".format(*domino) for domino in GAME.view(seat.position, seat.seat).hand} for seat in table.seats]
    for state, own, other in ((ada, hands[0], hands[1]), (bob, hands[1], hands[0])):
        assert all(f'data-place="{domino}"' in state.svg for domino in own)
        assert not any(f'data-place="{domino}"' in state.svg for domino in other)
    assert (bob.asked, bob.options, bob.waiting) == (False, (), "ada")
