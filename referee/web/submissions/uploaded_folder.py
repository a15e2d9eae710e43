"""Packs the files of a folder that a browser sent: what is left out of a folder on the disk is left out of it, too."""

from collections.abc import Sequence

from ...files.scratch import scratch
from .archive import find_player, pack
from .entries import ArchiveEntry, check, is_program
from .folder import gather, write


def pack_upload(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the archive of a folder.

    Args:
        files: path and content of each; browsers begin paths with the folder's name, and send no modes.

    Raises:
        BadArchive: there is too much of it, or something in it breaks a rule.
        OSError: the disk can't take it.
    """
    own = find_player(ArchiveEntry(path=path, data=data, is_executable=is_program(data)) for path, data in files)
    check(own)
    with scratch("upload") as place:
        write(own, place / "player")
        return pack(gather(place / "player").entries)
