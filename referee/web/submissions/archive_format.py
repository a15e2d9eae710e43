"""Formats of archives: found by their first bytes, and the compressed ones made plain."""

import bz2
import importlib
import lzma
import zlib
from enum import StrEnum
from typing import Any

from ...files.tree import MIB
from ...text import counted
from .entries import MAX_UNPACKED_BYTES, PACK_IT, SEND_AGAIN, SMALLER, BadArchive
from .lone_file import is_text, refuse_lone_file
from .tar_entries import is_tar
from .zip_entries import MAGICS

_GZIP_BITS = 31
_LZMA_BYTES = 128 * MIB
"""Memory for unpacking: twice what the highest setting of xz asks for."""


class ArchiveFormat(StrEnum):
    """A format that is unpacked; the value is the ending of its files."""

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
"""First bytes of a file -> what it is; the standard library reads none of them."""


def find_format(data: bytes, name: str = "") -> ArchiveFormat:
    """Return the format of what was handed in, by its first bytes.

    Args:
        data: all of it.
        name: of the file, for what is said of a lone one.

    Raises:
        BadArchive: it is no archive, or one of another format; the text says what it is.
    """
    for magic, found in _MAGICS.items():
        if data.startswith(magic):
            return found
    if any(magic.startswith(data) for magic in _MAGICS):
        raise BadArchive(f"the archive is cut off: it has {counted(len(data), 'byte')}", SEND_AGAIN)
    if is_tar(data):
        return ArchiveFormat.TAR
    for magic, what in _FOREIGN.items():
        if data.startswith(magic):
            raise BadArchive(f"the archive is {what}, which is not read here", PACK_IT)
    if is_text(data):
        raise refuse_lone_file(name)
    raise BadArchive("this is no archive: neither a tar, compressed or not, nor a zip", PACK_IT)


def inflate(data: bytes, archive_format: ArchiveFormat, max_bytes: int) -> bytes:
    """Return the plain tar; a bomb is given up as soon as it is over the limit.

    Args:
        data: the archive.
        archive_format: of a tar.
        max_bytes: how long the plain tar may be.

    Raises:
        BadArchive: it is damaged, cut off or too large, or something stands behind it.
    """
    if archive_format is ArchiveFormat.TAR:
        return data
    try:
        inflating = _start(archive_format)
        plain: bytes = inflating.decompress(data, max_bytes + 1)
    except ImportError:
        raise BadArchive("the archive is Zstandard, which needs Python 3.14 at the referee's", PACK_IT) from None
    except Exception as error:  # noqa: BLE001  # each library has errors of its own, and nothing else happens here
        name = archive_format.name.lower()
        raise BadArchive(f"the archive is no whole {name}: {error}", SEND_AGAIN) from None
    if len(plain) > max_bytes:
        raise BadArchive(f"unpacked, the archive is over {MAX_UNPACKED_BYTES // MIB} MiB", SMALLER)
    if not inflating.eof:
        raise BadArchive("the archive is cut off", SEND_AGAIN)
    if inflating.unused_data:
        raise BadArchive(f"{len(inflating.unused_data)} bytes stand behind the archive", PACK_IT)
    return plain


def _start(archive_format: ArchiveFormat) -> Any:
    """Return what decompresses a format, piece by piece.

    Raises:
        ImportError: this Python's standard library has nothing for it.
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
