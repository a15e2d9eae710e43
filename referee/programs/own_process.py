"""A process that does a part of this program's own work: a check, a match, a tournament."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import IO

from .starting import ChildProcess, ProcessCommand, if_alive, start

GONE_S = 5.0
"""A process that was killed is gone after that, unless the disk holds it up."""


class OwnProcess:
    """A process of this program's own, which ends with it; it is started.

    Args:
        command: its command line.
        output: takes its stdout, as `subprocess.Popen` has it.
        errors: takes its stderr.
        cwd: its working directory; None: this process's.
        env: added to the environment, of which it gets all but a token of the user's.
        pass_fds: descriptors that it gets.

    Raises:
        OSError: it can't be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        output: int | IO[bytes],
        errors: int | IO[bytes],
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: tuple[int, ...] = (),
    ) -> None:
        inherited = {name: value for name, value in os.environ.items() if name != "REFEREE_TOKEN"}
        argv = ProcessCommand(tuple(if_alive(command)))
        whole_env = {**inherited, **(env or {})}
        process = start(argv, cwd=cwd, env=whole_env, output=output, errors=errors, pass_fds=pass_fds)
        self.output = process.stdout
        """What it writes on stdout, if that is a pipe."""
        self._child = ChildProcess(process)
        self._status: int | None = None
        self._ended = Event()
        self._child.when_ended(self._take_end)

    def _take_end(self, status: int) -> None:
        self._status = status
        self._ended.set()

    @property
    def has_ended(self) -> bool:
        """Whether it, and what it has left in its process group, is gone."""
        return self._ended.is_set()

    def wait(self, limit_s: float | None = None) -> int | None:
        """Wait for its end, in a thread; return its exit status, None if it has not ended within a limit."""
        self._ended.wait(limit_s)
        return self._status

    def ask_to_end(self) -> None:
        """Ask it to end, unless it has.

        SIGINT would not do: what a script starts in the background ignores that, and so does what is started by it.
        """
        self._child.send_signal(signal.SIGTERM)

    def end(self, grace_s: float) -> None:
        """End it, if it has not ended, in a thread.

        Args:
            grace_s: between asking it to end and killing it, in seconds.
        """
        self.ask_to_end()
        if self.wait(grace_s) is None:
            self._child.send_signal(signal.SIGKILL)
            self.wait(GONE_S)
