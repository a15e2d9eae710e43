"""Has the page of a match made when a visitor requests it: in a separate process, one page at a time."""

# The workshop decides whose page is next, by the cost of each client so far. The separate process starts with the first
# page, because it takes a second to import the games; if it has ended, it is started again. It reads its orders from a
# pipe that only this process writes to. So when this process ends for any reason, the other one ends too.

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

import msgspec
from twisted.internet.threads import deferToThread

from ..app.replay_worker import PageAnswer, PageRequest
from ..observers import Note
from .http import find_address
from .workshop import Workshop

PATIENCE_S = 60.0
"""Longest time for one page; a process that takes longer is killed."""
_COMMAND = (sys.executable, "-m", "referee.app.replay_worker")


class ReplayMaker:
    """Makes pages of matches.

    Args:
        now: returns monotonic seconds.
        note: logs pages that could not be made.
    """

    def __init__(self, now: Callable[[], float], note: Note) -> None:
        self._workshop = Workshop(now, deferToThread)
        self._note = note
        self.process: subprocess.Popen[bytes] | None = None

    async def make(self, request: Any, folder: Path, match: str) -> None:
        """Have a page made, when it is the visitor's turn.

        Args:
            request: request for the page.
            folder: folder of the records.
            match: name of a match that is public.

        Raises:
            TooOften: pages for this visitor have taken too much work lately.
        """
        error = await self._workshop.make(request, find_address(request), self._order, PageRequest(str(folder), match))
        if error:
            self._note("replay-failed", match=match, error=error)

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            with suppress(BrokenPipeError), self.process as process:  # closes its pipes, and waits
                process.kill()
            self.process = None

    def _order(self, order: PageRequest) -> str:
        """Have a page made, and return the reason if it could not be made; else empty."""
        if self.process is not None and self.process.poll() is not None:
            self.close()
        if self.process is None:
            self.process = subprocess.Popen(  # noqa: S603  # the command line has nothing of a visitor's
                _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = Timer(PATIENCE_S, process.kill)
        watchdog.start()
        try:
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            process.stdin.flush()
            answer = msgspec.json.decode(process.stdout.readline() or b"null", type=PageAnswer | None)
        except (BrokenPipeError, msgspec.MsgspecError):
            answer = None
        finally:
            watchdog.cancel()
        if answer is None:
            self.close()
            return f"its process ended with status {process.returncode}"
        self._workshop.add_cost(answer.cost_s)
        return answer.error
