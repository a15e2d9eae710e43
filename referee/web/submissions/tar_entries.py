"""Reads a tar of any common form: ustar, pax, GNU, and the oldest form."""

# The tar is read header by header, and each step has a limit. `tarfile.open` is not used: it goes backwards for a
# negative size, and some releases take minutes for a hostile pax header. Owners, times, modes (except whether a file is
# executable) and all other facts about the packer's machine are skipped.

import tarfile
from collections.abc import Iterator, Mapping

from ...files.tree import MIB
from .entries import (
    COPY_IT,
    LEAVE_IT_OUT,
    PACK_IT,
    SEND_AGAIN,
    ArchiveEntry,
    BadArchive,
    EntryKind,
    refuse_kind,
    show_path,
)

BLOCK = tarfile.BLOCKSIZE
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_VOLUME_LABEL = b"V"
_SPARSE = ("a sparse file", "pack it without `--sparse`")
_OTHERS = {
    tarfile.LNKTYPE: ("a hard link", COPY_IT),
    tarfile.CHRTYPE: ("a device", LEAVE_IT_OUT),
    tarfile.BLKTYPE: ("a device", LEAVE_IT_OUT),
    tarfile.FIFOTYPE: ("a pipe", LEAVE_IT_OUT),
    tarfile.GNUTYPE_SPARSE: _SPARSE,
}
_PATH, _TARGET, _SIZE = "path", "linkpath", "size"
_GNU_FIELDS = {tarfile.GNUTYPE_LONGNAME: _PATH, tarfile.GNUTYPE_LONGLINK: _TARGET}
_EXTENSIONS = {tarfile.XHDTYPE, tarfile.XGLTYPE, *_GNU_FIELDS}
_SPARSE_PREFIX = "GNU.sparse."
_SIZE_DIGITS = 20
_MAX_EXTENSION_BYTES = 4 * MIB
"""Most bytes of all pax headers together; a few hundred bytes for each file are common."""


def is_tar(data: bytes) -> bool:
    """Return whether data begins with the header of a tar, by its checksum."""
    try:
        _read_header(data[:BLOCK], 0)
    except BadArchive:
        return False
    return True


def read_tar(plain: bytes) -> Iterator[ArchiveEntry]:
    """Yield the entries of a tar unchanged and unchecked.

    Raises:
        BadArchive: the data is not a tar or is cut off, or an entry is not a file, folder or link.
    """
    offset, extended, extension_bytes = 0, dict[str, str](), 0
    while any(block := plain[offset : offset + BLOCK]):
        info = _read_header(block, offset)
        size = int(extended.get(_SIZE, info.size))
        start, offset = offset + BLOCK, offset + BLOCK + size + -size % BLOCK
        if size < 0 or offset > len(plain):
            raise BadArchive(f"{show_path(info.name)}: the archive is cut off in it", SEND_AGAIN)
        data = plain[start : start + size]
        extension_bytes += size if info.type in _EXTENSIONS else 0
        if extension_bytes > _MAX_EXTENSION_BYTES:
            raise BadArchive(f"the archive's pax headers are over {_MAX_EXTENSION_BYTES // MIB} MiB", PACK_IT)
        if info.type == tarfile.XHDTYPE:
            extended |= _read_pax(data, start)
        elif info.type in _GNU_FIELDS:
            extended[_GNU_FIELDS[info.type]] = _decode(data.partition(b"\0")[0])
        elif info.type == tarfile.XGLTYPE:
            _check_global(_read_pax(data, start))
        elif info.type != _VOLUME_LABEL:
            if entry := _entry(info, extended, data):
                yield entry
            extended = {}
    if len(plain) < offset + BLOCK or any(plain[offset:]) or extended:
        raise BadArchive("the archive has no proper end", PACK_IT)


def _read_header(block: bytes, offset: int) -> tarfile.TarInfo:
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError) as error:
        raise BadArchive(f"the archive is not a valid tar at byte {offset}: {error}", PACK_IT) from None


def _read_pax(data: bytes, offset: int) -> Mapping[str, str]:
    """Return the fields of a pax header: lines of `LENGTH KEY=VALUE`, where an empty value removes the field."""
    fields, start = dict[str, str](), 0
    while start < len(data):
        digits, _, _ = data[start : start + _SIZE_DIGITS].partition(b" ")
        line = data[start : start + (int(digits) if digits.isdigit() else 0)]
        key, equals, value = line[len(digits) + 1 : -1].partition(b"=")
        if not line.endswith(b"\n") or len(line) != int(digits) or not equals:
            raise BadArchive(f"the archive has a broken pax header at byte {offset + start}", PACK_IT)
        fields[_decode(key)] = _decode(value)
        start += len(line)
    size = fields.get(_SIZE, "0")
    if not (size.isascii() and size.isdecimal() and len(size) < _SIZE_DIGITS):
        raise BadArchive(f"the archive has a broken size in a pax header at byte {offset}", PACK_IT)
    return {key: value for key, value in fields.items() if value}


def _check_global(fields: Mapping[str, str]) -> None:
    """Check that a global header, such as git's with the commit, does not rename all entries of the archive."""
    if fields.keys() & {_PATH, _TARGET, _SIZE}:
        raise BadArchive("the archive has a global pax header that names files", PACK_IT)


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _entry(info: tarfile.TarInfo, extended: Mapping[str, str], data: bytes) -> ArchiveEntry | None:
    """Return the entry of a header; None for the player's folder itself."""
    path = extended.get(_PATH, info.name).removeprefix("./")
    if any(key.startswith(_SPARSE_PREFIX) for key in extended):
        raise refuse_kind(path, *_SPARSE)
    if info.type in _FILES:
        return ArchiveEntry(path=path, data=data, is_executable=bool(info.mode & 0o100))
    if info.type in (tarfile.DIRTYPE, tarfile.SYMTYPE) and data:
        raise BadArchive(f"{show_path(path)} has content and is no file", PACK_IT)
    if info.type == tarfile.DIRTYPE:
        path = path.removesuffix("/")
        return ArchiveEntry(path=path, kind=EntryKind.FOLDER) if path not in (".", "") else None
    if info.type == tarfile.SYMTYPE:
        return ArchiveEntry(path=path, kind=EntryKind.LINK, target=extended.get(_TARGET, info.linkname))
    what, remedy = _OTHERS.get(info.type, (f"of the unknown type {show_path(_decode(info.type))}", PACK_IT))
    raise refuse_kind(path, what, remedy)
