"""The folders of programs as bytes: what a host needs to play with them, kept there by the SHA-256 of these bytes."""

import hashlib
import secrets
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import RefereeError
from ..files.removal import remove
from ..files.tree import walk
from ..programs.file_view import PrivateNames, private_to

_LEFT_OUT = ("__pycache__", ".git")
"""What running and keeping a program makes, and no program needs."""


class Entry(Struct, frozen=True, array_like=True):
    """One thing in a folder."""

    path: str
    content: bytes | None = None
    """Of a file; None: it is a folder, or a link."""
    target: str | None = None
    """Of a link."""
    is_executable: bool = False


class OtherProgram(RefereeError):
    """Bytes that are not the folder that they are to be."""


def packed_folder(folder: Path, private_names: PrivateNames, hidden: tuple[Path, ...]) -> bytes:
    """Return a program's folder as bytes: the same ones for the same content.

    Args:
        folder: the program's.
        private_names: tells what is none of the program's wherever it lies.
        hidden: files and folders that are none of it, either.

    Raises:
        BadTree: it can't be read, or there is too much of it.
    """
    private = private_to(folder, hidden, private_names)
    entries = []
    for node in walk(folder, left_out=lambda node: node.name in _LEFT_OUT or private(node)):
        if node.is_link:
            entries.append(Entry(node.path, target=node.target()))
        elif node.is_file:
            entries.append(Entry(node.path, b"".join(node.pieces()), is_executable=node.is_executable))
        elif node.is_folder:
            entries.append(Entry(node.path))
    return msgspec.msgpack.encode(entries)


def digest_of(packed: bytes) -> str:
    """Return what a packed folder is kept by."""
    return hashlib.sha256(packed).hexdigest()


class ProgramStore:
    """The programs that a host has.

    Args:
        folder: where each has a folder of its own; what a host that was killed had half unpacked there is removed.

    Raises:
        OSError: that can't be done.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for rest in folder.glob(".*.new"):
            remove(rest)

    def has(self, digest: str) -> bool:
        """Tell whether a program is here."""
        return self.path(digest).is_dir()

    def path(self, digest: str) -> Path:
        """Return the folder of a program."""
        return self._folder / digest

    def keep(self, digest: str, packed: bytes) -> None:
        """Unpack a program, unless it is here.

        Raises:
            OtherProgram: the bytes are not what the digest says, or no folder.
            OSError: the disk can't take it.
        """
        if digest_of(packed) != digest:
            raise OtherProgram(f"what came for program {digest[:12]} is another one")
        if self.has(digest):
            return
        try:
            entries = msgspec.msgpack.decode(packed, type=list[Entry])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise OtherProgram(f"program {digest[:12]} is no folder: {error}") from None
        new = self._folder / f".{secrets.token_hex(8)}.new"
        new.mkdir(parents=True)
        try:
            for entry in entries:
                _put(new, entry)
            new.rename(self.path(digest))
        except (ValueError, RuntimeError) as error:  # a null character in a path, and links in a circle
            raise OtherProgram(f"program {digest[:12]} is no folder: {error}") from None
        finally:
            remove(new)


def _put(folder: Path, entry: Entry) -> None:
    """Put one thing in its place; a folder comes before what is in it.

    Raises:
        OtherProgram: its place is outside, or taken.
        OSError: it can't be written.
    """
    path = Path(entry.path)
    above = folder / path.parent
    if path.is_absolute() or ".." in path.parts or not path.name or above.resolve() != folder.resolve() / path.parent:
        raise OtherProgram(f"{entry.path!a:.100} is no place in a program's folder")
    place = folder / path
    if entry.target is not None:
        place.symlink_to(entry.target)
    elif entry.content is None:
        place.mkdir()
    else:
        with place.open("xb") as file:
            file.write(entry.content)
        if entry.is_executable:
            place.chmod(0o755)
