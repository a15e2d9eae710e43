"""Syncs records to the disk off the loop's thread, those of all matches and of the tournament together.

While one batch is being synced, whatever else is to be synced gathers for the next one: so a record that has written
many lines meanwhile is synced once for all of them, and nobody's clock stands still for a disk. Where requests wait for
it, the loop does stand still for one that takes long: then all records tell of that, and no request is sent much later
than they explain.
"""

import errno
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from enum import StrEnum
from threading import Event
from typing import Any, Literal

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool
from twisted.python.failure import Failure

from ..files.whole import sync_folder
from ..match.timekeeper import DISK_MS
from ..record.writer import ChainWriter

_AT_ONCE = 8
"""Files of a batch that are synced at the same time: a journaling file system commits them together then; one by one,
32 files took eight times as long."""
_FEW = 3
"""So many are one by one at less cost."""
_PATIENCE_S = DISK_MS / 2 / 1000
"""For a batch, before the loop stands still: what is written during one batch is on the disk with the next."""
_STANDING_S = 1.0
"""At a stretch."""
_LOOK_S = 0.001
"""Between two stretches."""
_Batch = dict[ChainWriter, list["Deferred[None]"]]
"""Writer -> who waits for it."""


class Durability(StrEnum):
    """What of a running match outlives a machine that loses its power."""

    MATCH = "match"
    """All of it once it is over; of what is running, as much as the system has written by itself."""
    TURN = "turn"
    """Every line, before anything that follows from it is said: so nobody is told what could be lost."""

    @property
    def on_record(self) -> Literal["turn"] | None:
        """What the first line of a match's record says of it."""
        return "turn" if self is Durability.TURN else None


class GroupCommit:
    """Syncs what writers have written, batch by batch, one at a time.

    Args:
        reactor: Twisted's reactor; a thread of its pool sees to a batch.
        durability: where requests wait for the disk, the loop stands still for one that takes long.
        stand_still: blocks the loop until an event, or for so many seconds.
    """

    def __init__(
        self,
        reactor: Any,
        durability: Durability = Durability.MATCH,
        stand_still: Callable[[Event, float], object] = Event.wait,
    ) -> None:
        self._reactor = reactor
        self.is_waited_for = durability is Durability.TURN
        """Whether requests wait for it; a match that is taken up may be the first one."""
        self._block = stand_still
        self._waiting: _Batch = {}
        self._is_syncing = False
        self._overdue: Any = None
        """The timer of the batch that is being synced."""
        self._disk = ThreadPoolExecutor(_AT_ONCE, "sync")

    def sync(self, writer: ChainWriter) -> "Deferred[None]":
        """Let all that a writer has written by now outlive the machine.

        Returns:
            Fires, in the loop's thread, once it is on the disk; fails with NotWritten if the disk refused.
        """
        synced: Deferred[None] = Deferred()
        self._waiting.setdefault(writer, []).append(synced)
        self._begin()
        return synced

    def _begin(self) -> None:
        if self._is_syncing or not self._waiting:
            return
        batch, self._waiting = self._waiting, {}
        self._is_syncing = True
        pool, is_through = self._reactor.getThreadPool(), Event()
        if self.is_waited_for:
            self._overdue = self._reactor.callLater(_PATIENCE_S, self._stand_still, is_through)
        done = deferToThreadPool(self._reactor, pool, _sync_all, self._disk, list(batch), is_through)
        done.addBoth(self._told, batch)

    def _stand_still(self, is_through: Event) -> None:
        """Block the loop until a batch is through, or for a stretch."""
        self._block(is_through, _STANDING_S)
        self._overdue = self._reactor.callLater(_LOOK_S, self._stand_still, is_through)

    def _told(self, refusals: Sequence[OSError | None] | Failure, batch: _Batch) -> None:
        """Tell who waited for a batch, while the next one is being synced."""
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None
        self._is_syncing = False
        self._begin()
        if isinstance(refusals, Failure):
            refusals = [OSError(errno.EIO, str(refusals.value))] * len(batch)
        for (writer, waiting), refusal in zip(batch.items(), refusals, strict=True):
            for synced in waiting:
                if refusal is None:
                    synced.callback(None)
                else:
                    synced.errback(writer.refuse(refusal))


def _sync_all(disk: Executor, writers: Sequence[ChainWriter], is_through: Event) -> list[OSError | None]:
    """Sync the files of writers, in a thread; return what the disk refused, by writer."""
    try:
        return _synced(disk, writers)
    finally:
        is_through.set()


def _synced(disk: Executor, writers: Sequence[ChainWriter]) -> list[OSError | None]:
    refusals = list((map if len(writers) <= _FEW else disk.map)(_refusal, writers))
    new = [writer for writer in writers if not writer.is_named]
    try:
        for folder in {writer.path.parent for writer in new}:
            sync_folder(folder)
    except OSError as error:
        return [error if writer in new else refusal for writer, refusal in zip(writers, refusals, strict=True)]
    for writer in new:
        writer.is_named = True
    return refusals


def _refusal(writer: ChainWriter) -> OSError | None:
    try:
        writer.sync_file()
    except ValueError:
        return OSError(errno.EBADF, "it was closed meanwhile")
    except OSError as error:
        return error
    return None
