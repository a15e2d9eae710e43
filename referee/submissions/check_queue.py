"""Checks what authors hand in, one version at a time, each by a process of its own. Refuses to know what is checked.

A check ends with everything that it started: when it is done, over its time, or when the service stops. Versions whose
check was cut off, by a kill of this process too, are checked again.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from ..files.removal import remove
from ..files.tree import BadTree, is_of_the_machine
from ..launch.orphans import orphans
from ..launch.starting import ProcessCommand, if_alive, start
from ..observers import Note
from .store import MAX_ATTEMPTS, CheckOutcome, Store, StoreError

COMMAND = (sys.executable, "-m", "referee", "check")
"""A player's folder and --json are added."""
CHECK_S = 600.0
"""A build may take half of it; the check of a good player takes a minute."""
POLL_S = 0.05
GRACE_S = 2.0
"""Between asking a check to end and killing it: it takes its players with it."""
RETRY_S = 30.0
"""After a trouble of the disk's."""
_GONE_S = 5.0
_MAX_REPORT_BYTES = 1 << 20
_MAX_FAILED_STEPS = 20
_LAST_WORDS_CHARS = 300
_PREFIX = "referee-check-"
_FOLDERS = re.compile(r"/(?:[^\s/:'\"]+/)+")
"""Of an absolute path, all but the last part: where things are on this machine is nothing for authors."""
_VERDICTS = (0, 1)
"""Exit status of a check: passed, failed. Anything else says that it could not be made."""


class Checker:
    """The queue of versions to check.

    Args:
        reactor: Twisted's reactor.
        store: of the versions.
        now: ISO 8601 in UTC.
        note: takes note of what happens.
        command: command line of a check.
        limit_s: how long one may take.
    """

    def __init__(
        self,
        reactor: Any,
        store: Store,
        now: Callable[[], str],
        note: Note,
        command: Sequence[str] = COMMAND,
        limit_s: float = CHECK_S,
    ) -> None:
        self._reactor = reactor
        self._store = store
        self._now = now
        self._note = note
        self._command = tuple(command)
        self._limit_s = limit_s
        self._queue: deque[tuple[str, int]] = deque()
        self._idle: Deferred[None] | None = None
        self.current: tuple[str, int] | None = None
        """Author and number of the version that is being checked."""

    async def take_up(self) -> None:
        """End and clear away what a service that was killed had begun, and queue what waits: before anything else.

        Raises:
            StoreError: the versions can't be read.
        """
        await deferToThread(self._end_leftover)
        for author, number in self._store.recover():
            self.add(author, number)

    def add(self, author: str, number: int) -> None:
        """Have a version checked when its turn comes."""
        self._queue.append((author, number))
        idle, self._idle = self._idle, None
        if idle is not None:
            idle.callback(None)

    async def run(self) -> None:
        """Check what there is to check until this is cancelled; then nothing of a check is left.

        Raises:
            CancelledError: it was cancelled.
        """
        while True:
            if not self._queue:
                self._idle = Deferred()
                await self._idle
            self.current = self._queue.popleft()
            try:
                await self._check(*self.current)
            except CancelledError:
                raise
            except Exception as error:  # noqa: BLE001  # whatever it is, the other authors' versions are checked
                self._note("check-failed", author=self.current[0], version=self.current[1], error=_told(error))
                self._queue.append(self.current)
                self.current = None
                await deferLater(self._reactor, RETRY_S)
            finally:
                self.current = None

    async def _check(self, author: str, number: int) -> None:
        version = self._store.version(author, number)
        if version is None:
            return  # the organiser has taken it away
        if version.attempts >= MAX_ATTEMPTS:
            text = f"its check was cut off {version.attempts} times, with the referee itself; tell the organiser"
            verdict = CheckOutcome(passed=False, trouble=text)
        else:
            verdict = await self._tried(author, number)
        await deferToThread(self._store.conclude, author, number, verdict, self._now())
        self._note("version-checked", author=author, version=number, passed=verdict.passed, trouble=verdict.trouble)

    async def _tried(self, author: str, number: int) -> CheckOutcome:
        """Check a version; what comes up meanwhile is its verdict, too, unless it is this machine's trouble."""
        try:
            work = await deferToThread(self._store.begin, author, number)
            try:
                return await self._verdict(work)
            except CancelledError:
                self._store.put_off(author, number)
                raise
        except CancelledError:
            raise
        except Exception as error:
            if isinstance(error, StoreError) or is_of_the_machine(error):
                raise
            self._note("check-failed", author=author, version=number, error=_told(error))
            return CheckOutcome(passed=False, trouble=_trouble(error))

    async def _verdict(self, work: Path) -> CheckOutcome:
        """Run the check of a folder, and return what came of it."""
        scratch = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._leftover.write_text(str(scratch))
        try:
            status = await self._ended(_started([*self._command, str(work), "--json"], scratch), scratch)
            return _judged(status, self._limit_s, scratch, work)
        finally:
            await deferToThread(_cleared, scratch)
            self._leftover.unlink(missing_ok=True)

    async def _ended(self, process: "subprocess.Popen[bytes]", scratch: Path) -> int | None:
        """Wait for a check to end, and end all that it started; return its status, None if it took too long."""
        give_up = self._reactor.seconds() + self._limit_s
        try:
            while process.poll() is None and self._reactor.seconds() < give_up:
                await deferLater(self._reactor, POLL_S)
            return process.returncode
        finally:
            await self._swept(process, scratch)

    async def _swept(self, process: "subprocess.Popen[bytes]", scratch: Path) -> None:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        patience = self._reactor.seconds() + GRACE_S
        while process.poll() is None and self._reactor.seconds() < patience:
            await deferLater(self._reactor, POLL_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        give_up = self._reactor.seconds() + _GONE_S
        while (process.poll() is None or _kill_orphans(scratch)) and self._reactor.seconds() < give_up:
            await deferLater(self._reactor, POLL_S)

    # --- after a kill

    @property
    def _leftover(self) -> Path:
        """File that says where the check that runs has its files: by them its processes are told."""
        return self._store.root / ".versions" / ".check"

    def _end_leftover(self) -> None:
        """End what a service that was killed had begun."""
        with contextlib.suppress(FileNotFoundError):
            scratch = Path(self._leftover.read_text())
            if scratch.is_absolute() and scratch.name.startswith(_PREFIX):
                while _kill_orphans(scratch):
                    pass
                _cleared(scratch)
            self._leftover.unlink()


def _cleared(scratch: Path) -> None:
    """Remove what a check has left; programs without a sandbox may have written to it."""
    with contextlib.suppress(OSError):
        remove(scratch)


def _told(error: Exception) -> str:
    """Return an error as the organiser is told it."""
    return str(error) if isinstance(error, OSError | StoreError | BadTree) else f"{type(error).__name__}: {error}"


def _trouble(error: Exception) -> str:
    """Return an error as an author is told it: without a path of this machine."""
    if isinstance(error, BadTree):
        return f"the check could not be made: {error}"
    what = error.strerror if isinstance(error, OSError) else type(error).__name__
    return f"the check could not be made ({what}): tell the organiser"


def _started(command: Sequence[str], scratch: Path) -> "subprocess.Popen[bytes]":
    """Start a check, which ends with this service."""
    with (scratch / "out").open("wb") as out, (scratch / "err").open("wb") as err:
        whole = ProcessCommand(tuple(if_alive(command)))
        return start(whole, cwd=scratch, env=_environment(scratch), output=out, errors=err)


def _environment(scratch: Path) -> dict[str, str]:
    """Return the environment of a check: its TMPDIR is what every process of it has, sandboxed ones aside."""
    passed_on = {key: value for key, value in os.environ.items() if key != "REFEREE_TOKEN"}
    return {**passed_on, "TMPDIR": str(scratch)}


def _kill_orphans(scratch: Path) -> bool:
    """Kill every process of a check; return whether there were any."""
    pids = orphans(f"TMPDIR={scratch}")
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(pids)


def _judged(status: int | None, limit_s: float, scratch: Path, work: Path) -> CheckOutcome:
    """Return the verdict that a check's status and output say."""
    if status is None:
        text = f"the check was not done after {limit_s:g} s; `referee check` on your own machine shows where it hangs"
        return CheckOutcome(passed=False, trouble=text)
    report = _report(scratch / "out", {str(work): "player", str(scratch): "tmp"})
    if status not in _VERDICTS or report is None:
        words = (scratch / "err").read_bytes()[-4 * _LAST_WORDS_CHARS :].decode(errors="replace").split()
        said = _FOLDERS.sub("", " ".join(words).replace(str(work), "player"))[-_LAST_WORDS_CHARS:]
        text = (
            f"the check could not be made (exit status {status}): tell the organiser{f'; it said: {said}' * bool(said)}"
        )
        return CheckOutcome(passed=False, trouble=text)
    return CheckOutcome(passed=status == 0, report=report, failed_steps=_failed_steps(report))


def _report(path: Path, names: dict[str, str]) -> dict[str, Any] | None:
    """Return the object in a check's last line, without this machine's paths; None if there is none.

    Args:
        path: what the check printed.
        names: path of this machine -> what stands for it.
    """
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - _MAX_REPORT_BYTES, 0))
        lines = file.read().strip().splitlines() or [b""]
    text = lines[-1].decode(errors="replace")
    for real, name in names.items():
        text = text.replace(json.dumps(real)[1:-1], name)
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return None


def _failed_steps(report: dict[str, Any]) -> tuple[str, ...]:
    steps = report.get("steps")
    found = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    failed = [f"{step.get('number')} {step.get('title')}" for step in found if step.get("verdict") == "failed"]
    return tuple(failed[:_MAX_FAILED_STEPS])
