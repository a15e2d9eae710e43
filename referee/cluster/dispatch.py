"""The dispatcher as the coordinator has it: started, asked, listened to, and started anew when it ends."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall

from ..net.jobs.messages import Frames, HelperProcess, framed
from .messages import (
    MAX_ANSWER_BYTES,
    REPORTS,
    SPARE_BYTES,
    Ask,
    Connect,
    Drop,
    HostAnswer,
    KnownHosts,
    ToldByHost,
    packed,
)

LOOK_S = 1.0
"""How often it is looked whether the dispatcher says something."""
SILENT_LOOKS = 30
"""So often nothing comes from it, and it is ended: it tells of the hosts twice a second."""
CLOSE_LOOKS = 5
"""So long it may take to end."""
AGAIN_S = (0.5, 3.0)
"""How long it is waited until another one is started: not all tournaments of a cluster come back at once."""


class Dispatch:
    """The way to the hosts.

    Args:
        reactor: Twisted's reactor.
        connect: the first order.
        folder: for what the dispatcher prints.
        take: takes what it tells of hosts and matches.
        disconnected: called when it is gone; nothing that was asked is answered any more.
        say: tells the organiser something.
    """

    def __init__(
        self,
        reactor: Any,
        connect: Connect,
        folder: Path,
        take: Callable[[KnownHosts | ToldByHost], None],
        disconnected: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._reactor = reactor
        self._connect = connect
        self._output = folder / "dispatcher.stderr"
        self._take = take
        self._disconnected = disconnected
        self._say = say
        self._asks: dict[int, Callable[[HostAnswer], None]] = {}
        self._count = 0
        """Of asks."""
        self._silent_looks = 0
        self._is_closing = False
        self._last_why = ""
        self._gone: Deferred[None] = Deferred()
        self._frames = Frames(REPORTS, MAX_ANSWER_BYTES + SPARE_BYTES)
        self._process: HelperProcess | None = None
        self._start()
        self._looking: Any = LoopingCall(self._look)
        self._looking.clock = reactor
        self._looking.start(LOOK_S, now=False)

    def ask(self, address: str, call: str, message: Struct, answered: Callable[[HostAnswer], None]) -> int:
        """Ask a host for something, if there is a dispatcher.

        Args:
            address: of the host.
            call: name of a function in calls.py.
            message: its argument.
            answered: called with the answer, unless the dispatcher is gone before.

        Returns:
            The number of the ask.
        """
        self._count += 1
        if self._process is not None:
            self._asks[self._count] = answered
            order = Ask(number=self._count, host=address, call=call, data=packed(message))
            self._process.write(framed((order,)))
        return self._count

    def drop(self, number: int) -> None:
        """Wait for an answer no more; what waits at its host is not begun.

        Args:
            number: of the ask.
        """
        if self._asks.pop(number, None) is not None and self._process is not None:
            self._process.write(framed((Drop(number=number),)))

    async def close(self) -> None:
        """Let the dispatcher end, and wait for that."""
        self._is_closing = True
        if self._process is not None:
            self._silent_looks = SILENT_LOOKS - CLOSE_LOOKS
            self._process.leave()
            await self._gone
        self._looking.stop()

    def _start(self) -> None:
        if self._is_closing:
            return
        self._frames = Frames(REPORTS, MAX_ANSWER_BYTES + SPARE_BYTES)
        self._silent_looks = 0
        self._process = HelperProcess(
            self._reactor, "referee.cluster.dispatcher", self._output, self._received, self._ended
        )
        self._process.write(framed((self._connect,)))

    def _ended(self, how: str) -> None:
        """Start another one after a while."""
        self._process = None
        self._asks.clear()
        self._disconnected()
        if self._is_closing:
            self._gone.callback(None)
            return
        if how != self._last_why:
            self._say(f"no connection to the cluster at {self._connect.address}: {how}; it is tried again")
        self._last_why = how
        self._reactor.callLater(random.uniform(*AGAIN_S), self._start)  # noqa: S311  # no secret

    def _received(self, data: bytes) -> None:
        if not self._is_closing:
            self._silent_looks = 0
        try:
            for reports in self._frames.add(data):
                for report in reports:
                    self._tell(report)
        except msgspec.DecodeError as error:
            if self._process is not None:
                self._process.kill(f"what it says makes no sense: {error}")

    def _tell(self, report: HostAnswer | KnownHosts | ToldByHost) -> None:
        if isinstance(report, HostAnswer):
            self._asks.pop(report.number, nothing)(report)
        elif not self._is_closing:
            self._take(report)

    def _look(self) -> None:
        self._silent_looks += 1
        if self._silent_looks >= SILENT_LOOKS and self._process is not None:
            self._process.kill("it said nothing for long")


def nothing(_: HostAnswer) -> None:
    """Do nothing about an answer."""
