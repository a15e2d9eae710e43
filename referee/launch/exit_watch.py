"""Tells when a process has ended: by the kernel's descriptors of processes, or by asking where there are none."""

import os
import subprocess
from collections.abc import Callable

from twisted.python.failure import Failure

from .output import Reactor

POLL_S = 0.02
"""How often a process is asked whether it has ended, where the kernel can't tell."""


def when_ended(process: "subprocess.Popen[bytes]", reactor: Reactor, told: Callable[[int], None]) -> None:
    """Call back once a process has ended.

    Args:
        process: whose end it is.
        reactor: watches it.
        told: called with the exit status, as `Popen` counts: the negative number of a signal.
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or an old one
        reactor.callLater(POLL_S, _ask, process, reactor, told)
    else:
        reactor.addReader(_ExitReader(descriptor, process, reactor, told))


def _ask(process: "subprocess.Popen[bytes]", reactor: Reactor, told: Callable[[int], None]) -> None:
    status = process.poll()
    if status is None:
        reactor.callLater(POLL_S, _ask, process, reactor, told)
    else:
        told(status)


class _ExitReader:
    """The kernel's descriptor of a process: it can be read once that has ended. One of Twisted's readers."""

    def __init__(
        self, fd: int, process: "subprocess.Popen[bytes]", reactor: Reactor, told: Callable[[int], None]
    ) -> None:
        self._fd = fd
        self._process = process
        self._reactor = reactor
        self._told = told

    def fileno(self) -> int:
        """Return what to wait for; called by Twisted."""
        return self._fd

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "end of a program"

    def doRead(self) -> None:
        """See whether the process has ended; called by Twisted."""
        status = self._process.poll()
        if status is None:
            return
        self._reactor.removeReader(self)
        # In the next turn of the loop: what the reactor still delivers in this one goes by numbers of descriptors, and
        # whoever is told closes some and opens others, which get the same numbers.
        self._reactor.callLater(0, self._tell, status)

    def _tell(self, status: int) -> None:
        os.close(self._fd)
        self._told(status)

    def connectionLost(self, reason: Failure) -> None:
        """Nothing more comes; called by Twisted when it stops."""
