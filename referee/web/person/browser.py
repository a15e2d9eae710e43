"""A person's seat in a browser: the page, the events that keep it current, and the actions that it sends."""

from collections.abc import Callable
from typing import Any

import msgspec
from twisted.internet.defer import Deferred

from ...pages.rendering import page
from ..event_streams import EventStreams
from ..http import JSON, send, stream_events
from .seat import Act, PageState

PACE_S = 0.05
"""Least seconds between two snapshots: immediate for a person, yet many moves of programs fit into one."""
_MAX_DIGITS, _MAX_CHARS = 9, 100
"""Most digits of a number, and most characters of an action and its option."""
_ARGUMENTS = (b"turn", b"at", b"option")


class SeatView:
    """A seat as the browsers see it that have its page open.

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
        """Send a browser how everything stands, and every change from then on."""
        self.notify()  # because the time that is left has changed by now
        self.streams.add(request)

    def notify(self) -> None:
        """Send all open pages the new state."""
        self.streams.notify()

    def snapshot(self) -> bytes:
        """Return what the page shows, as JSON."""
        return msgspec.json.encode(self.state())


def watch(request: Any, seat: SeatView) -> Deferred[bytes]:
    """Answer a request with the state of a seat, and every change from then on."""
    return stream_events(request, seat.watch)


def perform_act(request: Any, seat: SeatView, what: str) -> bytes:
    """Carry out the action of a request, if the page could have sent it, and answer with the new state."""
    turn, at, option = (request.args.get(name, [b""])[0].decode(errors="replace") for name in _ARGUMENTS)
    are_numbers = all(text.isdecimal() and len(text) <= _MAX_DIGITS for text in (turn, at))
    if are_numbers and len(what + option) <= _MAX_CHARS:
        seat.do(Act(what=what, turn=int(turn), at=int(at), option=option))
    return send(request, JSON, seat.snapshot())


def seat_page(seat: SeatView, *, form_token: str = "", number: str | None = None, top: str = "") -> str:
    """Return the page of a seat; its script asks the server for everything that it shows.

    Args:
        seat: seat that the page is for.
        form_token: token that accompanies each action; empty if the page is on this machine alone.
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
