"""A player's folder on the disk <-> the entries of its archive."""

# Some files are left out of a folder that is packed here or sent by a browser:
#
# - caches, which every machine makes itself,
# - virtual environments, which work on one machine only,
# - the history of version control,
# - folders of records,
# - files that .refereeignore names.

import os
import stat
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from ...files.reading import BadFile, read_small_text
from ...files.scratch import scratch
from ...files.tree import MIB, BadTree, TreeNode, walk
from ...record.folder import holds_records_alone
from .archive import find_player, pack
from .entries import (
    LEFT_OUT,
    MAX_ENTRIES,
    MAX_UNPACKED_BYTES,
    ArchiveEntry,
    BadArchive,
    EntryKind,
    check,
    is_program,
    largest,
    show_path,
)

IGNORE = ".refereeignore"
_ENVIRONMENT = "pyvenv.cfg"
"""File that marks its folder as a Python virtual environment."""
_MAX_IGNORE_BYTES = 65_536


class FolderContents(Struct, frozen=True, kw_only=True):
    """The content of a folder."""

    entries: tuple[ArchiveEntry, ...]
    left_out: tuple[str, ...]
    """Paths that were left out; for a left-out folder, only the folder's own path."""


def gather(folder: Path) -> FolderContents:
    """Read a player's folder.

    Raises:
        BadArchive: the folder is missing or too large, or something in it can't be handed in.
    """
    if not folder.is_dir():
        raise BadArchive(
            f"there is no folder {folder}", "name the folder that holds your player.toml, or an archive of it"
        )
    try:
        contents = _Walk(folder)
    except BadTree as error:
        raise BadArchive(f"{folder}: {error}", f"fix that, or name it in {IGNORE}") from None
    except OSError as error:
        raise BadArchive(f"can't read {error.filename}: {error.strerror}", "check that path") from None
    return FolderContents(entries=tuple(contents.entries), left_out=tuple(sorted(contents.left_out)))


class _Walk:
    """One walk through a folder, in order, without following links."""

    def __init__(self, folder: Path) -> None:
        self.entries: list[ArchiveEntry] = []
        self.left_out: list[str] = []
        self._root = folder
        self._patterns = _patterns(folder / IGNORE)
        self._sizes: list[tuple[int, str]] = []
        self._total = 0
        for node in walk(
            folder, max_bytes=None, left_out=self._leave_out
        ):  # counted here, so that the error can name the largest files
            if len(self.entries) >= MAX_ENTRIES:
                text = f"there are more than {MAX_ENTRIES} files and folders in {self._root}"
                raise BadArchive(text, f"name the files that the program does not need in {IGNORE}")
            self.entries.append(self._entry(node))

    def _leave_out(self, node: TreeNode) -> bool:
        """Leave a node out if .refereeignore names it or no program needs it; return whether it is left out."""
        is_left_out = (
            node.name in LEFT_OUT
            or (node.is_folder and (_is_environment(node) or holds_records_alone(self._root / node.path)))
            or any(fnmatchcase(name, pattern) for pattern in self._patterns for name in (node.name, node.path))
        )
        if is_left_out:
            self.left_out.append(node.path)
        return is_left_out

    def _entry(self, node: TreeNode) -> ArchiveEntry:
        if node.is_link:
            return ArchiveEntry(path=node.path, kind=EntryKind.LINK, target=node.target())
        if node.is_folder:
            return ArchiveEntry(path=node.path, kind=EntryKind.FOLDER)
        if not node.is_file:
            text = f"{show_path(node.path)} is neither a file nor a folder nor a link"
            raise BadArchive(text, f"remove it, or name it in {IGNORE}")
        self._weigh(node.status.st_size, node.path)
        return ArchiveEntry(path=node.path, data=b"".join(node.pieces()), is_executable=node.is_executable)

    def _weigh(self, size: int, inside: str) -> None:
        self._sizes.append((size, inside))
        self._total += size
        if self._total > MAX_UNPACKED_BYTES:
            raise largest(self._sizes, f"{self._root} is over {MAX_UNPACKED_BYTES // MIB} MiB")


def _is_environment(node: TreeNode) -> bool:
    try:
        return stat.S_ISREG(os.stat(f"{node.name}/{_ENVIRONMENT}", dir_fd=node.folder).st_mode)
    except OSError:
        return False


def _patterns(path: Path) -> list[str]:
    """Return the patterns in a file, one on each line, for names or for paths in the folder; `#` begins a comment.

    Raises:
        BadArchive: the file is too long, or is not text.
    """
    if not path.is_file():
        return []
    try:
        text = read_small_text(path, _MAX_IGNORE_BYTES)
    except BadFile as error:
        raise BadArchive(f"{path}: {error.strerror}", "write one name or pattern on each line") from None
    lines = (line.strip().rstrip("/") for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def write(entries: Sequence[ArchiveEntry], folder: Path) -> None:
    """Write checked entries into a new folder, and return once they are safely on the disk.

    Args:
        entries: entries of an unpacked archive.
        folder: folder to make.

    Raises:
        OSError: the disk can't store them; the caller removes what was written.
    """
    folder.mkdir(mode=0o755)
    for entry in sorted(entries, key=lambda entry: (entry.kind is EntryKind.LINK, entry.path)):
        path = folder / entry.path
        (path if entry.kind is EntryKind.FOLDER else path.parent).mkdir(mode=0o755, parents=True, exist_ok=True)
        if entry.kind is EntryKind.LINK:
            path.symlink_to(entry.target)
        elif entry.kind is EntryKind.FILE:
            _write_file(path, entry)


def _write_file(path: Path, entry: ArchiveEntry) -> None:
    with path.open("xb") as file:
        file.write(entry.data)
        os.fchmod(file.fileno(), 0o755 if entry.is_executable else 0o644)
        file.flush()
        os.fsync(file.fileno())


def pack_upload(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the archive of a folder.

    Args:
        files: path and content of each file; a path from a browser begins with the folder's name.

    Raises:
        BadArchive: the folder is too large, or something in it breaks a rule.
        OSError: the disk can't store it.
    """
    player = find_player(ArchiveEntry(path=path, data=data, is_executable=is_program(data)) for path, data in files)
    check(player)
    with scratch("upload") as place:
        write(player, place / "player")
        return pack(gather(place / "player").entries)
