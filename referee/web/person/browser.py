"""A person's seat in a browser: the page, the events that update it, and the actions that it sends."""

from collections.abc import Callable
from typing import Any

import msgspec
from twisted.internet.defer import Deferred

from ...pages.rendering import page
from ..event_streams import EventStreams
from ..http import JSON, send, stream_events
from .seat import Act, PageState

PACE_S = 0.05
"""Least seconds between two snapshots: too short for a person to notice, but programs can make many moves in it."""
_MAX_DIGITS, _MAX_CHARS = 9, 100
"""Most digits of a number, and most characters of an action and its option."""
_ARGUMENTS = (b"turn", b"at", b"option")


class SeatView:
    """A seat that is open on pages in browsers.

    Args:
        title: title of the game.
        name: name of the person.
        clock: the reactor, or a test's clock.
        state: returns what the page shows.
        do: carries out what the person does on the page; ignores an action that is stale or makes no sense.
        pace_s: least seconds between two snapshots.
    """

    def __init__(
        self,
        title: str,
        name: str,
        clock: Any,
        state: Callable[[], PageState],
        do: Callable[[Act], None],
        pace_s: float = PACE_S,
    ) -> None:
        self.title, self.name = title, name
        self.state, self.do = state, do
        self.streams = EventStreams(clock, self.snapshot, pace_s=pace_s)

    def watch(self, request: Any) -> None:
        """Send a browser the present state, and every later change."""
        self.notify()  # because the remaining time has changed since the last snapshot
        self.streams.add(request)

    def notify(self) -> None:
        """Send all open pages the new state."""
        self.streams.notify()

    def snapshot(self) -> bytes:
        """Return what the page shows, as JSON."""
        return msgspec.json.encode(self.state())


def watch(request: Any, seat: SeatView) -> Deferred[bytes]:
    """Answer a request with the state of a seat and every later change."""
    return stream_events(request, seat.watch)


def perform_act(request: Any, seat: SeatView, what: str) -> bytes:
    """Carry out the action of a request if the page could have sent such an action; answer with the new state."""
    turn, at, option = (request.args.get(name, [b""])[0].decode(errors="replace") for name in _ARGUMENTS)
    are_numbers = all(text.isdecimal() and len(text) <= _MAX_DIGITS for text in (turn, at))
    if are_numbers and len(what + option) <= _MAX_CHARS:
        seat.do(Act(what=what, turn=int(turn), at=int(at), option=option))
    return send(request, JSON, seat.snapshot())


def seat_page(seat: SeatView, *, form_token: str = "", number: str | None = None, top: str = "") -> str:
    """Return the page of a seat; its script asks the server for everything that it shows.

    Args:
        seat: seat that the page is for.
        form_token: token to send with each action; empty if the page is for this machine only.
        number: number of the practice match on a contest's site; None elsewhere.
        top: relative path from this page to the first page of that site.
    """
    return page(
        "person",
        None,
        scripts=("following",),
        may_ask=True,
        may_send=number is not None,
        site=top,
        title=seat.title,
        name=seat.name,
        form_token=form_token,
        number=number,
        top=top,
    )
