"""The seat of an author who plays a practice match in person: between the page on the site and the match's process."""

import socket
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.internet.protocol import connectionDone
from twisted.protocols.basic import LineOnlyReceiver
from twisted.python.failure import Failure

from ..event_streams import LONGEST_S
from ..person.relay import MAX_LINE_BYTES, speak
from ..person.seat import Act, PageState
from ..person.view import SeatView
from ..submissions.challenges import Challenge

_NOTHING = PageState()


class HostedSeat(SeatView):
    """A person's seat, before, while and after its match is played.

    Args:
        reactor: Twisted's.
        title: of the game.
        name: the person's.
        why: returns why the match is not played just now.
    """

    def __init__(self, reactor: Any, title: str, name: str, why: Callable[[], str]) -> None:
        super().__init__(title, name, reactor, pace_s=0.0)
        self._reactor = reactor
        self._why = why
        self._told = _NOTHING
        """By the match, the last time."""
        self._told_s = self._left_s = reactor.seconds()
        """When that was, and when the last one who looked on has gone."""
        self._link: _Link | None = None
        self._is_played = False
        self._over: str | None = None
        """How the match has ended, in words; None: it has not."""
        self._version = 0
        self._cut: Any = None

    @property
    def away_s(self) -> float:
        """How long nobody has looked on, in seconds; 0: somebody does."""
        return 0.0 if len(self.streams) else max(self._reactor.seconds() - self._left_s, 0.001)

    @property
    def is_done(self) -> bool:
        """Whether the match is over, and nobody looks on."""
        return self._over is not None and not len(self.streams)

    # --- what the page sees and does

    def watch(self, request: Any) -> None:
        """Tell somebody how everything stands, and all that changes from then on."""
        self._cut = self._cut or self._reactor.callLater(LONGEST_S, self.leave)
        super().watch(request)
        request.notifyFinish().addBoth(self._note_leaving)

    def _note_leaving(self, _: object) -> None:
        self._left_s = self._reactor.seconds()

    def leave(self) -> None:
        """Cut all who look on; whoever is signed in comes back."""
        if self._cut is not None and self._cut.active():
            self._cut.cancel()
        self._cut = None
        self.streams.close()

    def do(self, act: Act) -> None:
        """Hand on what the person wants; nothing if no match is played."""
        if self._link is not None:
            self._link.say(act)

    def state(self) -> PageState:
        """Return what is to be seen."""
        left_ms = self._told.left_ms - (self._reactor.seconds() - self._told_s) * 1000
        told = replace(self._told, version=self._version, left_ms=max(left_ms, 0.0), closed=False)
        if self._is_played:
            return told
        if self._over is None:
            return replace(told, still=self._why())
        return replace(told, over=self._over, closed=True)

    def notify(self) -> None:
        """Tell those who look on."""
        self._version += 1
        super().notify()

    # --- what the match tells

    def invite(self) -> socket.socket:
        """Return the other end of the seat, for the process of its match."""
        ours, theirs = socket.socketpair()
        self._is_played = True
        self._link = _Link(self._hear, self._part)
        speak(self._link, ours, self._reactor)
        self.notify()
        return theirs

    def conclude(self, trouble: str | None) -> None:
        """Say that the match is over.

        Args:
            trouble: why it was not played; None: it was.
        """
        self._over = f"not played: {trouble}" if trouble else self._told.over or "the match is over"
        self.rest()

    def rest(self) -> None:
        """Say that the match is not played now: it is over, or goes on later."""
        told = self._told
        self._told = replace(_NOTHING, names=told.names, svg=told.svg, said=told.said)
        self._is_played = False
        self.notify()

    def _hear(self, told: PageState) -> None:
        if self._is_played:
            self._told, self._told_s = told, self._reactor.seconds()
            self.notify()

    def _part(self) -> None:
        self._link = None


class HostedSeats:
    """The seats of all persons.

    Args:
        reactor: Twisted's.
        title: returns of a match what is played.
        why: returns of a match why it is not played just now.
    """

    def __init__(self, reactor: Any, title: Callable[[Challenge], str], why: Callable[[Challenge], str]) -> None:
        self._reactor = reactor
        self._title = title
        self._why = why
        self._seats: dict[str, HostedSeat] = {}
        """By place of the match: as long as somebody may look on."""

    def find(self, challenge: Challenge) -> HostedSeat:
        """Return the author's seat in a match that the author plays in person."""
        key = challenge.place
        if key not in self._seats:
            self._seats = {known: seat for known, seat in self._seats.items() if not seat.is_done}
            seat = HostedSeat(self._reactor, self._title(challenge), challenge.author, lambda: self._why(challenge))
            if challenge.ended is not None:
                seat.conclude(challenge.trouble)
            self._seats[key] = seat
        return self._seats[key]

    def leave(self, author: str) -> None:
        """Cut an author who looks on; if still signed in somewhere, that comes back."""
        for seat in self._seats.values():
            if seat.name == author:
                seat.leave()

    def notify(self) -> None:
        """Tell all who look on."""
        for seat in self._seats.values():
            seat.notify()


class _Link(LineOnlyReceiver):
    """The socket to the process of a match; called by Twisted."""

    delimiter = b"\n"
    MAX_LENGTH = MAX_LINE_BYTES
    transport: Any

    def __init__(self, hear: Callable[[PageState], None], part: Callable[[], None]) -> None:
        self._hear = hear
        self._part = part
        self._is_full = False

    def connectionMade(self) -> None:
        """Be told when the other end is behind."""
        self.transport.registerProducer(self, True)

    def say(self, act: Act) -> None:
        """Tell what somebody wants; nothing if the other end is behind: the page is not the newest then."""
        if not self._is_full:
            self.transport.write(msgspec.json.encode(act) + self.delimiter)

    def lineReceived(self, line: bytes) -> None:
        """Take what the page is to show."""
        self._hear(msgspec.json.decode(line, type=PageState))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Tell that it is over."""
        self._part()

    def pauseProducing(self) -> None:
        """Wait."""
        self._is_full = True

    def resumeProducing(self) -> None:
        """Go on."""
        self._is_full = False

    def stopProducing(self) -> None:
        """Do nothing; its connection tells that it is over."""
