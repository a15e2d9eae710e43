"""Reads a zip, stored or deflated."""

# A zip describes each file twice: in a local header before the file, and in a directory at the zip's end. Programs use
# one or the other, so an attacker could show different files to different programs. Here both must agree, and no byte
# may belong to two files. `zipfile` reads the directory, and this module checks its entries. No file is inflated before
# the sum of all sizes is known to be small.

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO

from ...files.tree import MIB
from .entries import (
    LEAVE_IT_OUT,
    MAX_LISTED,
    MAX_UNPACKED_BYTES,
    PACK_IT,
    SEND_AGAIN,
    ArchiveEntry,
    BadArchive,
    EntryKind,
    is_program,
    largest,
    refuse_kind,
    show_path,
    too_many,
)

_LOCAL, _DIRECTORY, _END, _ZIP64 = b"PK\3\4", b"PK\1\2", b"PK\5\6", b"PK\6\7"
MAGICS = (_LOCAL, _END)
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""Signature, version, flags, method, time, date, CRC, packed size, size, length of the name, length of the extra."""
_END_BYTES, _ZIP64_BYTES = 22, 20
_UTF8, _ENCRYPTED, _SIZES_FOLLOW = 0x800, 0x1, 0x8
_IN_ZIP64 = 0xFFFF_FFFF
_UNIX_DEVICES = {
    stat.S_IFCHR: ("a device", LEAVE_IT_OUT),
    stat.S_IFBLK: ("a device", LEAVE_IT_OUT),
    stat.S_IFIFO: ("a pipe", LEAVE_IT_OUT),
    stat.S_IFSOCK: ("a socket", LEAVE_IT_OUT),
}
_METHODS = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "LZMA", 9: "Deflate64", 93: "Zstandard", 95: "XZ"}


def read_zip(data: bytes) -> Iterator[ArchiveEntry]:
    """Yield the entries of a zip unchanged and unchecked.

    Raises:
        BadArchive: the data is not a zip, is cut off, encrypted or too large, the two descriptions of a file differ, or
            an entry is not a file, folder or link.
    """
    infos, end = _read_directory(data)
    if sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
        sizes = [(info.file_size, _decode_name(info)) for info in infos]
        raise largest(sizes, f"unpacked, it is over {MAX_UNPACKED_BYTES // MIB} MiB")
    place = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < place:
            raise BadArchive(f"{show_path(_decode_name(info))} overlaps with another file of the zip", PACK_IT)
        start = _check_header(data, info)
        place = start + info.compress_size
        if place > end:
            raise BadArchive(f"{show_path(_decode_name(info))}: the zip is cut off in it", SEND_AGAIN)
        entry = _entry(info, _inflate(data[start:place], info))
        if entry.kind is not EntryKind.FOLDER or entry.path not in (".", ""):
            yield entry


def _read_directory(data: bytes) -> tuple[list[zipfile.ZipInfo], int]:
    """Return the entries of the directory, and the position at which it begins."""
    end = data.rfind(_END)
    if end < 0 or end + _END_BYTES > len(data):
        raise BadArchive("the zip is cut off: its directory is missing", SEND_AGAIN)
    if end + _END_BYTES + int.from_bytes(data[end + 20 : end + 22], "little") != len(data):
        raise BadArchive("other bytes follow the zip", PACK_IT)
    if _count_entries(data, end) > MAX_LISTED:
        raise too_many()
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            infos, begin = archive.infolist(), archive.start_dir
    except UnicodeDecodeError:
        raise BadArchive("a name in the zip is not in UTF-8, though the zip says so", PACK_IT) from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OSError, OverflowError, EOFError):
        raise BadArchive("the zip's directory can't be read", PACK_IT) from None
    if not 0 <= begin <= end or (infos and min(info.header_offset for info in infos) != 0):
        raise BadArchive("other bytes precede the zip", PACK_IT)
    return infos, begin


def _count_entries(data: bytes, end: int) -> int:
    """Return an upper bound for the entries of the directory, because `zipfile` takes a kilobyte of memory for each.

    The directory ends where its end record begins. In a zip64, a different record contains the directory's length, so
    the entries in the whole file are counted.
    """
    size = int.from_bytes(data[end + 12 : end + 16], "little")
    is_zip64 = data[max(end - _ZIP64_BYTES, 0) : end].startswith(_ZIP64)
    return data.count(_DIRECTORY, 0 if is_zip64 else max(end - size, 0), end)


def _check_header(data: bytes, info: zipfile.ZipInfo) -> int:
    """Check that a file's local header agrees with the directory, and return the position of the file's content."""
    path = _decode_name(info)
    if info.flag_bits & _ENCRYPTED:
        raise BadArchive(f"{show_path(path)} is encrypted", "pack it without a password")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        method = _METHODS.get(info.compress_type, f"method {info.compress_type}")
        raise BadArchive(
            f"{show_path(path)} is compressed by {method}, which can't be read here", "choose Deflate, or .tar.gz"
        )
    head = data[info.header_offset : info.header_offset + _LOCAL_HEADER.size]
    if len(head) < _LOCAL_HEADER.size or not head.startswith(_LOCAL):
        raise BadArchive(f"{show_path(path)} is not where the zip's directory says", PACK_IT)
    _, _, flags, method, _, _, crc, packed_size, size, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(head)
    start = info.header_offset + _LOCAL_HEADER.size
    name = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
    is_same = (
        data[start : start + name_bytes] == name
        and method == info.compress_type
        and not (flags ^ info.flag_bits) & (_UTF8 | _ENCRYPTED)
    )
    if not flags & _SIZES_FOLLOW:
        sizes = ((packed_size, info.compress_size), (size, info.file_size))
        is_same &= crc == info.CRC and all(here in (there, _IN_ZIP64) for here, there in sizes)
    if not is_same:
        raise BadArchive(f"{show_path(path)} differs in its header and in the zip's directory", PACK_IT)
    return int(start + name_bytes + extra_bytes)


def _inflate(packed: bytes, info: zipfile.ZipInfo) -> bytes:
    """Return a file's content; stop as soon as it is longer than announced."""
    data, is_whole = packed, True
    if info.compress_type == zipfile.ZIP_DEFLATED:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = inflate.decompress(packed, info.file_size + 1)
        except zlib.error:
            data = b""
        is_whole = inflate.eof and not inflate.unused_data
    if not is_whole or len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise BadArchive(
            f"{show_path(_decode_name(info))} is damaged: its size or its checksum is not right", SEND_AGAIN
        )
    return data


def _entry(info: zipfile.ZipInfo, data: bytes) -> ArchiveEntry:
    path = _decode_name(info).removeprefix("./")
    mode = info.external_attr >> 16  # only Unix packers set it
    kind = stat.S_IFMT(mode)
    if kind in _UNIX_DEVICES:
        raise refuse_kind(path, *_UNIX_DEVICES[kind])
    if kind == stat.S_IFLNK:
        return ArchiveEntry(path=path, kind=EntryKind.LINK, target=data.decode("utf-8", "surrogateescape"))
    if kind == stat.S_IFDIR or path.endswith("/"):
        if data:
            raise BadArchive(f"{show_path(path)} has content and is no file", PACK_IT)
        return ArchiveEntry(path=path.removesuffix("/"), kind=EntryKind.FOLDER)
    return ArchiveEntry(path=path, data=data, is_executable=bool(mode & 0o100) if mode else is_program(data))


def _decode_name(info: zipfile.ZipInfo) -> str:
    """Return the name that the packer meant: many write UTF-8 without the flag, and some a backslash for a slash."""
    name = info.orig_filename
    if not info.flag_bits & _UTF8:
        with suppress(UnicodeDecodeError):
            name = name.encode("cp437").decode()
    return name.replace("\\", "/")
