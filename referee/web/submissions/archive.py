"""An author's archive: entries <-> bytes. It is packed in one format, and unpacked from all common formats."""

# The first bytes of a file decide its format, not its name. Archives may be hostile: an archive is read into memory and
# checked (entries.py) before any file of it is written to the disk. So no path can ever leave the folder, and unpacking
# a bomb stops as soon as it exceeds the limit. The standard library's extractors were the alternative. But they write
# while they read, and their filters differ between releases.
#
# Beginners often send a single source file. The refusal shows the commands that make a player's folder from it.

import bz2
import importlib
import json
import lzma
import re
import shlex
import struct
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import Any

from msgspec.structs import replace

from ...files.tree import MIB
from ...programs.player_spec import RUNNERS
from ...text import counted
from .entries import (
    LEFT_OUT,
    MANIFEST,
    MAX_ENTRIES,
    MAX_LISTED,
    MAX_UNPACKED_BYTES,
    PACK_IT,
    SEND_AGAIN,
    SMALLER,
    ArchiveEntry,
    BadArchive,
    EntryKind,
    check,
    check_path,
    show_path,
    too_large,
    too_many,
)
from .tar_entries import BLOCK, is_tar, read_tar
from .zip_entries import MAGICS, read_zip

__all__ = [
    "MAX_ENTRIES",
    "MAX_PACKED_BYTES",
    "MAX_UNPACKED_BYTES",
    "ArchiveEntry",
    "BadArchive",
    "EntryKind",
    "check",
    "find_format",
    "find_player",
    "pack",
    "unpack",
]

MAX_PACKED_BYTES = 16 * MIB
"""Most bytes of an archive. Halite allowed 20 MiB; sources with a table of openings are much smaller."""
_MAX_TAR_BYTES = MAX_UNPACKED_BYTES + (2 * MAX_ENTRIES + 40) * BLOCK
"""Most bytes of an uncompressed tar: content, header and padding of each entry, and the longest end that tar writes."""
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""Header of gzip without name, time and system, so that the same entries always give the same bytes."""
_APPLE_FOLDER, _APPLE_PREFIX, _APPLE_MAGIC = "__MACOSX", "._", b"\0\5\x16\7"
"""Names and first bytes of the files that macOS adds to archives, with the metadata of other files."""
_GZIP_BITS = 31
_LZMA_BYTES = 128 * MIB
"""Most memory for unpacking xz: twice what its highest setting needs."""
_KITS = {".c": "c", ".go": "go", ".rs": "rust"}
"""Ending of a source file that needs a build -> language of `referee new`."""
_PLAIN = re.compile(r"\w[\w.-]*", re.ASCII)
_NAME_CHARS = 20
_DEFAULT_NAME = "player"


def pack(entries: Sequence[ArchiveEntry]) -> bytes:
    """Pack entries; the same entries in any order give the same bytes.

    Another release of the compression library may give other bytes; they unpack to the same entries.

    Raises:
        BadArchive: the entries break a rule, or are too many or too large.
    """
    check(entries)
    plain = b"".join(_pack_entry(entry) for entry in sorted(entries, key=lambda entry: entry.path.encode()))
    plain += bytes(2 * BLOCK)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    data = _GZIP_HEAD + deflate.compress(plain) + deflate.flush() + struct.pack("<II", zlib.crc32(plain), len(plain))
    if len(data) > MAX_PACKED_BYTES:
        raise too_large(entries, f"packed, it is over {MAX_PACKED_BYTES // MIB} MiB")
    return data


def _pack_entry(entry: ArchiveEntry) -> bytes:
    info = tarfile.TarInfo(entry.path)
    info.type = {EntryKind.FILE: tarfile.REGTYPE, EntryKind.FOLDER: tarfile.DIRTYPE, EntryKind.LINK: tarfile.SYMTYPE}[
        entry.kind
    ]
    info.mode = 0o755 if entry.is_executable or entry.kind is not EntryKind.FILE else 0o644
    info.size, info.linkname = len(entry.data), entry.target
    try:
        head = info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
    except ValueError:  # ustar splits names of more than 100 bytes at a slash, which is not always possible
        head = info.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")
    return head + entry.data + bytes(-len(entry.data) % BLOCK)


def unpack(data: bytes, name: str = "") -> tuple[ArchiveEntry, ...]:
    """Return the entries of an archive; if everything is in one folder with a player.toml, relative to that folder.

    Args:
        data: content of the archive.
        name: name of the file, for the error message about a lone source file.

    Raises:
        BadArchive: the data is not an archive, is cut off or too large, or an entry breaks a rule.
    """
    if len(data) > MAX_PACKED_BYTES:
        raise BadArchive(f"the archive is over {MAX_PACKED_BYTES // MIB} MiB", f"compress it, or {SMALLER}")
    archive_format = find_format(data, name)
    if archive_format is ArchiveFormat.ZIP:
        entries = read_zip(data)
    else:
        entries = read_tar(inflate(data, archive_format, _MAX_TAR_BYTES))
    player = find_player(entries)
    check(player)
    return player


def find_player(entries: Iterable[ArchiveEntry]) -> tuple[ArchiveEntry, ...]:
    """Return the player's entries: without caches and history, and relative to a single folder that contains them all.

    Raises:
        BadArchive: a path breaks a rule, or there are too many entries.
    """
    return _enter_folder([entry for entry in _check_each(entries) if not _is_left_out(entry)])


def _check_each(entries: Iterable[ArchiveEntry]) -> Iterator[ArchiveEntry]:
    """Check the path of each entry before entries are left out or moved; stop early if there are too many."""
    for count, entry in enumerate(entries, 1):
        if count > MAX_LISTED:
            raise too_many()
        check_path(entry.path)
        yield entry


def _is_left_out(entry: ArchiveEntry) -> bool:
    """Return whether an entry is no part of a program: a cache, the history, or a file that macOS has added."""
    names = entry.path.split("/")
    is_metadata = names[-1].startswith(_APPLE_PREFIX) and entry.data.startswith(_APPLE_MAGIC)
    return is_metadata or names[0] == _APPLE_FOLDER or not LEFT_OUT.isdisjoint(names)


def _enter_folder(entries: Sequence[ArchiveEntry]) -> tuple[ArchiveEntry, ...]:
    """Return the entries relative to a single folder that contains them all, if this folder has a player.toml."""
    manifests = [entry.path for entry in entries if entry.path.rpartition("/")[2] == MANIFEST]
    top = min(manifests, key=lambda path: path.count("/"), default="").rpartition("/")[0]
    if not top:
        return tuple(entries)
    inside = [entry for entry in entries if entry.path.startswith(f"{top}/")]
    above = [entry for entry in entries if f"{top}/".startswith(f"{entry.path}/") and entry.kind is EntryKind.FOLDER]
    if len(inside) + len(above) < len(entries):
        return tuple(entries)
    return tuple(replace(entry, path=entry.path.removeprefix(f"{top}/")) for entry in inside)


class ArchiveFormat(StrEnum):
    """A format that can be unpacked; the value is the usual ending of its files."""

    TAR = "tar"
    GZIP = "tar.gz"
    BZIP2 = "tar.bz2"
    XZ = "tar.xz"
    ZSTD = "tar.zst"
    ZIP = "zip"


_MAGICS = {
    b"\x1f\x8b": ArchiveFormat.GZIP,
    b"BZh": ArchiveFormat.BZIP2,
    b"\xfd7zXZ\0": ArchiveFormat.XZ,
    b"\x28\xb5\x2f\xfd": ArchiveFormat.ZSTD,
    **dict.fromkeys(MAGICS, ArchiveFormat.ZIP),
}
_FOREIGN = {
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
    b"\x1f\x9d": "compress (.Z)",
    b"LZIP": "lzip",
    b"\x04\x22\x4d\x18": "LZ4",
    b"\x5d\0\0": "LZMA",
    b"PK\7\x08": "a zip in several parts",
}
"""First bytes of a file -> format; the standard library reads none of these."""


def find_format(data: bytes, name: str = "") -> ArchiveFormat:
    """Return the format of an archive, by its first bytes.

    Args:
        data: content of the archive.
        name: name of the file, for the error message about a lone source file.

    Raises:
        BadArchive: the data is not an archive, or has a format that can't be read; the text names the format.
    """
    for magic, archive_format in _MAGICS.items():
        if data.startswith(magic):
            return archive_format
    if any(magic.startswith(data) for magic in _MAGICS):
        raise BadArchive(f"the archive is cut off: it has {counted(len(data), 'byte')}", SEND_AGAIN)
    if is_tar(data):
        return ArchiveFormat.TAR
    for magic, what in _FOREIGN.items():
        if data.startswith(magic):
            raise BadArchive(f"the archive is {what}, a format that can't be read here", PACK_IT)
    if is_text(data):
        raise refuse_lone_file(name)
    raise BadArchive("this is not an archive: neither a tar, compressed or not, nor a zip", PACK_IT)


def inflate(data: bytes, archive_format: ArchiveFormat, max_bytes: int) -> bytes:
    """Return the uncompressed tar; unpacking a bomb stops as soon as it exceeds the limit.

    Args:
        data: content of the archive.
        archive_format: format of the archive; any format except zip.
        max_bytes: most bytes of the uncompressed tar.

    Raises:
        BadArchive: the archive is damaged, cut off or too large, or other bytes follow it.
    """
    if archive_format is ArchiveFormat.TAR:
        return data
    try:
        inflating = _start(archive_format)
        plain: bytes = inflating.decompress(data, max_bytes + 1)
    except ImportError:
        raise BadArchive(
            "the archive is in Zstandard, which the referee reads only with Python 3.14", PACK_IT
        ) from None
    except Exception as error:  # noqa: BLE001  # each library raises its own errors, and no other code runs here
        name = archive_format.name.lower()
        raise BadArchive(f"the archive is not a complete {name}: {error}", SEND_AGAIN) from None
    if len(plain) > max_bytes:
        raise BadArchive(f"unpacked, the archive is over {MAX_UNPACKED_BYTES // MIB} MiB", SMALLER)
    if not inflating.eof:
        raise BadArchive("the archive is cut off", SEND_AGAIN)
    if inflating.unused_data:
        raise BadArchive(f"{counted(len(inflating.unused_data), 'byte')} follow the archive", PACK_IT)
    return plain


def _start(archive_format: ArchiveFormat) -> Any:
    """Return a decompressor for a format.

    Raises:
        ImportError: this Python's standard library has no such decompressor.
    """
    match archive_format:
        case ArchiveFormat.BZIP2:
            return bz2.BZ2Decompressor()
        case ArchiveFormat.XZ:
            return lzma.LZMADecompressor(lzma.FORMAT_XZ, _LZMA_BYTES)
        case ArchiveFormat.ZSTD:
            return importlib.import_module("compression.zstd").ZstdDecompressor()
        case _:
            return zlib.decompressobj(_GZIP_BITS)


def is_text(data: bytes) -> bool:
    """Return whether data may be source code."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def refuse_lone_file(path: str) -> BadArchive:
    """Return the error about a lone source file, with the commands that make a player's folder from it.

    Args:
        path: path of the file, as the author wrote it; empty if it has no name.
    """
    file = PurePath(path or "FILE")
    name, inside = _choose_names(file)
    what = f"{show_path(path) or 'this'} is a single file, but a player is a folder with a {MANIFEST}"
    if kit := _KITS.get(file.suffix.lower()):
        return BadArchive(what, f"make one with `referee new {kit} {name}`, put your code into it, and hand in {name}")
    run = f"{RUNNERS.get(file.suffix.lower(), 'COMMAND')} {inside}"
    source = shlex.quote(f"./{path}" if path.startswith("-") else str(file))
    lines = shlex.join(_manifest(name, run))
    commands = f"mkdir {name} && cp {source} {name}/{inside}", f"printf '%s\\n' {lines} > {name}/{MANIFEST}"
    return BadArchive(what, "\n  ".join([f"make one, and hand in {name}:", *commands]))


def make_player(path: str, data: bytes) -> Sequence[tuple[str, bytes]] | None:
    """Return the files of a player's folder that runs a lone source file; None if such a file needs a build.

    Args:
        path: path of the file, as the author wrote it.
        data: content of the file.
    """
    file = PurePath(path)
    runner = RUNNERS.get(file.suffix.lower())
    if runner is None or not is_text(data):
        return None
    name, inside = _choose_names(file)
    manifest = "".join(f"{line}\n" for line in _manifest(name, f"{runner} {inside}"))
    return [(MANIFEST, manifest.encode()), (inside, data)]


def _choose_names(file: PurePath) -> tuple[str, str]:
    """Return a name for the player's folder of a lone file, and a name for the file in this folder."""
    name = re.sub(r"[^A-Za-z0-9_-]", "", file.stem).lstrip("_-")[:_NAME_CHARS] or _DEFAULT_NAME
    if name == file.name:  # the folder can't have the name of the file next to it
        name = f"{name[: _NAME_CHARS - 1]}1"
    return name, next(filter(_PLAIN.fullmatch, (file.name, f"{_DEFAULT_NAME}{file.suffix}")), _DEFAULT_NAME)


def _manifest(name: str, run: str) -> Sequence[str]:
    return f"name = {json.dumps(name)}", f"run = {json.dumps(run)}"
