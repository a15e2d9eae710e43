"""The seat of an author who plays a practice match in person."""

# The page is on the site, but the match runs in another process. The two talk over a socket, in lines of JSON: the
# process sends what the page shows (PageState), and the site sends the author's actions (Act).

import socket
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.internet.protocol import connectionDone
from twisted.protocols.basic import LineOnlyReceiver
from twisted.python.failure import Failure

from ..event_streams import LONGEST_S
from ..person.browser import SeatView
from ..person.relay import MAX_LINE_BYTES, speak
from ..person.seat import Act, PageState
from ..submissions.challenges import Challenge

_NOTHING = PageState()


class HostedSeat(SeatView):
    """An author's seat before, during and after its match.

    Args:
        reactor: Twisted's reactor.
        title: title of the game.
        name: name of the author.
        why: returns in words why the match is not open at the moment.
    """

    def __init__(self, reactor: Any, title: str, name: str, why: Callable[[], str]) -> None:
        super().__init__(title, name, reactor, self._show, self._forward, pace_s=0.0)
        self._reactor = reactor
        self._why = why
        self._shown = _NOTHING
        """Latest state that the process of the match has sent."""
        self._shown_s = self._left_s = reactor.seconds()
        """Time of that state, and time at which the last page was closed, in seconds."""
        self._link: _Link | None = None
        self._is_played = False
        self._over: str | None = None
        """Result of the match in words; None while it is not over."""
        self._version = 0
        self._cut: Any = None

    @property
    def away_s(self) -> float:
        """Seconds for which no page has been open; 0 while a page is open."""
        return 0.0 if len(self.streams) else max(self._reactor.seconds() - self._left_s, 0.001)

    @property
    def is_done(self) -> bool:
        """True once the match is over and no page is open."""
        return self._over is not None and not len(self.streams)

    # --- the page

    def watch(self, request: Any) -> None:
        """Send a browser the present state, then every change."""
        # All pages are disconnected from time to time. Browsers that are still signed in connect again by themselves.
        self._cut = self._cut or self._reactor.callLater(LONGEST_S, self.leave)
        super().watch(request)
        request.notifyFinish().addBoth(self._note_leaving)

    def _note_leaving(self, _: object) -> None:
        self._left_s = self._reactor.seconds()

    def leave(self) -> None:
        """Disconnect all open pages."""
        if self._cut is not None and self._cut.active():
            self._cut.cancel()
        self._cut = None
        self.streams.close()

    def _forward(self, act: Act) -> None:
        if self._link is not None:
            self._link.send_act(act)

    def _show(self) -> PageState:
        left_ms = self._shown.left_ms - (self._reactor.seconds() - self._shown_s) * 1000
        state = replace(self._shown, version=self._version, left_ms=max(left_ms, 0.0), closed=False)
        if self._is_played:
            return state
        if self._over is None:
            return replace(state, still=self._why())
        return replace(state, over=self._over, closed=True)

    def notify(self) -> None:
        """Send all open pages the new state."""
        self._version += 1
        super().notify()

    # --- the match

    def invite(self) -> socket.socket:
        """Return the other end of the seat's socket, for the process of its match."""
        ours, theirs = socket.socketpair()
        self._is_played = True
        self._link = _Link(self._receive, self._unlink)
        speak(self._link, ours, self._reactor)
        self.notify()
        return theirs

    def conclude(self, trouble: str | None) -> None:
        """Show that the match is over.

        Args:
            trouble: why the match was not played; None if it was played.
        """
        self._over = f"not played: {trouble}" if trouble else self._shown.over or "the match is over"
        self.rest()

    def rest(self) -> None:
        """Show that the match is not open now: it is over, or will continue later."""
        last = self._shown
        self._shown = replace(_NOTHING, names=last.names, svg=last.svg, said=last.said)
        self._is_played = False
        self.notify()

    def _receive(self, state: PageState) -> None:
        if self._is_played:
            self._shown, self._shown_s = state, self._reactor.seconds()
            self.notify()

    def _unlink(self) -> None:
        self._link = None


class HostedSeats:
    """The seats of all authors who play in person.

    Args:
        reactor: Twisted's reactor.
        title: match -> title of the game.
        why: match -> words for why it is not open at the moment.
    """

    def __init__(self, reactor: Any, title: Callable[[Challenge], str], why: Callable[[Challenge], str]) -> None:
        self._reactor = reactor
        self._title = title
        self._why = why
        self._seats: dict[str, HostedSeat] = {}
        """Place of a match -> seat; kept as long as a page of the seat may be open."""

    def find(self, challenge: Challenge) -> HostedSeat:
        """Return the author's seat in a match that the author plays in person."""
        key = challenge.place
        if key not in self._seats:
            self._seats = {place: seat for place, seat in self._seats.items() if not seat.is_done}
            seat = HostedSeat(self._reactor, self._title(challenge), challenge.author, lambda: self._why(challenge))
            if challenge.ended is not None:
                seat.conclude(challenge.trouble)
            self._seats[key] = seat
        return self._seats[key]

    def leave(self, author: str) -> None:
        """Disconnect all pages of an author; a browser that is still signed in connects again."""
        for seat in self._seats.values():
            if seat.name == author:
                seat.leave()

    def notify(self) -> None:
        """Send all open pages the new state of their seat."""
        for seat in self._seats.values():
            seat.notify()


class _Link(LineOnlyReceiver):
    """The socket to the process of a match; called by Twisted."""

    delimiter = b"\n"
    MAX_LENGTH = MAX_LINE_BYTES
    transport: Any

    def __init__(self, receive: Callable[[PageState], None], unlink: Callable[[], None]) -> None:
        self._receive = receive
        self._unlink = unlink
        self._is_full = False

    def connectionMade(self) -> None:
        """Ask to be paused while the other end does not read."""
        self.transport.registerProducer(self, True)

    def send_act(self, act: Act) -> None:
        """Send an action. If the other end does not keep up, drop the action, because its page is out of date."""
        if not self._is_full:
            self.transport.write(msgspec.json.encode(act) + self.delimiter)

    def lineReceived(self, line: bytes) -> None:
        """Receive a state for the page."""
        self._receive(msgspec.json.decode(line, type=PageState))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Forget the connection."""
        self._unlink()

    def pauseProducing(self) -> None:
        """Stop sending."""
        self._is_full = True

    def resumeProducing(self) -> None:
        """Send again."""
        self._is_full = False

    def stopProducing(self) -> None:
        """Do nothing: `connectionLost` is called as well."""
