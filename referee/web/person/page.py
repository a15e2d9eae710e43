"""A person's seat on a page of the browser, on this machine alone."""

import hmac
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from klein import Klein
from msgspec import Struct
from twisted.internet.task import deferLater
from twisted.web.resource import Resource
from werkzeug.exceptions import HTTPException

from ...clock import Port
from ...net.links.addresses import listen, stopped
from ..http import HTML, send
from ..visitors import NO_BODY, Visitors
from .seat import Act, PageState, PersonSeat
from .view import SeatView, perform_act, seat_page, watch

ADDRESS = "tcp:0:interface=127.0.0.1"
TOKEN_BYTES = 24
_LINGER_S, _POLL_S = 2.0, 0.02
"""How long an open page may take to have the end, and how often it is looked at whether it has."""


class LocalSeat(SeatView):
    """The seat of somebody who has a link to it.

    Args:
        seat: the person's.
        clock: the reactor, or a test's clock.
    """

    def __init__(self, seat: PersonSeat, clock: Any) -> None:
        super().__init__(seat.game.title, seat.name, clock)
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._seat = seat
        seat.changed = self.notify

    def state(self) -> PageState:
        """Return what is to be seen."""
        return self._seat.state()

    def do(self, act: Act) -> None:
        """Do what the person wants; nothing if the page was not the newest, or it makes no sense."""
        self._seat.do(act)

    async def close(self, reactor: Any) -> None:
        """Tell open pages that there will be nothing new, and wait until they have it."""
        self._seat.close()
        until_s = reactor.seconds() + _LINGER_S
        while len(self.streams) and reactor.seconds() < until_s:
            await deferLater(reactor, _POLL_S)
        self.streams.close()


class PersonSite(Struct, frozen=True):
    """The pages of all persons at a table, while they are open."""

    port: Port
    seats: Mapping[str, LocalSeat]
    """By the person's name."""

    def link(self, name: str) -> str:
        """Return the address of a person's page: who has it, has the seat."""
        return f"http://127.0.0.1:{self.port.getHost().port}/{self.seats[name].token}/"

    async def close(self, reactor: Any) -> None:
        """Let open pages have the end, and listen no more."""
        for seat in self.seats.values():
            await seat.close(reactor)
        await stopped(self.port)


async def open_site(seats: Mapping[str, PersonSeat], reactor: Any) -> PersonSite:
    """Have a page for each of some seats.

    Args:
        seats: by name.
        reactor: Twisted's.

    Raises:
        EndpointError: there is no port.
    """
    local = {name: LocalSeat(seat, reactor) for name, seat in seats.items()}
    guard = guard_seats(local)
    port = await listen(reactor, ADDRESS, Visitors(guard, reactor, lambda *_: NO_BODY))
    guard.port = port.getHost().port
    return PersonSite(port, local)


def guard_seats(seats: Mapping[str, LocalSeat]) -> "OwnHost":
    """Return what answers for seats; it is told the port."""
    return OwnHost(_routes(seats).resource())


class OwnHost(Resource):
    """Answers nobody who asks for another host: whose name somebody else has made lead to this machine."""

    isLeaf = True  # noqa: N815  # Twisted's own

    def __init__(self, inner: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted has no types
        self._inner = inner
        self.port = 0

    def render(self, request: Any) -> Any:
        """Answer, or refuse; called by Twisted."""
        own = ([f"{name}:{self.port}".encode()] for name in ("127.0.0.1", "localhost"))
        if request.requestHeaders.getRawHeaders(b"host", []) not in own:
            return _refuse(request, HTTPStatus.MISDIRECTED_REQUEST)
        return self._inner.render(request)


def _routes(seats: Mapping[str, LocalSeat]) -> Klein:
    app = Klein()

    def _of(token: str) -> SeatView | None:
        given = token.encode()
        found = [own for own in seats.values() if hmac.compare_digest(own.token.encode(), given)]
        return found[0] if found else None

    @app.route("/<token>/", methods=["GET"])
    def _page(request: Any, token: str) -> bytes:
        own = _of(token)
        return _refuse(request) if own is None else send(request, HTML, seat_page(own).encode())

    @app.route("/<token>/events", methods=["GET"])
    def _events(request: Any, token: str) -> Any:
        own = _of(token)
        return _refuse(request) if own is None else watch(request, own)

    @app.route("/<token>/<what>", methods=["POST"])
    def _do(request: Any, token: str, what: str) -> bytes:
        own = _of(token)
        return _refuse(request) if own is None else perform_act(request, own, what)

    @app.handle_errors(HTTPException)
    def _error(request: Any, failure: Any) -> bytes:
        return _refuse(request, HTTPStatus(failure.value.code or HTTPStatus.NOT_FOUND))

    return app


def _refuse(request: Any, code: HTTPStatus = HTTPStatus.NOT_FOUND) -> bytes:
    """Answer with nothing."""
    request.setResponseCode(code)
    return send(request, "text/plain; charset=utf-8", b"")
