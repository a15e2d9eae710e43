"""Syncs the records of all matches and of the tournament to the disk together, in another thread than the loop's.

While one batch is being synced, further lines gather for the next one.
"""

import errno
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool
from twisted.python.failure import Failure

from ..files.whole import sync_folder
from ..match.timekeeper import DISK_MS
from ..record.writer import ChainWriter
from ..settings import Durability

# An fsync takes milliseconds, and on a busy disk much longer. In the loop's thread it would stall all matches, so
# another thread does it. One batch is synced at a time. Lines that are written in between wait for the next batch, so
# that ten lines of one record cost one sync.
#
# With Durability.TURN, requests wait for the disk. A slow disk then looks like a slow referee: the turn is on record,
# but was sent seconds later. To an auditor, that looks like a referee that favours a player. So if a batch takes longer
# than _PATIENCE_S, the loop stands still on purpose. The beat notices the stall, all records report it, and no request
# is sent much later than they explain.

_AT_ONCE = 8
"""Files of a batch that are synced at the same time, because a journaling file system commits them together: one by
one, 32 files took eight times as long."""
_FEW = 3
"""Most files of a batch for which syncing one by one costs less than threads."""
_PATIENCE_S = DISK_MS / 2 / 1000
"""Seconds that a batch may take before the loop stands still: half of DISK_MS, as a line may have to wait for two
batches."""
_STANDING_S = 1.0
"""Longest stretch for which the loop stands still, in seconds."""
_LOOK_S = 0.001
"""Seconds between two such stretches, in which the loop runs."""
_Batch = dict[ChainWriter, list["Deferred[None]"]]
"""Writer -> Deferreds that wait for its lines."""


class GroupCommit:
    """Syncs what writers have written, batch by batch, one at a time.

    Args:
        reactor: Twisted's reactor; a thread of its pool syncs a batch.
        durability: with TURN, the loop stands still for a batch that takes long.
        stand_still: blocks the loop until an event, or for a number of seconds.
    """

    def __init__(
        self,
        reactor: Any,
        durability: Durability = Durability.MATCH,
        stand_still: Callable[[Event, float], object] = Event.wait,
    ) -> None:
        self._reactor = reactor
        self.is_waited_for = durability is Durability.TURN
        """True if requests wait for the disk. A resumed match may set it later."""
        self._block = stand_still
        self._waiting: _Batch = {}
        self._is_syncing = False
        """True while a batch is being synced, or lines are being gathered for one."""
        self._overdue: Any = None
        """Timer after which the loop stands still for the present batch."""
        self._disk = ThreadPoolExecutor(_AT_ONCE, "sync")

    def sync(self, writer: ChainWriter) -> "Deferred[None]":
        """Sync all that a writer has written so far.

        Returns:
            Fires in the loop's thread once the lines are on the disk; fails with NotWritten if the disk refused.
        """
        synced: Deferred[None] = Deferred()
        self._waiting.setdefault(writer, []).append(synced)
        self._begin()
        return synced

    @contextmanager
    def gather(self) -> Iterator[None]:
        """Sync all lines that are written within a block in one batch, which begins at the end of the block."""
        if self._is_syncing:
            yield
            return
        self._is_syncing = True
        try:
            yield
        finally:
            self._is_syncing = False
            self._begin()

    def _begin(self) -> None:
        if self._is_syncing or not self._waiting:
            return
        batch, self._waiting = self._waiting, {}
        self._is_syncing = True
        pool, is_through = self._reactor.getThreadPool(), Event()
        if self.is_waited_for:
            self._overdue = self._reactor.callLater(_PATIENCE_S, self._stand_still, is_through)
        done = deferToThreadPool(self._reactor, pool, sync_all, self._disk, list(batch), is_through)
        done.addBoth(self._finish, batch)

    def _stand_still(self, is_through: Event) -> None:
        """Block the loop until the batch is synced, or for one stretch; see the module's text for the reason."""
        self._block(is_through, _STANDING_S)
        self._overdue = self._reactor.callLater(_LOOK_S, self._stand_still, is_through)

    def _finish(self, refusals: Sequence[OSError | None] | Failure, batch: _Batch) -> None:
        """Begin the next batch, and notify the callers that waited for this one."""
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


def sync_all(disk: Executor, writers: Sequence[ChainWriter], is_through: Event) -> list[OSError | None]:
    """Sync the files of writers, in a thread; return the disk's refusals by writer."""
    try:
        return _sync_files(disk, writers)
    finally:
        is_through.set()


def _sync_files(disk: Executor, writers: Sequence[ChainWriter]) -> list[OSError | None]:
    refusals = list((map if len(writers) <= _FEW else disk.map)(_sync_file, writers))
    new = [writer for writer in writers if not writer.is_named]
    try:
        for folder in {writer.path.parent for writer in new}:
            sync_folder(folder)
    except OSError as error:
        return [error if writer in new else refusal for writer, refusal in zip(writers, refusals, strict=True)]
    for writer in new:
        writer.is_named = True
    return refusals


def _sync_file(writer: ChainWriter) -> OSError | None:
    try:
        writer.sync_file()
    except ValueError:
        return OSError(errno.EBADF, "the record was closed before it was synced")
    except OSError as error:
        return error
    return None
