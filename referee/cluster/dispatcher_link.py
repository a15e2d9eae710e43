"""The coordinator's link to its dispatcher: starts it, sends it orders, takes its reports, and restarts it."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall

from ..net.jobs.messages import Frames, HelperProcess, pack_frame
from . import messages as m

LOOK_S = 1.0
"""Interval at which the link checks that the dispatcher still reports, in seconds."""
SILENT_LOOKS = 30
"""Number of checks without a report after which the dispatcher is killed: normally it reports twice a second."""
CLOSE_LOOKS = 5
"""Number of checks within which the dispatcher has to exit when it is told to."""
AGAIN_S = (0.5, 3.0)
"""Shortest and longest pause before a new dispatcher is started, in seconds. The pause is random, so that not all
tournaments of a cluster come back to a restarted scheduler at the same moment."""


class DispatcherLink:
    """A dispatcher that is always running, or about to be restarted.

    Args:
        reactor: Twisted's reactor.
        connect: the first order to each dispatcher.
        folder: folder for the file with the dispatcher's output.
        take: receives the reports about hosts and matches.
        on_disconnect: called when the dispatcher is gone: calls in progress are no longer answered.
        say: prints a line for the organiser.
    """

    def __init__(
        self,
        reactor: Any,
        connect: m.Connect,
        folder: Path,
        take: Callable[[m.KnownHosts | m.HostLines], None],
        on_disconnect: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._reactor = reactor
        self._connect = connect
        self._output = folder / "dispatcher.stderr"
        self._take = take
        self._on_disconnect = on_disconnect
        self._say = say
        self._asks: dict[int, Callable[[m.HostAnswer], None]] = {}
        self._count = 0
        """Number of calls so far."""
        self._silent_looks = 0
        self._is_closing = False
        self._last_why = ""
        self._gone: Deferred[None] = Deferred()
        self._frames = Frames(m.REPORTS, m.MAX_ANSWER_BYTES + m.SPARE_BYTES)
        self._process: HelperProcess | None = None
        self._start()
        self._checking: Any = LoopingCall(self._check_alive)
        self._checking.clock = reactor
        self._checking.start(LOOK_S, now=False)

    def ask(self, address: str, call: str, message: Struct, on_answer: Callable[[m.HostAnswer], None]) -> int:
        """Call a function on a host. While no dispatcher runs, do nothing: the hosts are called again later.

        Args:
            address: the host's address.
            call: name of a function in calls.py.
            message: the function's argument.
            on_answer: called with the answer, unless the dispatcher is gone first.

        Returns:
            The number of this call, for `drop`.
        """
        self._count += 1
        # Calls are not queued for later: they depend on the hosts' addresses, which may be others for a new dispatcher.
        if self._process is not None:
            self._asks[self._count] = on_answer
            order = m.Ask(number=self._count, host=address, call=call, data=m.encode_message(message))
            self._process.write(pack_frame((order,)))
        return self._count

    def drop(self, number: int) -> None:
        """Give up a call: if it still waits at its host, it does not begin.

        Args:
            number: what `ask` returned.
        """
        if self._asks.pop(number, None) is not None and self._process is not None:
            self._process.write(pack_frame((m.Drop(number=number),)))

    async def close(self) -> None:
        """End the dispatcher and wait until it has exited."""
        self._is_closing = True
        if self._process is not None:
            # From now on silence is expected, but not for ever: the check that kills a silent dispatcher also kills one
            # that does not exit.
            self._silent_looks = SILENT_LOOKS - CLOSE_LOOKS
            self._process.leave()
            await self._gone
        self._checking.stop()

    def _start(self) -> None:
        if self._is_closing:
            return
        self._frames = Frames(m.REPORTS, m.MAX_ANSWER_BYTES + m.SPARE_BYTES)
        self._silent_looks = 0
        self._process = HelperProcess(
            self._reactor, "referee.cluster.dispatcher", self._output, self._receive, self._restart_later
        )
        self._process.write(pack_frame((self._connect,)))

    def _restart_later(self, how: str) -> None:
        """Start a new dispatcher after a pause, unless the link is closing."""
        self._process = None
        self._asks.clear()
        self._on_disconnect()
        if self._is_closing:
            self._gone.callback(None)
            return
        # While the scheduler is down, a new dispatcher fails every few seconds for the same reason. Print it only once.
        if how != self._last_why:
            self._say(f"no connection to the cluster at {self._connect.address}: {how}; trying again")
        self._last_why = how
        self._reactor.callLater(random.uniform(*AGAIN_S), self._start)  # noqa: S311  # a pause, not a secret

    def _receive(self, data: bytes) -> None:
        if not self._is_closing:
            self._silent_looks = 0
        try:
            for reports in self._frames.add(data):
                for report in reports:
                    self._deliver(report)
        except msgspec.DecodeError as error:
            if self._process is not None:
                self._process.kill(f"its report cannot be read: {error}")

    def _deliver(self, report: m.HostAnswer | m.KnownHosts | m.HostLines) -> None:
        if isinstance(report, m.HostAnswer):
            self._asks.pop(report.number, ignore_answer)(report)
        elif not self._is_closing:
            self._take(report)

    def _check_alive(self) -> None:
        self._silent_looks += 1
        if self._silent_looks >= SILENT_LOOKS and self._process is not None:
            self._process.kill(f"no report for {SILENT_LOOKS * LOOK_S:.0f} s")


def ignore_answer(_: m.HostAnswer) -> None:
    """Do nothing with an answer."""
