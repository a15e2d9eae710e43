"""A seat that a person plays on in a browser: what its page asks, and who answers it."""

from typing import Any

import msgspec
from twisted.internet.defer import Deferred

from ...pages.rendering import page
from ..event_streams import EventStreams
from ..http import send, stream_events
from ..http_messages import JSON
from .seat import Act, PageState

_MAX_DIGITS, _MAX_CHARS = 9, 100
"""Of a number, and of what is touched."""
_ARGUMENTS = (b"turn", b"at", b"option")
PACE_S = 0.05
"""Between two snapshots: at once, for a person, and yet many steps of programs together."""


class SeatView:
    """What a person sees of its seat in a browser, and does there.

    Args:
        title: of the game.
        name: the person's.
        clock: the reactor, or a test's clock.
        pace_s: between two snapshots, in seconds.
    """

    def __init__(self, title: str, name: str, clock: Any, pace_s: float = PACE_S) -> None:
        self.title, self.name = title, name
        self.streams = EventStreams(clock, self.snapshot, pace_s=pace_s)

    def watch(self, request: Any) -> None:
        """Tell somebody how everything stands, and all that changes from then on."""
        self.notify()  # the time that is left is another by now
        self.streams.add(request)

    def notify(self) -> None:
        """Tell those who look on that there is something new."""
        self.streams.notify()

    def snapshot(self) -> bytes:
        """Return what is to be seen, as JSON."""
        return msgspec.json.encode(self.state())

    def state(self) -> PageState:
        """Return what is to be seen."""
        raise NotImplementedError

    def do(self, act: Act) -> None:
        """Do what the person wants; nothing if the page was not the newest, or it makes no sense."""
        raise NotImplementedError


def watch(request: Any, seat: SeatView) -> Deferred[bytes]:
    """Tell who asks how a seat stands, and all that changes from then on."""
    return stream_events(request, seat.watch)


def perform_act(request: Any, seat: SeatView, what: str) -> bytes:
    """Do at a seat what a request asks for, if its page could ask so, and return what is to be seen then."""
    turn, at, option = (request.args.get(name, [b""])[0].decode(errors="replace") for name in _ARGUMENTS)
    are_numbers = all(text.isdecimal() and len(text) <= _MAX_DIGITS for text in (turn, at))
    if are_numbers and len(what + option) <= _MAX_CHARS:
        seat.do(Act(what=what, turn=int(turn), at=int(at), option=option))
    return send(request, JSON, seat.snapshot())


def seat_page(seat: SeatView, *, form_token: str = "", number: str | None = None, top: str = "") -> str:
    """Return the page of a seat; what it shows it asks for.

    Args:
        seat: whose page it is.
        form_token: that it brings with all that it asks to be done; empty: nobody looks for one.
        number: of the practice match, on a contest's site; None: it is none.
        top: the first page of that site, as this page sees it.
    """
    return page(
        "person",
        None,
        scripts=("following",),
        may_ask=True,
        may_send=number is not None,
        title=seat.title,
        name=seat.name,
        form_token=form_token,
        number=number,
        top=top,
    )
