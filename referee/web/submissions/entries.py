"""The entries of an author's archive in any format, and the rules that they must keep."""

# The client that packs and the server that unpacks apply the same rules. An entry that breaks a rule is refused, not
# repaired: a repaired path would surprise its author, and two repaired paths could become equal.

import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from msgspec import Struct

from ...errors import BadRequest, RemediableError
from ...files.tree import MIB

MAX_UNPACKED_BYTES = 64 * MIB
"""Most unpacked bytes, four times the packed size, as is usual for text. A running program has the same limit for a
file."""
MAX_ENTRIES = 2000
"""Most files, folders and links: enough for a program's libraries, which its build can't download."""
MAX_LEVELS = 32
"""Most levels of folders within folders."""
MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 1000
"""Most bytes of a name, as file systems allow, and of a path. The kernel allows 4096, the folders above included."""
MANIFEST = "player.toml"
LEFT_OUT = frozenset(
    {"__pycache__", ".git", ".hg", ".svn", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store", ".venv"}
)
"""Names that are left out in every folder. `node_modules` is not among them, because a build can't download it."""
MAX_LISTED = 10 * MAX_ENTRIES
"""Most entries that an archive may list, with those that are left out: a git history may have thousands of files."""
PACK_IT = "pack its folder again: `tar -czf player.tar.gz FOLDER`, or a zip"
SEND_AGAIN = "hand it in again"
SMALLER = "leave out files that the program does not need; if you hand in a folder, name them in .refereeignore"
COPY_IT, LEAVE_IT_OUT = "put a copy in its place", "leave it out"


class BadArchive(RemediableError, BadRequest):
    """An archive or a folder that can't be handed in."""


class EntryKind(StrEnum):
    """The kind of an entry."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


class ArchiveEntry(Struct, frozen=True, kw_only=True):
    """A file, a folder or a link in an archive."""

    path: str
    """Path relative to the player's folder, with slashes."""
    kind: EntryKind = EntryKind.FILE
    data: bytes = b""
    is_executable: bool = False
    target: str = ""
    """Target of a link, relative to the folder that the link is in."""


def is_program(data: bytes) -> bool:
    """Return whether a file must be executable, by its first bytes: Windows and browsers send no modes of files."""
    return data.startswith((b"#!", b"\x7fELF"))


def refuse_kind(path: str, what: str, remedy: str) -> BadArchive:
    """Return the error about an entry that is not a file, folder or link."""
    return BadArchive(f"{show_path(path)} is {what}; only files, folders and links to them are allowed", remedy)


def check(entries: Sequence[ArchiveEntry]) -> None:
    """Check that entries stay in one folder when they are unpacked, on any system.

    Raises:
        BadArchive: an entry breaks a rule.
    """
    if len(entries) > MAX_ENTRIES:
        raise too_many()
    if sum(len(entry.data) for entry in entries) > MAX_UNPACKED_BYTES:
        raise too_large(entries, f"unpacked, it is over {MAX_UNPACKED_BYTES // MIB} MiB")
    kinds: dict[str, EntryKind] = {}
    for entry in entries:
        check_path(entry.path)
        if entry.path in kinds:
            raise BadArchive(f"{show_path(entry.path)} is in the archive twice", PACK_IT)
        kinds[entry.path] = entry.kind
    _check_parents(kinds)
    for entry in entries:
        if entry.kind is EntryKind.LINK:
            _check_link(entry, kinds)
    if kinds.get(MANIFEST) is not EntryKind.FILE:
        raise _no_manifest(kinds)


def check_path(path: str) -> None:
    """Check that a path stays below the player's folder, and that every system can store and show it.

    Raises:
        BadArchive: the path leads out of the folder, or is not possible on some system.
    """
    parts = path.split("/")
    if path.startswith("/") or ".." in parts:
        raise BadArchive(f"{show_path(path)} leads out of the player's folder", PACK_IT)
    if any("\udc80" <= sign <= "\udcff" for sign in path):  # Python decodes a byte that is not UTF-8 to these
        raise BadArchive(_describe_bytes(path), "rename it: plain letters are safe")
    if not path.isprintable():
        raise BadArchive(f"{show_path(path)} is a name that can't be shown", "rename it")
    if "" in parts or "." in parts:
        raise BadArchive(f"{show_path(path)} is no plain path", PACK_IT)
    if len(parts) > MAX_LEVELS:
        raise BadArchive(f"{show_path(path)} is more than {MAX_LEVELS} folders deep", "move it up")
    if len(path.encode()) > MAX_PATH_BYTES or any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        text = f"{show_path(path)} is too long: a name may have {MAX_NAME_BYTES} bytes, a path {MAX_PATH_BYTES}"
        raise BadArchive(text, "shorten it")


def _check_parents(kinds: dict[str, EntryKind]) -> None:
    """Add the folders that paths imply. Check that each is a folder, and that no two names differ only in case."""
    for path in list(kinds):
        for parent in map(str, list(PurePosixPath(path).parents)[:-1]):
            if kinds.setdefault(parent, EntryKind.FOLDER) is not EntryKind.FOLDER:
                raise BadArchive(f"{show_path(path)} lies in {show_path(parent)}, which is no folder", PACK_IT)
    folded: dict[str, str] = {}
    for path in kinds:
        other = folded.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            raise BadArchive(
                f"{show_path(path)} and {show_path(other)} are the same name on some systems", "rename one"
            )


def _check_link(link: ArchiveEntry, kinds: dict[str, EntryKind]) -> None:
    """Check that a link leads to a file or folder of the archive, with no other link on the way."""
    steps = [step for step in link.target.split("/") if step != "."]
    place = link.path.split("/")[:-1]
    while steps and steps[0] == "..":
        if not place:
            raise BadArchive(f"{show_path(link.path)} is a link out of the player's folder", COPY_IT)
        place, steps = place[:-1], steps[1:]
    reached = "/".join([*place, *steps])
    if link.target.startswith("/"):
        raise BadArchive(f"{show_path(link.path)} is a link to an absolute path", COPY_IT)
    if not steps or kinds.get(reached) not in (EntryKind.FILE, EntryKind.FOLDER):
        detail = f"{show_path(link.path)} is a link to {show_path(link.target)}, which is no file or folder in here"
        raise BadArchive(detail, COPY_IT)


def _no_manifest(kinds: dict[str, EntryKind]) -> BadArchive:
    """Return the error about a missing player.toml; its remedy names another folder that has one, or shows a file."""
    manifests = (path for path in kinds if PurePosixPath(path).name == MANIFEST)
    elsewhere = sorted(manifests, key=lambda path: (path.count("/"), path))
    if elsewhere:
        remedy = f"it is at {', '.join(map(show_path, elsewhere[:3]))}: hand in only the folder that contains it"
    else:
        remedy = 'write one, which says how the player is started: name = "ada" and run = "python3 player.py"'
    return BadArchive(f"there is no file {MANIFEST} at the top", remedy)


def too_many() -> BadArchive:
    """Return the error about too many entries."""
    return BadArchive(f"there are more than {MAX_ENTRIES} files and folders", SMALLER)


def too_large(entries: Sequence[ArchiveEntry], what: str) -> BadArchive:
    """Return the error about too many bytes, with the largest files."""
    return largest([(len(entry.data), entry.path) for entry in entries], what)


def largest(sizes: Sequence[tuple[int, str]], what: str) -> BadArchive:
    """Return the error about files that are too large in total.

    Args:
        sizes: size in bytes and path of each file.
        what: what is wrong.
    """
    top = sorted(sizes, reverse=True)[:3]
    listed = ", ".join(f"{show_path(path)} ({size / MIB:.1f} MiB)" for size, path in top)
    return BadArchive(f"{what}; the largest: {listed}", SMALLER)


def _describe_bytes(path: str) -> str:
    """Describe a path that is not UTF-8, and show it as Latin-1, which old archivers write."""
    data = path.encode("utf-8", "surrogateescape")
    byte = next(ord(sign) - 0xDC00 for sign in path if "\udc80" <= sign <= "\udcff")
    guess = data.decode("latin-1")
    readable = data.decode("utf-8", "replace")
    what = f"{show_path(readable)} is a name with the byte 0x{byte:02x}, which is not UTF-8"
    return f"{what}; in Latin-1 it is {show_path(guess)}" if guess.isprintable() else what


def show_path(path: str) -> str:
    """Return a path for an error message, shortened to one line."""
    text = path if path.isprintable() else ascii(path)[1:-1]
    return text if len(text) <= 100 else f"{text[:100]}..."
