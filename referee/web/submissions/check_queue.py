"""The queue of versions to check. One check runs at a time, in a separate process."""

# A check runs an author's program, which may leave hidden processes behind. Each of these processes has inherited an
# environment variable, and no program can remove it from a process that is already running. When a check is done or
# takes too long, or when the server stops or starts again, every process with this variable is killed.
#
# If a check is interrupted, the version is checked again, even if this process was killed. After MAX_ATTEMPTS the
# version fails, because the version itself may crash the machine.

import contextlib
import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import CancelledError, DeferredQueue
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from ...files.scratch import scratch
from ...files.tree import BadTree, is_of_the_machine
from ...net.waiting import let_finish
from ...observers import Note
from ...programs.environment import CHECK_VARIABLE
from ...programs.limits import CLEAR_S
from ...programs.processes import OwnProcess, kill_orphans
from ...text import placeless
from .store import MAX_ATTEMPTS, PLAYER, CheckOutcome, HandedInVersion, Store, StoreError

CHECK_S = 600.0
"""Longest check in seconds. A build may take half of it; the check of a good player takes a minute."""
POLL_S = 0.05
GRACE_S = 2.0
"""Seconds for which a check, with its players, may end by itself after a request to end; then it is killed."""
RETRY_S = 30.0
"""Seconds to wait after an error of this machine, such as a full disk."""
_MAX_REPORT_BYTES = 1 << 20
_MAX_FAILED_STEPS = 20
_LAST_WORDS_BYTES = 400
_VERDICTS = (0, 1)
"""Exit statuses of a check that passed or failed; any other status means that the check could not be completed."""


class CheckFailed(Exception):
    """A check that could not be completed; the text is for the organiser's log."""


class CheckQueue:
    """The queue of versions to check.

    Args:
        reactor: Twisted's reactor.
        store: versions of all authors.
        now: returns the time of day, ISO 8601 in UTC.
        note: logs what happens.
        command: command line of a check that prints its report as JSON; the path of a player's folder is added to it.
    """

    def __init__(
        self,
        reactor: Any,
        store: Store,
        now: Callable[[], str],
        note: Note,
        command: Sequence[str],
    ) -> None:
        self._reactor = reactor
        self._store = store
        self._now = now
        self._note = note
        self._command = tuple(command)
        self._mark = f"{CHECK_VARIABLE}={hashlib.sha256(os.fsencode(store.root)).hexdigest()[:16]}"
        """Environment variable of every process of a check; processes that a check leaves behind are found by it."""
        self.queue: DeferredQueue[tuple[str, int]] = DeferredQueue()
        self._since: dict[tuple[str, int], str] = {}
        """Author and number of an unchecked version -> time at which it was handed in."""
        self.current: tuple[str, int] | None = None
        """Author and number of the version that is being checked."""
        self.begun: str | None = None
        """Time at which the current check began, ISO 8601 in UTC."""
        self._output: Path | None = None
        """File to which the current check writes its steps."""
        self._changes = Counter[str]()
        """Author -> number of changes of its versions."""

    async def recover(self) -> None:
        """End the checks that a killed server has left running, and queue all waiting versions.

        Raises:
            StoreError: the versions can't be read.
        """
        await deferToThread(self._end_leftovers)
        for author, version in self._store.recover():
            self.add(author, version)

    def add(self, author: str, version: HandedInVersion) -> None:
        """Add a version to the queue."""
        self._since[author, version.number] = version.handed_in
        self.queue.put((author, version.number))
        self.note_change(author)

    def note_change(self, author: str) -> None:
        """Count a change of an author's versions, so that the author's open pages are updated."""
        self._changes[author] += 1

    def stamp(self, author: str) -> tuple[int, int]:
        """Return a value that changes whenever an author's versions change, or their check prints more."""
        is_checked = self.current is not None and self.current[0] == author
        return self._changes[author], _size(self._output) if is_checked else 0

    def steps(self, author: str, number: int) -> list[Any]:
        """Return the steps that the check of a version has printed so far; empty if no check of it is running."""
        return list(_steps(self._output)) if self.current == (author, number) else []

    def since(self, author: str, number: int) -> str:
        """Return when an unchecked version was handed in, ISO 8601 in UTC."""
        return self._since[author, number]

    def waiting(self) -> list[tuple[str, int]]:
        """Return author and number of the waiting versions, in the order of the queue."""
        return list(self.queue.pending)

    async def run(self) -> None:
        """Check versions until this task is cancelled. Then end all processes of the check.

        Raises:
            CancelledError: the task was cancelled.
        """
        while True:
            self.current = await self.queue.get()
            self.begun = self._now()
            author = self.current[0]
            self.note_change(author)
            try:
                await self._check(*self.current)
                self._since.pop(self.current, None)
            except CancelledError:
                raise
            except Exception as error:  # noqa: BLE001  # after any error, the versions of other authors must still be checked
                self._note(
                    "check-failed", author=self.current[0], version=self.current[1], error=_describe_error(error)
                )
                self.queue.put(self.current)
                self.current = self.begun = None
                await deferLater(self._reactor, RETRY_S)
            finally:
                self.current = self.begun = None
                self.note_change(author)

    async def _check(self, author: str, number: int) -> None:
        version = self._store.version(author, number)
        if version is None:
            return  # the organiser has removed the version
        if version.attempts >= MAX_ATTEMPTS:
            text = f"the server crashed {version.attempts} times during the check; ask the organiser"
            verdict = CheckOutcome(passed=False, trouble=text)
        else:
            verdict = await self._check_safely(author, number)
        await deferToThread(self._store.conclude, author, number, verdict, self._now())
        self._note("version-checked", author=author, version=number, passed=verdict.passed, trouble=verdict.trouble)

    async def _check_safely(self, author: str, number: int) -> CheckOutcome:
        """Check a version. An error is part of the outcome, unless this machine caused it."""
        with ExitStack() as held:
            try:
                folder = held.enter_context(scratch("check"))
                await let_finish(deferToThread(self._store.begin, author, number, folder / PLAYER))
                return await self._verdict(folder)
            except CancelledError:
                self._store.put_off(author, number)
                raise
            except Exception as error:
                if isinstance(error, StoreError) or is_of_the_machine(error):
                    raise
                self._note("check-failed", author=author, version=number, error=_describe_error(error))
                return CheckOutcome(passed=False, trouble=_describe_trouble(error))
            finally:
                self._output = None
                await deferToThread(held.close)

    async def _verdict(self, folder: Path) -> CheckOutcome:
        """Check the player in a folder, and return the outcome; the check's output goes to files next to the player."""
        self._output = folder / "out"
        status = await self._await_status(self._start(folder))
        if status is None:
            remedy = "`referee check` on your own machine shows where it hangs"
            return CheckOutcome(passed=False, trouble=f"the check had not ended after {CHECK_S:g} s; {remedy}")
        report = read_report(folder)
        if status not in _VERDICTS or report is None:
            words = (folder / "err").read_bytes()[-_LAST_WORDS_BYTES:].decode(errors="replace").split()
            raise CheckFailed(f"exit status {status}", " ".join(words))
        return CheckOutcome(passed=status == 0, report=report, failed_steps=find_failed_steps(report))

    def _start(self, folder: Path) -> OwnProcess:
        """Start a check with its files in the folder; the check ends when this process ends."""
        name, _, value = self._mark.partition("=")
        env = {"TMPDIR": str(folder), name: value}
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            return OwnProcess([*self._command, PLAYER], output=out, errors=err, cwd=folder, env=env)

    async def _await_status(self, process: OwnProcess) -> int | None:
        """Wait until a check ends, then end all processes that it started.

        Returns:
            Exit status of the check; None if it took too long.
        """
        try:
            return await deferToThread(process.wait, CHECK_S)
        finally:
            await deferToThread(self.sweep, process)

    def sweep(self, process: OwnProcess) -> None:
        """End a process, and all processes that it started."""
        process.end(GRACE_S)
        give_up = time.monotonic() + CLEAR_S
        while kill_orphans(self._mark) and time.monotonic() < give_up:
            time.sleep(POLL_S)

    def _end_leftovers(self) -> None:
        """End the processes that a killed server has left running, then remove the files of its check."""
        while kill_orphans(self._mark):
            pass
        with scratch("check"):
            pass


def _size(path: Path | None) -> int:
    try:
        return 0 if path is None else path.stat().st_size
    except OSError:
        return 0


def _steps(path: Path | None) -> Iterator[Any]:
    """Yield the steps in a check's output: its lines that are objects with a `step`."""
    try:
        lines = [] if path is None else _placeless(path.read_bytes()[:_MAX_REPORT_BYTES], path.parent).split(b"\n")
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(KeyError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            yield _hide_places(msgspec.json.decode(line, type=dict[str, Any])["step"])


def _describe_error(error: Exception) -> str:
    """Return an error in words for the organiser."""
    if isinstance(error, CheckFailed):
        return ": ".join(error.args)
    return str(error) if isinstance(error, OSError | StoreError | BadTree) else f"{type(error).__name__}: {error}"


def _describe_trouble(error: Exception) -> str:
    """Return an error in words for the author, without any path of this machine."""
    if isinstance(error, BadTree):
        return f"the check could not be completed: {error}"
    if isinstance(error, CheckFailed):
        what = error.args[0]
    else:
        what = error.strerror if isinstance(error, OSError) else type(error).__name__
    return f"the check could not be completed ({what}): ask the organiser"


def read_report(folder: Path) -> dict[str, Any] | None:
    """Return the object in a check's last line, with paths relative to the check's folder; None if there is none."""
    with (folder / "out").open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - _MAX_REPORT_BYTES, 0))
        lines = file.read().strip().splitlines() or [b""]
    try:
        report: dict[str, Any] = _hide_places(msgspec.json.decode(_placeless(lines[-1], folder), type=dict[str, Any]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return report


def _placeless(text: bytes, folder: Path) -> bytes:
    """Return JSON in which paths are relative to a folder."""
    return text.replace(msgspec.json.encode(f"{folder}/")[1:-1], b"")


def _hide_places(value: Any) -> Any:
    """Return a plain value without the folders of paths in its texts: authors must not see folders of this machine."""
    match value:
        case str():
            return placeless(value)
        case list():
            return [_hide_places(part) for part in value]
        case dict():
            return {key: _hide_places(part) for key, part in value.items()}
    return value


def find_failed_steps(report: dict[str, Any]) -> tuple[str, ...]:
    """Return the number and title of the failed steps in a report, which may be any object."""
    steps = report.get("steps")
    objects = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    failed = [f"{step.get('number')} {step.get('title')}" for step in objects if step.get("verdict") == "failed"]
    return tuple(failed[:_MAX_FAILED_STEPS])
