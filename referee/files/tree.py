"""Walks through folders of strangers, with limits for depth, number and bytes, and without following links."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

from msgspec import Struct

from .reading import FOLDER, open_descriptor

# The folders walked here belong to players. During the walk, a player's program may rename folders, put links in their
# place, or nest them deeper than a path can be long. A path would then name something else at each use: the file that
# was checked is not the file that is read. So nothing is opened by a path from the top. Each name is opened relative to
# the descriptor of the folder above, without following links: a descriptor can't be exchanged.
#
# The limits are for the disk and the processor of the organiser: a folder may claim any size, and a walk must end.

MIB = 1 << 20
MAX_LEVELS = 64
"""Most levels of nested folders. An archive may have half as many; libraries of Node.js nest the deepest, about 30."""
MAX_ENTRIES = 50_000
"""Files, folders and links. A build in Rust makes some hundred, a virtual environment with its libraries 30,000."""
MAX_BYTES = 512 * MIB
"""Largest sum of the files' sizes. It is eight times the limit of a submission, and is read in a second or two."""
_SHOWN_CHARS = 120


_MACHINE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
}


def is_of_the_machine(error: Exception) -> bool:
    """Return whether this machine is the cause of an error, such as a full disk, and not the folder."""
    return isinstance(error, OSError) and error.errno in _MACHINE


class BadTree(Exception):
    """A folder can't be used; the text says why, and what to do."""


class TreeNode(Struct, frozen=True):
    """A file, folder or link in a folder; valid only until the walk goes on."""

    path: str
    """Path relative to the folder where the walk began, with slashes."""
    folder: int
    """Descriptor of the folder that it is in."""
    status: os.stat_result
    """Status of the node itself; a link is not followed."""

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
        """Return the target of a link.

        Raises:
            BadTree: it can't be read.
        """
        with _readable(self.path):
            return os.readlink(self.name, dir_fd=self.folder)

    def pieces(self, size: int = MIB) -> Iterator[bytes]:
        """Yield the content of a file in pieces, up to the size that it had when the walk reached it.

        Args:
            size: size of a piece, in bytes.

        Raises:
            BadTree: it can't be read.
        """
        left = self.status.st_size
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with _readable(self.path), open_descriptor(self.name, flags, within=self.folder) as descriptor:
            while left > 0 and (data := os.read(descriptor, min(size, left))):
                left -= len(data)
                yield data


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Convert an error of the system into BadTree, unless this machine is its cause."""
    try:
        yield
    except OSError as error:
        if is_of_the_machine(error):
            raise
        raise BadTree(f"{show_path(path)} can't be read: {error.strerror}") from None


@contextmanager
def open_folder(path: Path | str, within: int | None = None) -> Iterator[int]:
    """Open a folder by its descriptor, and close it at the end.

    Args:
        path: path of the folder; links in it are followed unless it is relative to `within`.
        within: descriptor of the folder that the path begins at.

    Raises:
        BadTree: it can't be read.
    """
    flags = FOLDER if within is None else FOLDER | os.O_NOFOLLOW
    with ExitStack() as held:
        try:
            with _readable(str(path)):
                descriptor = held.enter_context(open_descriptor(path, flags, within=within))
        except ValueError:  # a null character
            raise BadTree(f"{show_path(str(path))} is no path") from None
        yield descriptor


def walk(
    folder: Path | int,
    *,
    max_bytes: int | None = MAX_BYTES,
    left_out: Callable[[TreeNode], bool] = lambda node: False,
) -> Iterator[TreeNode]:
    """Yield everything below a folder: first its own content in the order of names, then the content of its folders.

    Args:
        folder: path, or a descriptor, which is left open.
        max_bytes: largest sum of the files' sizes; None if the caller counts.
        left_out: returns True for each node that is neither yielded nor counted nor entered.

    Raises:
        BadTree: the folder is too large, or something in it can't be read. Only the owner's permissions count, so that
            the verdict is the same for every user, even root.
        OSError: this machine is the cause, and any folder would have failed.
    """
    with nullcontext(folder) if isinstance(folder, int) else open_folder(folder) as top:
        yield from _Walk(max_bytes, left_out).below(top)


class _Walk:
    """One walk, with the numbers of entries and bytes so far."""

    def __init__(self, max_bytes: int | None, left_out: Callable[[TreeNode], bool]) -> None:
        self._max_bytes = max_bytes
        self._left_out = left_out
        self._entries = 0
        self._bytes = 0

    def below(self, folder: int, prefix: str = "", level: int = 1) -> Iterator[TreeNode]:
        """Yield what is below a folder."""
        nodes = self._list(folder, prefix)
        yield from nodes
        for node in nodes:
            if not node.is_folder:
                continue
            if level >= MAX_LEVELS:
                raise BadTree(f"there are folders more than {level} deep: {show_path(node.path)}")
            with open_folder(node.name, folder) as inner:
                yield from self.below(inner, f"{node.path}/", level + 1)

    def _list(self, folder: int, prefix: str) -> list[TreeNode]:
        """List the content of one folder, in order."""
        nodes = []
        with _readable(prefix or "the folder"), os.scandir(folder) as inner:
            for entry in inner:
                node = TreeNode(prefix + entry.name, folder, entry.stat(follow_symlinks=False))
                if not self._left_out(node):
                    self._count(node)
                    nodes.append(node)
        return sorted(nodes, key=lambda node: node.name)

    def _count(self, node: TreeNode) -> None:
        self._entries += 1
        self._bytes += node.status.st_size if node.is_file else 0
        if self._entries > MAX_ENTRIES:
            raise BadTree(f"there are more than {MAX_ENTRIES} files and folders in it")
        if self._max_bytes is not None and self._bytes > self._max_bytes:
            raise BadTree(f"its files are more than {self._max_bytes // MIB} MiB together")
        needed = stat.S_IRUSR | stat.S_IXUSR if node.is_folder else stat.S_IRUSR if node.is_file else 0
        if node.status.st_mode & needed != needed:
            mode = stat.S_IMODE(node.status.st_mode)
            raise BadTree(f"{show_path(node.path)} can't be read: its mode is {mode:03o}; `chmod u+rwX` fixes that")


def show_path(path: str) -> str:
    """Format a path for an error: one line of bounded length, in characters that are printable or ASCII."""
    text = path if path.isprintable() else ascii(path)[1:-1]
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
