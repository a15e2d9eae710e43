"""A person's seat on a page of the browser: what the page shows and asks, on this machine alone."""

import hmac
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from klein import Klein
from msgspec import Struct
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater
from twisted.web.resource import Resource
from werkzeug.exceptions import HTTPException

from ..clock import Port
from ..net.http_messages import JSON
from ..net.links.addresses import listen, stopped
from ..pages.drawing import with_names
from ..pages.rendering import page
from ..site.answers import HTML, sent
from ..site.bodies import NO_ROOM
from ..site.event_streams import EventStreams
from ..site.visitors import Visitors
from .seat import PersonSeat

ADDRESS = "tcp:0:interface=127.0.0.1"
TOKEN_BYTES = 24
PACE_S = 0.05
"""Between two snapshots: at once, for a person, and yet many steps of programs together."""
SAID = 60
"""Lines of what has happened that the page has."""
_LINGER_S, _POLL_S = 2.0, 0.02
"""How long an open page may take to have the end, and how often it is looked at whether it has."""
_MAX_OPTION_CHARS = 100


class PageState(Struct, frozen=True, kw_only=True):
    """What the page shows at one moment."""

    version: int
    """Of two, the one with the higher number is newer."""
    names: tuple[str, ...]
    svg: str
    """The board as the seat may see it; empty before the deal."""
    turn: int
    asked: bool
    """Whether a move is asked for."""
    touched: tuple[str, ...]
    options: tuple[str, ...]
    """What can be chosen next: places of the drawing, and words."""
    ready: bool
    """Whether there is a move to hand in."""
    left_ms: float
    waiting: str
    """Whose move is waited for."""
    said: list[str]
    over: str
    """Why this person has nothing more to do; empty: it has."""
    closed: bool
    """Whether there will be nothing new."""


class SeatPage:
    """The page of one person.

    Args:
        seat: the person's.
        clock: the reactor, or a test's clock.
    """

    def __init__(self, seat: PersonSeat, clock: Any) -> None:
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._seat = seat
        self._is_closed = False
        self._version = 1
        self.streams = EventStreams(clock, self.snapshot, pace_s=PACE_S)
        seat.changed = self._changed

    def html(self) -> str:
        """Return the page; what it shows it asks for."""
        game = self._seat.game
        return page("person", None, may_ask=True, title=game.title, name=self._seat.name)

    def snapshot(self) -> bytes:
        """Return what is to be seen, as JSON."""
        return msgspec.json.encode(self.state())

    def state(self) -> PageState:
        """Return what is to be seen."""
        seat, asked = self._seat, self._seat.choosing
        return PageState(
            version=self._version,
            names=seat.names,
            svg=self._drawn(),
            turn=seat.turn,
            asked=asked is not None,
            touched=asked.touched if asked else (),
            options=asked.options if asked else (),
            ready=asked is not None and asked.move is not None,
            left_ms=seat.left_s * 1000,
            waiting=seat.waiting,
            said=seat.said[-SAID:],
            over=seat.over,
            closed=self._is_closed,
        )

    def do(self, what: str, turn: int, at: int, option: str) -> None:
        """Do what the person wants; nothing if the page was not the newest, or it makes no sense.

        Args:
            what: `touch`, `undo` or `hand-in`.
            turn: number of the turn that the page showed.
            at: how much was chosen there.
            option: what is touched.
        """
        asked = self._seat.choosing
        if asked is None or (turn, at) != (self._seat.turn, len(asked.touched)):
            return
        if what == "touch":
            asked.switch(option)
        elif what == "undo":
            asked.undo()
        elif what == "hand-in":
            self._seat.hand_in()
        self._changed()

    async def close(self, reactor: Any) -> None:
        """Tell open pages that there will be nothing new, and wait until they have it."""
        self._is_closed = True
        self._changed()
        until_s = reactor.seconds() + _LINGER_S
        while len(self.streams) and reactor.seconds() < until_s:
            await deferLater(reactor, _POLL_S)
        self.streams.close()

    def _changed(self) -> None:
        self._version += 1
        self.streams.changed()

    def _drawn(self) -> str:
        seat = self._seat
        if seat.position is None:
            return ""
        chosen = seat.choosing.steps if seat.choosing else ()
        return with_names(seat.game.draw_svg(seat.position, (seat.seat,), chosen), seat.names)


class PersonSite(Struct, frozen=True):
    """The pages of all persons at a table, while they are open."""

    port: Port
    pages: Mapping[str, SeatPage]
    """By the person's name."""

    def link(self, name: str) -> str:
        """Return the address of a person's page: who has it, has the seat."""
        return f"http://127.0.0.1:{self.port.getHost().port}/{self.pages[name].token}/"

    async def close(self, reactor: Any) -> None:
        """Let open pages have the end, and listen no more."""
        for seat_page in self.pages.values():
            await seat_page.close(reactor)
        await stopped(self.port)


async def open_site(seats: Mapping[str, PersonSeat], reactor: Any) -> PersonSite:
    """Have a page for each of some seats.

    Args:
        seats: by name.
        reactor: Twisted's.

    Raises:
        EndpointError: there is no port.
    """
    pages = {name: SeatPage(seat, reactor) for name, seat in seats.items()}
    guard = answering(pages)
    port = await listen(reactor, ADDRESS, Visitors(guard, reactor, lambda *_: NO_ROOM))
    guard.port = port.getHost().port
    return PersonSite(port, pages)


def answering(pages: Mapping[str, SeatPage]) -> "OwnHost":
    """Return what answers for pages; it is told the port."""
    return OwnHost(_routes(pages).resource())


class OwnHost(Resource):
    """Answers nobody who asks for another host: whose name somebody else has made lead to this machine."""

    isLeaf = True  # noqa: N815  # Twisted's own

    def __init__(self, inner: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted has no types
        self._inner = inner
        self.port = 0
        """That it listens on."""

    def render(self, request: Any) -> Any:
        """Answer, or refuse; called by Twisted."""
        own = ([f"{name}:{self.port}".encode()] for name in ("127.0.0.1", "localhost"))
        if request.requestHeaders.getRawHeaders(b"host", []) not in own:
            return _refused(request, HTTPStatus.MISDIRECTED_REQUEST)
        return self._inner.render(request)


def _routes(pages: Mapping[str, SeatPage]) -> Klein:
    app = Klein()

    def _of(token: str) -> SeatPage | None:
        given = token.encode()
        found = [own for own in pages.values() if hmac.compare_digest(own.token.encode(), given)]
        return found[0] if found else None

    @app.route("/<token>/", methods=["GET"])
    def _page(request: Any, token: str) -> bytes:
        own = _of(token)
        return _refused(request) if own is None else sent(request, HTML, own.html().encode())

    @app.route("/<token>/events", methods=["GET"])
    def _events(request: Any, token: str) -> Any:
        own = _of(token)
        if own is None:
            return _refused(request)
        sent(request, "text/event-stream", b"")
        own.streams.add(request)
        return Deferred()  # cancelled once nobody looks on

    @app.route("/<token>/<what>", methods=["POST"])
    def _do(request: Any, token: str, what: str) -> bytes:
        own = _of(token)
        if own is None:
            return _refused(request)
        turn, at, option = (request.args.get(name, [b""])[0].decode(errors="replace") for name in _ARGUMENTS)
        if turn.isdecimal() and at.isdecimal() and len(turn + at + option) <= _MAX_OPTION_CHARS:
            own.do(what, int(turn), int(at), option)
        return sent(request, JSON, own.snapshot())

    @app.handle_errors(HTTPException)
    def _error(request: Any, failure: Any) -> bytes:
        return _refused(request, HTTPStatus(failure.value.code or HTTPStatus.NOT_FOUND))

    return app


_ARGUMENTS = (b"turn", b"at", b"option")


def _refused(request: Any, code: HTTPStatus = HTTPStatus.NOT_FOUND) -> bytes:
    """Answer with nothing."""
    request.setResponseCode(code)
    return sent(request, "text/plain; charset=utf-8", b"")
