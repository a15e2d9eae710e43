"""An author's archive: entries <-> its bytes, packed in one format and unpacked from all that are common.

Unpacking believes nothing: everything is read and checked before anything of it is used.
"""

import struct
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ...files.tree import MIB
from .archive_format import ArchiveFormat, find_format, inflate
from .entries import (
    LEFT_OUT,
    MANIFEST,
    MAX_ENTRIES,
    MAX_LISTED,
    MAX_UNPACKED_BYTES,
    SMALLER,
    ArchiveEntry,
    BadArchive,
    EntryKind,
    check,
    check_path,
    too_large,
    too_many,
)
from .tar_entries import BLOCK, read_tar
from .zip_entries import read_zip

__all__ = [
    "MAX_ENTRIES",
    "MAX_PACKED_BYTES",
    "MAX_UNPACKED_BYTES",
    "ArchiveEntry",
    "BadArchive",
    "EntryKind",
    "check",
    "find_player",
    "pack",
    "unpack",
]

MAX_PACKED_BYTES = 16 * MIB
"""Halite took 20 MiB; source and a table of openings are far below, and a hundred authors' fit into memory at once."""
_MAX_TAR_BYTES = MAX_UNPACKED_BYTES + (2 * MAX_ENTRIES + 40) * BLOCK
"""With a header and a padding for each entry, and the longest end that tar writes."""
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""No name, no time, no system: all that the library would write into it from its surroundings."""
_APPLE_FOLDER, _APPLE_PREFIX, _APPLE_MAGIC = "__MACOSX", "._", b"\0\5\x16\7"
"""What macOS adds to archives of its own accord: files with the metadata of others."""


def pack(entries: Sequence[ArchiveEntry]) -> bytes:
    """Pack entries: the same ones, in whatever order, give the same bytes.

    Another release of the compression library may compress to other bytes, which unpack to the same entries.

    Raises:
        BadArchive: they break a rule, or are too many or too large.
    """
    check(entries)
    plain = b"".join(_packed(entry) for entry in sorted(entries, key=lambda entry: entry.path.encode()))
    plain += bytes(2 * BLOCK)
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
        head = info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")
    return head + entry.data + bytes(-len(entry.data) % BLOCK)


def unpack(data: bytes, name: str = "") -> tuple[ArchiveEntry, ...]:
    """Return the entries of an archive, without the folders that follow from their paths alone.

    Where everything lies in one folder, with the player.toml in it, that is the player's.

    Args:
        data: the archive.
        name: of its file, for what is said of a lone one.

    Raises:
        BadArchive: it is none, is cut off, is too large, or something in it breaks a rule.
    """
    if len(data) > MAX_PACKED_BYTES:
        raise BadArchive(f"the archive is over {MAX_PACKED_BYTES // MIB} MiB", f"compress it, or {SMALLER}")
    found = find_format(data, name)
    entries = read_zip(data) if found is ArchiveFormat.ZIP else read_tar(inflate(data, found, _MAX_TAR_BYTES))
    own = find_player(entries)
    check(own)
    return own


def find_player(entries: Iterable[ArchiveEntry]) -> tuple[ArchiveEntry, ...]:
    """Return what belongs to the player: without what is left out, from the one folder that everything lies in, if so.

    Raises:
        BadArchive: a path breaks a rule, or there are too many.
    """
    return _step_in([entry for entry in _check_each(entries) if not _is_left_out(entry)])


def _check_each(entries: Iterable[ArchiveEntry]) -> Iterator[ArchiveEntry]:
    """Hold each entry to the rules for paths before any is left out or moved, and stop early if they are too many."""
    for count, entry in enumerate(entries, 1):
        if count > MAX_LISTED:
            raise too_many()
        check_path(entry.path)
        yield entry


def _is_left_out(entry: ArchiveEntry) -> bool:
    """Tell whether an entry is no part of any program: a cache, the history, or what macOS put there."""
    names = entry.path.split("/")
    is_metadata = names[-1].startswith(_APPLE_PREFIX) and entry.data.startswith(_APPLE_MAGIC)
    return is_metadata or names[0] == _APPLE_FOLDER or not LEFT_OUT.isdisjoint(names)


def _step_in(entries: Sequence[ArchiveEntry]) -> tuple[ArchiveEntry, ...]:
    """Return the entries of the one folder that everything lies in, if the player.toml lies there, too."""
    manifests = [entry.path for entry in entries if entry.path.rpartition("/")[2] == MANIFEST]
    top = min(manifests, key=lambda path: path.count("/"), default="").rpartition("/")[0]
    if not top:
        return tuple(entries)
    inside = [entry for entry in entries if entry.path.startswith(f"{top}/")]
    above = [entry for entry in entries if f"{top}/".startswith(f"{entry.path}/") and entry.kind is EntryKind.FOLDER]
    if len(inside) + len(above) < len(entries):
        return tuple(entries)
    return tuple(replace(entry, path=entry.path.removeprefix(f"{top}/")) for entry in inside)
