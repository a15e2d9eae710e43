"""Copies a stranger's folder: plain files, folders and links, with the permission to execute programs.

Devices, pipes, sockets and all other mode bits are not copied.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from .reading import FOLDER, open_descriptor
from .tree import TreeNode, open_folder, walk

_MODE, _EXECUTABLE = 0o644, 0o755
_PARTIAL = ".referee-partial"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

LeftOut = Callable[[TreeNode], bool]
Marks = Mapping[str, tuple[object, ...]]
"""Path of each file, folder and link in a folder -> a mark, which changes when it changes."""


def _nothing(_: TreeNode) -> bool:
    return False


def copy_tree(
    source: Path | int,
    target: int,
    *,
    left_out: LeftOut = _nothing,
    owner: int | None = None,
    unless: Marks = MappingProxyType({}),
    is_new: bool = False,
) -> None:
    """Copy the content of a folder, each file at once and whole.

    Args:
        source: the folder, by path or descriptor.
        target: descriptor of the folder to copy to.
        left_out: returns True for each file, folder or link that is not copied.
        owner: id of the user and group that own the copy; None for the current user.
        unless: marks from before; whatever still has the same mark is not copied.
        is_new: True if the target is empty and nobody looks into it before the copy is complete.

    Raises:
        BadTree: the source can't be read or is too much.
        OSError: the target can't take it.
    """
    put = _create if is_new else _replace
    for node in walk(source, left_out=left_out):
        if unless.get(node.path) != _mark(node):
            with _above(target, node.path) as above:
                put(node, above, owner)
    if owner is not None:
        os.fchown(target, owner, owner)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder to a new path.

    Raises:
        BadTree: the source can't be read or is too much.
        OSError: the target can't take it.
    """
    target.mkdir()
    with open_folder(target) as folder:
        copy_tree(source, folder, is_new=True)


def marks(folder: int) -> Marks:
    """Return the marks of everything in a folder now.

    Raises:
        BadTree: it can't be read or is too much.
    """
    return {node.path: _mark(node) for node in walk(folder)}


def _mark(node: TreeNode) -> tuple[object, ...]:
    """Return a mark that changes with a file, without reading it: no program can set the time of a change (ctime)."""
    status = node.status
    if node.is_folder:
        return (status.st_mode,)
    return (status.st_mode, status.st_size, status.st_ino, status.st_ctime_ns)


def carry_over(source: int, target: Path, before: Marks, *, left_out: LeftOut) -> None:
    """Apply the changes of a folder's copy to the folder itself, each file at once and whole.

    Args:
        source: the copy.
        target: the folder. Whatever was added to it since the copy was made stays.
        before: marks of the copy when it was made.
        left_out: returns True for each file, folder or link that is not carried over.

    Raises:
        BadTree: the copy can't be read or is too much; or the folder can't be worked with.
        OSError: the folder can't be written to, or something else is in the place of a removed file.
    """
    after = marks(source)
    with open_folder(target) as top:
        for path in sorted(before.keys() - after.keys(), reverse=True):  # the content of a folder before the folder
            with suppress(FileNotFoundError, NotADirectoryError), _above(top, path) as above:
                _drop(above, path.rpartition("/")[2])
        copy_tree(source, top, left_out=left_out, unless=before)


@contextmanager
def _above(top: int, path: str) -> Iterator[int]:
    """Open the folder above a path, following no link."""
    with ExitStack() as held:
        for name in path.split("/")[:-1]:
            top = held.enter_context(open_descriptor(name, FOLDER | os.O_NOFOLLOW, within=top))
        yield top


def _write(node: TreeNode, above: int, name: str) -> None:
    descriptor = os.open(name, _NEW, 0o600, dir_fd=above)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        for piece in node.pieces():
            left = memoryview(piece)
            while left:
                left = left[file.write(left) :]
        os.fchmod(descriptor, _EXECUTABLE if node.is_executable else _MODE)
        os.utime(descriptor, ns=(node.status.st_atime_ns, node.status.st_mtime_ns))


def _replace(node: TreeNode, above: int, owner: int | None) -> None:
    """Put a node in the place of the one that is there; a file or link in one step, so that nobody finds half of it."""
    is_folder = _is_folder(above, node.name)
    if node.is_folder:
        if is_folder is False:
            os.unlink(node.name, dir_fd=above)
        if not is_folder:
            os.mkdir(node.name, _EXECUTABLE, dir_fd=above)
        _give(above, node.name, owner)
    elif node.is_link or node.is_file:
        if is_folder:
            os.rmdir(node.name, dir_fd=above)  # its own content is gone by now; this fails for anybody else's
        with suppress(FileNotFoundError):
            os.unlink(_PARTIAL, dir_fd=above)
        _create(node, above, owner, _PARTIAL)
        os.rename(_PARTIAL, node.name, src_dir_fd=above, dst_dir_fd=above)


def _create(node: TreeNode, above: int, owner: int | None, name: str | None = None) -> None:
    """Put a node where nothing is yet, under another name if one is given."""
    name = name or node.name
    if node.is_folder:
        os.mkdir(name, _EXECUTABLE, dir_fd=above)
    elif node.is_link:
        os.symlink(node.target(), name, dir_fd=above)
    elif node.is_file:
        _write(node, above, name)
    else:
        return
    _give(above, name, owner)


def _give(above: int, name: str, owner: int | None) -> None:
    if owner is not None:
        os.chown(name, owner, owner, dir_fd=above, follow_symlinks=False)


def _drop(above: int, name: str) -> None:
    """Remove a file or folder that the copy no longer has; a folder that is not empty stays."""
    if not _is_folder(above, name):
        os.unlink(name, dir_fd=above)
        return
    with suppress(OSError):
        os.rmdir(name, dir_fd=above)


def _is_folder(above: int, name: str) -> bool | None:
    """Return whether a name is a folder; None if there is no such name."""
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None
