"""A program of this package that runs beside this process, and ends with it; they talk over a socket."""

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...programs.output import OutputPipe
from ...programs.starting import ChildProcess, ProcessCommand, start
from .messages import SocketEnd


class HelperProcess:
    """A process that works for this one.

    Args:
        reactor: Twisted's reactor.
        module: that is run, with the number of its end of the socket behind it.
        output: file that takes the end of what it prints.
        received: called with what it says.
        ended: called once it is gone, with how it ended, in a few words.

    Raises:
        OSError: it can't be started.
    """

    def __init__(
        self,
        reactor: Any,
        module: str,
        output: Path,
        received: Callable[[bytes], None],
        ended: Callable[[str], None],
    ) -> None:
        self._told_end = ended
        self._why = ""
        """Why it was killed."""
        self._output = OutputPipe(reactor, output)
        ours, theirs = socket.socketpair()
        descriptor = theirs.detach()
        argv = (sys.executable, "-m", module, str(descriptor))
        try:
            with ProcessCommand(argv, (descriptor,)) as command:
                process = start(command, cwd=None, env=dict(os.environ), output=self._output.write_fd)
        except OSError:
            ours.close()
            self._output.close()
            raise
        finally:
            self._output.close_write_end()
        self._end = SocketEnd(reactor, ours, received, lambda: None)
        self.pid = process.pid
        self._process = ChildProcess(process, reactor)
        self._process.when_ended(self._ended)

    def write(self, data: bytes) -> None:
        """Say something to it."""
        self._end.write(data)

    def leave(self) -> None:
        """Say nothing more to it, once all is written."""
        self._end.leave()

    def kill(self, why: str) -> None:
        """End it at once, and its programs with it.

        Args:
            why: in a few words.
        """
        self._why = self._why or why
        self._process.send_signal(signal.SIGKILL)

    def _ended(self, code: int) -> None:
        self._end.read_rest()
        self._end.leave()
        self._output.close()
        how = self._why or (f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}")
        words = f": {self._output.tail.last_words}" if self._output.tail.last_words else ""
        self._told_end(f"{how}{words}")
