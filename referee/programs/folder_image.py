"""Small folders of players, held in memory as they were when they were last copied.

To look whether anything in a folder has changed, and to write what is in memory, takes a third of the time of a copy:
so little that the referee's loop may wait for it.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from ..files.copies import LeftOut
from ..files.scratch import memory_for, scratch
from ..files.tree import walk

MOST_ENTRIES, MOST_BYTES = 64, 1 << 20
"""In a folder that is held."""
MOST_IMAGES = 64
_SETTLED_NS = 2_000_000_000
"""What was changed less than this before may change once more with the same instant on it: some disks count seconds."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_Mark = tuple[int, int, int, int]


class _Entry(Struct, frozen=True):
    """What is in a folder, by its path in there; the folder itself is the first one."""

    path: str
    mark: _Mark
    content: bytes | str | None = None
    """Of a file; where a link leads; None: a folder."""
    is_executable: bool = True
    times_ns: tuple[int, int] = (0, 0)


class FolderImage(Struct, frozen=True):
    """What a folder had in it."""

    folder: Path
    entries: Sequence[_Entry]

    @property
    def is_current(self) -> bool:
        """Whether nothing has changed: whoever adds or removes something leaves an instant on the folder around it."""
        try:
            return all(_mark(os.lstat(f"{self.folder}/{entry.path}")) == entry.mark for entry in self.entries)
        except OSError:
            return False

    @contextmanager
    def copied(self) -> Iterator[Path]:
        """Make a folder of it, and remove that at the end.

        Raises:
            OSError: it can't be made.
        """
        with scratch("player", memory_for(MOST_BYTES)) as above:
            for entry in self.entries:
                _make(entry, f"{above}/copy/{entry.path}")
            yield above / "copy"


class FolderImages:
    """The folders that one process holds: those that it has come to know last."""

    def __init__(self) -> None:
        self._images: dict[tuple[object, ...], FolderImage] = {}

    def current(self, key: tuple[object, ...]) -> FolderImage | None:
        """Return a folder that is held, unless something in it has changed."""
        image = self._images.get(key)
        return image if image is not None and image.is_current else None

    def hold(self, key: tuple[object, ...], folder: Path, left_out: LeftOut) -> None:
        """Hold a folder from now on, if it is small and was not changed just now.

        Args:
            key: tells the folder, and what is left out of it, from any other.
            folder: of a player.
            left_out: tells what is no part of it.

        Raises:
            BadTree: it can't be read.
            OSError: the machine is in trouble.
        """
        self._images.pop(key, None)
        begun_ns = time.time_ns()
        entries = _read(folder, left_out)
        if entries and max(entry.mark[-1] for entry in entries) + _SETTLED_NS < begun_ns:
            self._images[key] = FolderImage(folder, entries)
            while len(self._images) > MOST_IMAGES:
                del self._images[next(iter(self._images))]


def _read(folder: Path, left_out: LeftOut) -> Sequence[_Entry]:
    """Return what is in a folder, the instants on each thing from before it was read; nothing if it is too much."""
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
    """Return what changes with a file: nobody can set the instant of the last change."""
    return (status.st_mode, status.st_size, status.st_ino, status.st_ctime_ns)


def _make(entry: _Entry, place: str) -> None:
    if entry.content is None:
        os.mkdir(place, 0o755)  # noqa: PTH102  # paths are text: more is done to make objects of them
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
