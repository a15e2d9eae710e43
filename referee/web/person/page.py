"""The page of a person's seat, for this machine only: `referee play` with `me` as a player."""

# The link is the only key to the seat. So it contains a token that nobody can guess, and the server listens only on the
# loopback interface. The server also checks the Host header. Otherwise another site could point its own host name at
# this machine, and its page could read the answers (DNS rebinding).

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
from ...net.links.addresses import listen, stop_listening
from ..http import HTML, send
from ..visitors import NO_BODY, Visitors
from .browser import SeatView, perform_act, seat_page, watch
from .seat import PersonSeat

ADDRESS = "tcp:0:interface=127.0.0.1"
TOKEN_BYTES = 24
_LINGER_S, _POLL_S = 2.0, 0.02
"""Most seconds to wait until open pages have received the final state, and seconds between two checks of this."""


class LocalSeat(Struct, frozen=True):
    """The page of one seat, and the secret part of its address."""

    seat: PersonSeat
    view: SeatView
    token: str

    async def close(self, reactor: Any) -> None:
        """Send the final state to open pages, and wait until they have received it."""
        self.seat.close()
        until_s = reactor.seconds() + _LINGER_S
        while len(self.view.streams) and reactor.seconds() < until_s:
            await deferLater(reactor, _POLL_S)
        self.view.streams.close()


def make_local(seat: PersonSeat, clock: Any) -> LocalSeat:
    """Return the page of a seat that is played in this process."""
    view = SeatView(seat.game.title, seat.name, clock, seat.state, seat.do)
    seat.changed = view.notify
    return LocalSeat(seat, view, secrets.token_urlsafe(TOKEN_BYTES))


class PersonSite(Struct, frozen=True):
    """The pages of all persons at a table, while they are open."""

    port: Port
    seats: Mapping[str, LocalSeat]
    """Name of a person -> page."""

    def link(self, name: str) -> str:
        """Return the address of a person's page."""
        return f"http://127.0.0.1:{self.port.getHost().port}/{self.seats[name].token}/"

    async def close(self, reactor: Any) -> None:
        """Send the final state to open pages, and stop listening."""
        for seat in self.seats.values():
            await seat.close(reactor)
        await stop_listening(self.port)


async def open_site(seats: Mapping[str, PersonSeat], reactor: Any) -> PersonSite:
    """Open a page for each seat.

    Args:
        seats: name of a person -> seat.
        reactor: Twisted's reactor.

    Raises:
        EndpointError: no port is free.
    """
    local = {name: make_local(seat, reactor) for name, seat in seats.items()}
    guard = HostGuard(make_app(local).resource())
    port = await listen(reactor, ADDRESS, Visitors(guard, reactor, lambda *_: NO_BODY))
    guard.port = port.getHost().port
    return PersonSite(port, local)


class HostGuard(Resource):
    """Refuses requests whose Host header names another machine.

    Args:
        inner: resource that answers all other requests.
    """

    isLeaf = True  # noqa: N815  # Twisted's own

    def __init__(self, inner: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Twisted has no types
        self._inner = inner
        self.port = 0

    def render(self, request: Any) -> Any:
        """Answer, or refuse; called by Twisted."""
        own_hosts = ([f"{name}:{self.port}".encode()] for name in ("127.0.0.1", "localhost"))
        if request.requestHeaders.getRawHeaders(b"host", []) not in own_hosts:
            return _refuse(request, HTTPStatus.MISDIRECTED_REQUEST)
        return self._inner.render(request)


def make_app(seats: Mapping[str, LocalSeat]) -> Klein:
    """Return the web application that serves the pages of the seats."""
    app = Klein()

    def _find(token: str) -> SeatView | None:
        # compare_digest takes the same time for every wrong token, so the delay of the answer reveals nothing.
        seats_of_token = [each for each in seats.values() if hmac.compare_digest(each.token.encode(), token.encode())]
        return seats_of_token[0].view if seats_of_token else None

    @app.route("/<token>/", methods=["GET"])
    def _page(request: Any, token: str) -> bytes:
        view = _find(token)
        return _refuse(request) if view is None else send(request, HTML, seat_page(view).encode())

    @app.route("/<token>/events", methods=["GET"])
    def _events(request: Any, token: str) -> Any:
        view = _find(token)
        return _refuse(request) if view is None else watch(request, view)

    @app.route("/<token>/<what>", methods=["POST"])
    def _do(request: Any, token: str, what: str) -> bytes:
        view = _find(token)
        return _refuse(request) if view is None else perform_act(request, view, what)

    @app.handle_errors(HTTPException)
    def _error(request: Any, failure: Any) -> bytes:
        return _refuse(request, HTTPStatus(failure.value.code or HTTPStatus.NOT_FOUND))

    return app


def _refuse(request: Any, code: HTTPStatus = HTTPStatus.NOT_FOUND) -> bytes:
    """Answer with a status and nothing else."""
    request.setResponseCode(code)
    return send(request, "text/plain; charset=utf-8", b"")
