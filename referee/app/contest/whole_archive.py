"""A folder as one tar archive, made part by part: files may grow meanwhile, and none is held in memory."""

import os
import stat
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path

from ...files.below import everything_below

_PART_BYTES = 262_144


def archive_of(folder: Path, left_out: Collection[Path] = ()) -> Iterator[bytes]:
    """Yield a tar archive of a folder, as it is found; what goes away meanwhile is left out.

    Args:
        folder: whose files and links are packed, under its own name.
    """
    for path in everything_below(folder):
        if path not in left_out:
            yield from _packed(path, Path(folder.name, path.relative_to(folder)))
    yield bytes(2 * tarfile.BLOCKSIZE)


def _packed(path: Path, shown: Path) -> Iterator[bytes]:
    try:
        status = path.lstat()
        info = tarfile.TarInfo(shown.as_posix())
        info.mode, info.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
        if stat.S_ISLNK(status.st_mode):
            info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
            yield info.tobuf(tarfile.PAX_FORMAT)
        elif stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:
                info.size = os.fstat(file.fileno()).st_size
                yield info.tobuf(tarfile.PAX_FORMAT)
                left = info.size
                while left and (part := file.read(min(left, _PART_BYTES))):
                    left -= len(part)
                    yield part
                yield bytes(left + -info.size % tarfile.BLOCKSIZE)
    except FileNotFoundError:
        pass  # it went away before its head was sent
