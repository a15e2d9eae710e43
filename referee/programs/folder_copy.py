"""The copy of a player's folder that its program sees in a sandbox, for one match."""

# Why a copy? The kernel keeps some state with each file, such as which parts of it are in memory. Every program that
# reads the file can observe this state. So two seats of one player could communicate through it, and a program could
# leave a message for its next match.
#
# The content of small folders is also held in memory. To check that a folder has not changed, and to write its content
# from memory, takes a third of the time of a copy. This is so fast that the event loop can do it without a thread.

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from ..files.copies import LeftOut, copy_tree
from ..files.scratch import find_memory, scratch
from ..files.tree import open_folder, walk
from .player_spec import blame_player

MOST_ENTRIES, MOST_BYTES = 64, 1 << 20
"""Maximum number of entries and bytes of a folder that is held in memory."""
MOST_IMAGES = 64
_PAGE_BYTES = 4096
"""Memory that the smallest entry takes."""
SETTLED_NS = 2_000_000_000
"""Least age of the last change if a folder is to be held in memory.

Then a later change has another time, even on disks that store whole seconds.
"""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_Mark = tuple[int, int, int, int]


class _Entry(Struct, frozen=True):
    """An entry of a folder. The first entry is the folder itself."""

    path: str
    mark: _Mark
    content: bytes | str | None = None
    """Bytes of a file, or target of a link; None for a folder."""
    is_executable: bool = True
    times_ns: tuple[int, int] = (0, 0)


class FolderImage(Struct, frozen=True):
    """A folder's content in memory."""

    folder: Path
    entries: Sequence[_Entry]

    @property
    def is_current(self) -> bool:
        """True if nothing has changed. If an entry is added or removed, the time of its folder changes."""
        try:
            return all(_mark(os.lstat(f"{self.folder}/{entry.path}")) == entry.mark for entry in self.entries)
        except OSError:
            return False

    @contextlib.contextmanager
    def write(self) -> Iterator[Path]:
        """Write the content into a new folder, and remove this folder at the end.

        Raises:
            OSError: the content can't be written.
        """
        with scratch("player", find_memory(MOST_BYTES)) as above:
            for entry in self.entries:
                _write_entry(entry, f"{above}/copy/{entry.path}")
            yield above / "copy"


class FolderImages:
    """The folders that one process holds in memory: the most recent ones."""

    def __init__(self) -> None:
        self._images: dict[tuple[object, ...], FolderImage] = {}

    def current(self, key: tuple[object, ...]) -> FolderImage | None:
        """Return a folder that is held in memory; None if there is none, or if it has changed."""
        image = self._images.get(key)
        return image if image is not None and image.is_current else None

    def hold(self, key: tuple[object, ...], folder: Path, left_out: LeftOut) -> None:
        """Hold a folder in memory from now on, if it is small and was not changed just before.

        Args:
            key: key that identifies the folder and the entries that are left out.
            folder: the player's folder.
            left_out: predicate that is true for entries that are not copied.

        Raises:
            BadTree: the folder can't be read.
            OSError: the machine reports an error.
        """
        self._images.pop(key, None)
        begun_ns = time.time_ns()
        entries = _read(folder, left_out)
        if entries and max(entry.mark[-1] for entry in entries) + SETTLED_NS < begun_ns:
            self._images[key] = FolderImage(folder, entries)
            while len(self._images) > MOST_IMAGES:
                del self._images[next(iter(self._images))]


@contextlib.contextmanager
def copy_folder(place: Path, left_out: LeftOut) -> Iterator[Path]:
    """Copy a player's folder, and remove the copy at the end.

    If a referee is killed, its copies stay behind; the next copy removes them.

    Args:
        place: the player's folder, as the organiser named it.
        left_out: predicate that is true for entries that are not copied.

    Raises:
        PlayerError: something in the folder can't be copied.
        OSError: the copy can't be written.
    """
    with blame_player(place, "copied"):
        size_bytes = sum(node.status.st_size + _PAGE_BYTES for node in walk(place, left_out=left_out))
    with scratch("player", find_memory(size_bytes)) as above:
        folder = above / "copy"
        try:
            folder.mkdir()
            with open_folder(folder) as target, blame_player(place, "copied"):
                copy_tree(place, target, left_out=left_out, is_new=True)
        except OSError as error:
            detail = f"{error.strerror}: {place} is copied into {above} for a match"
            raise OSError(error.errno, f"{detail}; TMPDIR may name another place") from None
        yield folder


def _read(folder: Path, left_out: LeftOut) -> Sequence[_Entry]:
    """Return the content of a folder; empty if it is too large.

    The mark of each entry is taken before its content is read, so that the next check notices a change in between.
    """
    entries, size_bytes = [_Entry("", _mark(folder.stat()))], 0
    for node in walk(folder, left_out=left_out):
        status = node.status
        size_bytes += status.st_size
        if len(entries) == MOST_ENTRIES or size_bytes > MOST_BYTES:
            return ()
        times_ns = (status.st_atime_ns, status.st_mtime_ns)
        if node.is_link:
            entries.append(_Entry(node.path, _mark(status), node.target()))
        elif node.is_file:
            content = b"".join(node.pieces())
            entries.append(_Entry(node.path, _mark(status), content, node.is_executable, times_ns))
        elif node.is_folder:
            entries.append(_Entry(node.path, _mark(status)))
    return entries


def _mark(status: os.stat_result) -> _Mark:
    """Return values that change whenever a file changes. No program can set the time of the last status change."""
    return (status.st_mode, status.st_size, status.st_ino, status.st_ctime_ns)


def _write_entry(entry: _Entry, place: str) -> None:
    if entry.content is None:
        os.mkdir(place, 0o755)  # noqa: PTH102  # Path objects would cost more than the call
    elif isinstance(entry.content, str):
        os.symlink(entry.content, place)  # noqa: PTH211  # as above
    else:
        descriptor = os.open(place, _NEW, 0o600)
        try:
            left = memoryview(entry.content)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fchmod(descriptor, 0o755 if entry.is_executable else 0o644)
            os.utime(descriptor, ns=entry.times_ns)
        finally:
            os.close(descriptor)
