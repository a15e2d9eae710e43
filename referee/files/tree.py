"""Walks through folders that somebody else made: bounded in depth, number and bytes, and following no link.

Nothing here recurses, and nothing trusts a path: every step is made from the descriptor of the folder above, so that a
folder that changes meanwhile, or whose paths are longer than the kernel takes, leads nowhere else.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

MIB = 1 << 20
MAX_LEVELS = 64
"""Folders within folders. An archive may have half of it; libraries of Node.js nest the deepest, about 30."""
MAX_ENTRIES = 50_000
"""Files, folders and links. A build in Rust makes some hundred, a virtual environment with its libraries 30,000."""
MAX_BYTES = 512 * MIB
"""Of all files together, as long as they say they are. Eight times what may be handed in; read in a second or two."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SHOWN_CHARS = 120


_MACHINE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
}


def is_of_the_machine(error: Exception) -> bool:
    """Tell whether an error is this machine's trouble, whatever folder it came up in: a full disk, no descriptors."""
    return isinstance(error, OSError) and error.errno in _MACHINE


class BadTree(Exception):
    """A folder that can't be worked with; the text says what is wrong in it and what to do."""


class TreeNode(Struct, frozen=True):
    """One thing in a folder, as long as the walk stands at it."""

    path: str
    """Relative to where the walk began, with slashes."""
    folder: int
    """Descriptor of the folder that it is in."""
    status: os.stat_result
    """Of itself, not of what it is a link to."""

    @property
    def name(self) -> str:
        """Its name within its folder."""
        return self.path.rpartition("/")[2]

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file."""
        return stat.S_ISREG(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.status.st_mode)

    @property
    def is_executable(self) -> bool:
        """Whether its owner may run it."""
        return bool(self.status.st_mode & stat.S_IXUSR)

    def target(self) -> str:
        """Return what a link leads to.

        Raises:
            BadTree: it can't be read.
        """
        with _readable(self.path):
            return os.readlink(self.name, dir_fd=self.folder)

    def pieces(self, size: int = MIB) -> Iterator[bytes]:
        """Yield the content of a file piece by piece: not more than it was long when the walk came to it.

        Args:
            size: of a piece, in bytes.

        Raises:
            BadTree: it can't be read.
        """
        left = self.status.st_size
        with _readable(self.path):
            descriptor = os.open(
                self.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.folder
            )
        try:
            while left > 0:
                with _readable(self.path):
                    data = os.read(descriptor, min(size, left))
                if not data:
                    return
                left -= len(data)
                yield data
        finally:
            os.close(descriptor)


class Bounds(Struct, frozen=True, kw_only=True):
    """How much a folder may hold."""

    levels: int = MAX_LEVELS
    entries: int = MAX_ENTRIES
    bytes_: int | None = MAX_BYTES
    """None: whoever walks counts himself."""


_USUAL = Bounds()


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Turn what the disk says of a path into what is wrong with a folder."""
    try:
        yield
    except OSError as error:
        if is_of_the_machine(error):
            raise
        raise BadTree(f"{shown(path)} can't be read: {error.strerror}") from None


def open_folder(path: Path | str, within: int | None = None) -> int:
    """Return the descriptor of a folder.

    Args:
        path: of the folder; links in it are followed unless it is relative to another one.
        within: descriptor of that other one.

    Raises:
        BadTree: it can't be read.
    """
    with _readable(str(path)):
        try:
            return os.open(path, _FOLDER if within is not None else _FOLDER & ~os.O_NOFOLLOW, dir_fd=within)
        except ValueError:  # a null character
            raise BadTree(f"{shown(str(path))} is no path") from None


def walk(
    folder: Path | int, bounds: Bounds = _USUAL, *, left_out: Callable[[TreeNode], bool] = lambda node: False
) -> Iterator[TreeNode]:
    """Yield everything in a folder: all that is in one folder in the order of the names, then what is in its folders.

    Args:
        folder: path, or a descriptor, which is left open.
        bounds: what is too much.
        left_out: tells what is not to be yielded, counted and gone into.

    Raises:
        BadTree: there is too much of it, or something can't be read; by its owner's rights alone, so that it is the
            same for whoever walks.
        OSError: the machine is in trouble, whatever folder it were.
    """
    counted = _Counted(bounds)
    with ExitStack() as opened:
        if isinstance(folder, int):
            top = folder
        else:
            top = open_folder(folder)
            opened.callback(os.close, top)
        yield from _walked(top, counted, left_out)


def _walked(top: int, counted: "_Counted", left_out: Callable[[TreeNode], bool]) -> Iterator[TreeNode]:
    """Yield what is below a folder; the folders that are gone into are closed behind."""
    nodes = counted.listed(top, "", left_out)
    yield from nodes
    open_: list[int] = []
    waiting: list[list[TreeNode]] = [_folders(nodes)]
    try:
        while waiting:
            if not waiting[-1]:
                waiting.pop()
                if open_:
                    os.close(open_.pop())
                continue
            node = waiting[-1].pop()
            if len(waiting) >= counted.bounds.levels:
                raise BadTree(f"there are folders more than {len(waiting)} deep: {shown(node.path)}")
            open_.append(open_folder(node.name, node.folder))
            nodes = counted.listed(open_[-1], f"{node.path}/", left_out)
            yield from nodes
            waiting.append(_folders(nodes))
    finally:
        for descriptor in open_:
            os.close(descriptor)


def _folders(nodes: list[TreeNode]) -> list[TreeNode]:
    return [node for node in reversed(nodes) if node.is_folder]


class _Counted:
    """What a walk has come upon so far."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._entries = 0
        self._bytes = 0

    def listed(self, folder: int, prefix: str, left_out: Callable[[TreeNode], bool]) -> list[TreeNode]:
        """Return what is in one folder, in order."""
        found = []
        with _readable(prefix or "the folder"), os.scandir(folder) as inner:
            for entry in inner:
                node = TreeNode(prefix + entry.name, folder, entry.stat(follow_symlinks=False))
                if not left_out(node):
                    self._count(node)
                    found.append(node)
        return sorted(found, key=lambda node: node.name)

    def _count(self, node: TreeNode) -> None:
        self._entries += 1
        self._bytes += node.status.st_size if node.is_file else 0
        if self._entries > self.bounds.entries:
            raise BadTree(f"there are more than {self.bounds.entries} files and folders in it")
        if self.bounds.bytes_ is not None and self._bytes > self.bounds.bytes_:
            raise BadTree(f"its files are more than {self.bounds.bytes_ // MIB} MiB together")
        needed = stat.S_IRUSR | stat.S_IXUSR if node.is_folder else stat.S_IRUSR if node.is_file else 0
        if node.status.st_mode & needed != needed:
            mode = stat.S_IMODE(node.status.st_mode)
            raise BadTree(f"{shown(node.path)} can't be read: its mode is {mode:03o}; `chmod u+rwX` mends that")


def shown(path: str) -> str:
    """Return a path as an error may show it: one line, of bounded length, that any encoding takes."""
    text = path if path.isprintable() else ascii(path)[1:-1]
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
