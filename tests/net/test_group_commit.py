"""Records are synced together, off the loop's thread, in batches that a test runs when it wants to."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from referee.match.timekeeper import DISK_MS
from referee.net.group_commit import GroupCommit
from referee.record.key import Sealer
from referee.record.writer import ChainWriter, NotWritten
from referee.settings import Durability

from .tournaments.in_memory import Loop
from .wires import fired

SEALER = Sealer.new()


class Disk:
    """A loop whose syncs wait for the test, and the syncs that the system was asked for."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loop = Loop()
        self.loop.syncs_at_once = False
        self.stood_still: list[Event] = []
        """Batches for which the loop stood still."""
        self.commits = self.group_commit(Durability.TURN)
        self.writers = [ChainWriter(folder / f"{number}.log", SEALER) for number in range(6)]
        self.asked: list[int] = []
        """Inodes, in the order in which they were synced."""
        monkeypatch.setattr(os, "fsync", lambda number: self.asked.append(os.fstat(number).st_ino))

    def group_commit(self, durability: Durability) -> GroupCommit:
        """Return a group commit that notes the batches for which it stands still."""
        return GroupCommit(self.loop, durability, lambda is_through, _: self.stood_still.append(is_through))

    def written(self, number: int) -> "list[object]":
        """Let a writer write a line and sync it; return a list that is filled once that is done."""
        self.writers[number].write("line")
        return fired(self.commits.sync(self.writers[number]))

    def inode(self, number: int) -> int:
        """Return the inode of a writer's file."""
        return self.writers[number].path.stat().st_ino


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """Return writers whose syncs wait."""
    disk = Disk(tmp_path, monkeypatch)
    yield disk
    for writer in disk.writers:
        writer.close()


def test_what_comes_during_a_batch_is_the_next_one(disk: Disk) -> None:
    """Two lines of one record are synced once, and nobody is notified before."""
    first = disk.written(0)
    later = [disk.written(0), disk.written(1), disk.written(0)]
    (batch,) = disk.loop.work
    disk.loop.work.clear()
    batch()
    assert (first, later) == ([None], [[], [], []])
    (batch,) = disk.loop.work
    disk.asked.clear()
    batch()
    assert later == [[None]] * 3
    assert disk.asked[:2] == [disk.inode(0), disk.inode(1)]


@pytest.mark.parametrize("is_busy", [False, True])
def test_what_is_gathered_is_one_batch(disk: Disk, *, is_busy: bool) -> None:
    """The batch begins once all its lines are written, or once the batch before it is through."""
    earlier = disk.written(3) if is_busy else []
    with disk.commits.gather():
        lines = [disk.written(0), disk.written(1)]
        assert len(disk.loop.work) == is_busy
    for _ in range(1 + is_busy):
        disk.loop.work.pop(0)()
    assert (earlier, lines, disk.loop.work) == ([None] * is_busy, [[None], [None]], [])


def test_the_loop_stands_still_for_a_disk_that_takes_long(disk: Disk) -> None:
    """If a line waits longer than an audit allows, the loop stood still for it, and the standstill is recorded."""
    patience_s = DISK_MS / 2 / 1000
    first = disk.written(0)
    disk.loop.advance(0.9 * patience_s)
    second = disk.written(1)
    assert not disk.stood_still
    disk.loop.advance(0.1 * patience_s)
    (batch,) = disk.stood_still
    disk.loop.work.pop(0)()
    assert (first, second, batch.is_set()) == ([None], [], True)
    disk.loop.advance(patience_s)
    disk.loop.advance(0.002)
    assert [each is batch for each in disk.stood_still] == [True, False, False]
    disk.loop.work.pop(0)()
    assert (second, disk.loop.getDelayedCalls()) == ([None], [])


def test_the_loop_goes_on_where_no_request_waits_for_the_disk(disk: Disk) -> None:
    """If a slow disk needs a second for a seal, other matches are not delayed."""
    disk.commits = disk.group_commit(Durability.MATCH)
    told = disk.written(0)
    disk.loop.advance(10 * DISK_MS / 1000)
    disk.loop.work.pop(0)()
    assert (told, disk.stood_still) == ([None], [])


def test_many_files_are_synced_in_one_batch(disk: Disk) -> None:
    """Each file is synced once, and the folder with their names once for all."""
    told = [disk.written(0), *(disk.written(number) for number in range(6))]
    while disk.loop.work:
        disk.loop.work.pop(0)()
    assert told == [[None]] * 7
    folder = disk.writers[0].path.parent.stat().st_ino
    files = [inode for inode in disk.asked if inode != folder]
    assert sorted(files) == sorted([disk.inode(0), *map(disk.inode, range(6))])
    assert disk.asked.count(folder) == 2, "one for each batch with new files"
    assert not disk.written(0)
    disk.loop.work.pop()()
    assert disk.asked.count(folder) == 2


@pytest.mark.parametrize("is_folder", [False, True], ids=["a file", "its name"])
@pytest.mark.parametrize("others", [1, 5])
def test_what_the_disk_refuses_is_told_to_those_alone_who_wait_for_it(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, others: int, *, is_folder: bool
) -> None:
    """Nothing is written to that file afterwards."""
    for number in range(others + 1):
        disk.writers[number].is_named = number > 0 or not is_folder
    refused = disk.writers[0].path.parent.stat().st_ino if is_folder else disk.inode(0)
    monkeypatch.setattr(os, "fsync", _refusing(refused))
    disk.commits.sync(disk.writers[5])
    failures: list[object] = []
    disk.commits.sync(disk.writers[0]).addErrback(lambda failure: failures.append(failure.value))
    told = [disk.written(number) for number in range(1, others + 1)]
    while disk.loop.work:
        disk.loop.work.pop(0)()
    (error,) = failures
    assert isinstance(error, NotWritten)
    assert (error.errno, error.filename) == (5, str(disk.writers[0].path))
    assert told == [[None]] * others
    with pytest.raises(NotWritten):
        disk.writers[0].write("line")


def _refusing(refused: int) -> Callable[[int], None]:
    def fsync(number: int) -> None:
        if os.fstat(number).st_ino == refused:
            raise OSError(5, "Input/output error")

    return fsync


def test_a_record_that_was_closed_meanwhile_is_not_written(disk: Disk) -> None:
    """A caller that still waits for it gets an error."""
    failures: list[object] = []
    disk.commits.sync(disk.writers[0]).addErrback(lambda failure: failures.append(failure.value))
    disk.writers[0].close()
    disk.loop.work.pop()()
    assert isinstance(failures[0], NotWritten)
