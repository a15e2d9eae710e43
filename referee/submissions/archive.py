"""An author's archive: what may be in it, and entries <-> its bytes.

Whoever packs and whoever unpacks holds it to the same rules. Unpacking believes nothing: everything is read and checked
before anything of it is used, and what is no plain file, folder or link inside is refused rather than mended.
"""

import struct
import tarfile
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from msgspec import Struct

from ..errors import BadRequest, RemediableError
from ..files.tree import MIB

MAX_PACKED_BYTES = 16 * MIB
"""Halite took 20 MiB; source and a table of openings are far below, and a hundred authors' fit into memory at once."""
MAX_UNPACKED_BYTES = 64 * MIB
"""The largest single file that a launched program may write, too; four times the packed size is usual for text."""
MAX_ENTRIES = 2000
"""Files, folders and links: room for the libraries that a program brings, as its build has no network."""
MAX_LEVELS = 32
"""Folders within folders."""
MANIFEST = "player.toml"
_BLOCK = tarfile.BLOCKSIZE
_MAX_TAR_BYTES = MAX_UNPACKED_BYTES + (2 * MAX_ENTRIES + 40) * _BLOCK
"""With a header and a padding for each entry, and the longest end that tar writes."""
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""No name, no time, no system: all that the library would write into it from its surroundings."""
_GZIP_BITS = 31
_PACK_IT = "`referee submit` packs it right, and so does `tar --format=ustar -cz`"
_SMALLER = "leave out what the program does not need, by its name in .refereeignore"
_COPY_IT, _LEAVE_IT_OUT = "put a copy in its place", "leave it out"
_OTHERS = {
    tarfile.LNKTYPE: ("a hard link", _COPY_IT),
    tarfile.CHRTYPE: ("a device", _LEAVE_IT_OUT),
    tarfile.BLKTYPE: ("a device", _LEAVE_IT_OUT),
    tarfile.FIFOTYPE: ("a pipe", _LEAVE_IT_OUT),
    tarfile.GNUTYPE_SPARSE: ("a sparse file", _PACK_IT),
    tarfile.GNUTYPE_LONGNAME: ("a name in GNU's own form", _PACK_IT),
    tarfile.GNUTYPE_LONGLINK: ("a link in GNU's own form", _PACK_IT),
    tarfile.XHDTYPE: ("a pax header", _PACK_IT),
    tarfile.XGLTYPE: ("a pax header", _PACK_IT),
}


class BadArchive(RemediableError, BadRequest):
    """What an author can't hand in."""


class EntryKind(StrEnum):
    """What an entry is."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


class ArchiveEntry(Struct, frozen=True, kw_only=True):
    """One thing in an archive."""

    path: str
    """Relative to the player's folder, with slashes."""
    kind: EntryKind = EntryKind.FILE
    data: bytes = b""
    is_executable: bool = False
    target: str = ""
    """Of a link: relative to the folder that it stands in."""


def pack(entries: Sequence[ArchiveEntry]) -> bytes:
    """Pack entries: the same ones, in whatever order, give the same bytes.

    Another release of the compression library may compress to other bytes, which unpack to the same entries.

    Raises:
        BadArchive: they break a rule, or are too many or too large.
    """
    check(entries)
    plain = b"".join(_packed(entry) for entry in sorted(entries, key=lambda entry: entry.path.encode()))
    plain += bytes(2 * _BLOCK)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    data = _GZIP_HEAD + deflate.compress(plain) + deflate.flush() + struct.pack("<II", zlib.crc32(plain), len(plain))
    if len(data) > MAX_PACKED_BYTES:
        raise too_large(entries, f"packed, it is over {MAX_PACKED_BYTES // MIB} MiB")
    return data


def _packed(entry: ArchiveEntry) -> bytes:
    info = tarfile.TarInfo(entry.path)
    info.type = {EntryKind.FILE: tarfile.REGTYPE, EntryKind.FOLDER: tarfile.DIRTYPE, EntryKind.LINK: tarfile.SYMTYPE}[
        entry.kind
    ]
    info.mode = 0o755 if entry.is_executable or entry.kind is not EntryKind.FILE else 0o644
    info.size, info.linkname = len(entry.data), entry.target
    try:
        head = info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
    except ValueError:  # a name of more than 100 bytes is parted at a slash, and not every one can be
        raise BadArchive(f"{shown(entry.path)}: its path is too long for an archive", "shorten it") from None
    return head + entry.data + bytes(-len(entry.data) % _BLOCK)


def unpack(data: bytes) -> tuple[ArchiveEntry, ...]:
    """Return the entries of an archive, without the folders that follow from their paths alone.

    Raises:
        BadArchive: it is none, is cut off, is too large, or something in it breaks a rule.
    """
    if len(data) > MAX_PACKED_BYTES:
        raise BadArchive(f"the archive is over {MAX_PACKED_BYTES // MIB} MiB", _SMALLER)
    entries = tuple(_walked(_inflated(data)))
    check(entries)
    return entries


def _inflated(data: bytes) -> bytes:
    """Return the plain tar; a bomb is given up as soon as it is over the limit."""
    inflate = zlib.decompressobj(_GZIP_BITS)
    try:
        plain = inflate.decompress(data, _MAX_TAR_BYTES + 1)
    except zlib.error as error:
        raise BadArchive(f"the archive is no whole gzip: {error}", _PACK_IT) from None
    if len(plain) > _MAX_TAR_BYTES:
        raise BadArchive(f"unpacked, the archive is over {MAX_UNPACKED_BYTES // MIB} MiB", _SMALLER)
    if not inflate.eof:
        raise BadArchive("the archive is cut off", "hand it in again")
    if inflate.unused_data:
        raise BadArchive(f"{len(inflate.unused_data)} bytes stand behind the archive", _PACK_IT)
    return plain


def _walked(plain: bytes) -> Iterator[ArchiveEntry]:
    """Yield the entries of a tar, header by header: what would change how others are read is refused, not followed."""
    offset = count = 0
    while any(block := plain[offset : offset + _BLOCK]):
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.TarError, ValueError) as error:  # a name that is no UTF-8, too
            raise BadArchive(f"the archive is no tar at byte {offset}: {error}", _PACK_IT) from None
        count += 1
        if count > MAX_ENTRIES + 1:  # the folder itself may be one
            raise _too_many()
        start, offset = offset + _BLOCK, offset + _BLOCK + info.size + -info.size % _BLOCK
        if info.size < 0 or offset > len(plain):
            raise BadArchive(f"{shown(info.name)}: the archive is cut off in it", "hand it in again")
        if entry := _entry(info, plain[start : start + info.size]):
            yield entry
    if len(plain) < offset + _BLOCK or any(plain[offset:]):
        raise BadArchive("the archive has no proper end", _PACK_IT)


def _entry(info: tarfile.TarInfo, data: bytes) -> ArchiveEntry | None:
    """Return a header's entry; None for the player's folder itself."""
    path = info.name.removeprefix("./")
    if info.type == tarfile.DIRTYPE and path in (".", "") and not data:
        return None
    if info.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
        return ArchiveEntry(path=path, data=data, is_executable=bool(info.mode & 0o100))
    if info.type in (tarfile.DIRTYPE, tarfile.SYMTYPE) and data:
        raise BadArchive(f"{shown(path)} has content and is no file", _PACK_IT)
    if info.type == tarfile.DIRTYPE:
        return ArchiveEntry(path=path, kind=EntryKind.FOLDER)
    if info.type == tarfile.SYMTYPE:
        return ArchiveEntry(path=path, kind=EntryKind.LINK, target=info.linkname)
    what, remedy = _OTHERS.get(info.type, (f"of type {info.type!r}", _PACK_IT))
    raise BadArchive(f"{shown(path)} is {what}: there may be files, folders and links to them only", remedy)


# --- the rules


def check(entries: Sequence[ArchiveEntry]) -> None:
    """Hold entries to the rules: what they are unpacked to stays in one folder, whatever it is unpacked on.

    Raises:
        BadArchive: they break one.
    """
    if len(entries) > MAX_ENTRIES:
        raise _too_many()
    if sum(len(entry.data) for entry in entries) > MAX_UNPACKED_BYTES:
        raise too_large(entries, f"unpacked, it is over {MAX_UNPACKED_BYTES // MIB} MiB")
    kinds: dict[str, EntryKind] = {}
    for entry in entries:
        _check_path(entry.path)
        if entry.path in kinds:
            raise BadArchive(f"{shown(entry.path)} is in the archive twice", _PACK_IT)
        kinds[entry.path] = entry.kind
    _check_parents(kinds)
    for entry in entries:
        if entry.kind is EntryKind.LINK:
            _check_link(entry, kinds)
    if kinds.get(MANIFEST) is not EntryKind.FILE:
        raise BadArchive(f"there is no file {MANIFEST} at the top", "it says how the player is built and started")


def _check_path(path: str) -> None:
    parts = path.split("/")
    if path.startswith("/") or ".." in parts:
        raise BadArchive(f"{shown(path)} leads out of the player's folder", _PACK_IT)
    if not path.isprintable():
        raise BadArchive(f"{shown(path)} is no name that can be shown", "rename it")
    if "" in parts or "." in parts:
        raise BadArchive(f"{shown(path)} is no plain path", _PACK_IT)
    if len(parts) > MAX_LEVELS:
        raise BadArchive(f"{shown(path)} is more than {MAX_LEVELS} folders deep", "move it up")


def _check_parents(kinds: dict[str, EntryKind]) -> None:
    """Add the folders that paths imply, and see to it that each is a folder and no name is another's in capitals."""
    for path in list(kinds):
        for parent in map(str, list(PurePosixPath(path).parents)[:-1]):
            if kinds.setdefault(parent, EntryKind.FOLDER) is not EntryKind.FOLDER:
                raise BadArchive(f"{shown(path)} lies in {shown(parent)}, which is no folder", _PACK_IT)
    folded: dict[str, str] = {}
    for path in kinds:
        other = folded.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            raise BadArchive(f"{shown(path)} and {shown(other)} are one name on some machines", "rename one")


def _check_link(link: ArchiveEntry, kinds: dict[str, EntryKind]) -> None:
    """See to it that a link leads to a file or folder of the archive, with no other link on the way."""
    steps = link.target.split("/")
    place = link.path.split("/")[:-1]
    while steps and steps[0] == "..":
        if not place:
            raise BadArchive(f"{shown(link.path)} is a link out of the player's folder", _COPY_IT)
        place, steps = place[:-1], steps[1:]
    reached = "/".join([*place, *steps])
    if link.target.startswith("/"):
        raise BadArchive(f"{shown(link.path)} is a link to an absolute path", _COPY_IT)
    if not steps or kinds.get(reached) not in (EntryKind.FILE, EntryKind.FOLDER):
        detail = f"{shown(link.path)} is a link to {shown(link.target)}, which is no file or folder in here"
        raise BadArchive(detail, _COPY_IT)


def _too_many() -> BadArchive:
    return BadArchive(f"there are more than {MAX_ENTRIES} files and folders", _SMALLER)


def too_large(entries: Sequence[ArchiveEntry], what: str) -> BadArchive:
    """Return what to say of too much: which files are the largest, and what to do."""
    return largest([(len(entry.data), entry.path) for entry in entries], what)


def largest(sizes: Sequence[tuple[int, str]], what: str) -> BadArchive:
    """Return what to say of files that are too much together.

    Args:
        sizes: bytes and path of each.
        what: is wrong.
    """
    top = sorted(sizes, reverse=True)[:3]
    told = ", ".join(f"{shown(path)} ({size / MIB:.1f} MiB)" for size, path in top)
    return BadArchive(f"{what}; the largest: {told}", _SMALLER)


def shown(path: str) -> str:
    """Return a path as an error may show it: one line, of bounded length."""
    text = path if path.isprintable() else ascii(path)[1:-1]
    return text if len(text) <= 100 else f"{text[:100]}..."
