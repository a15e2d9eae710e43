"""The log of who did what on a contest's site, and when: a file that is only ever added to."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ...clock import wall_clock
from ...site.organisers.desk import Deed

DEEDS = "deeds.log"
"""Its file in the contest's folder, a line of JSON for each deed."""
_SHOWN_BYTES = 1 << 20


class DeedLog:
    """The log of a contest."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / DEEDS

    def newest(self) -> Sequence[Deed]:
        """Return what was done, the last first; lines that were cut off as the machine died are left out."""
        deeds = map(_deed, reversed(end_of(self._path, _SHOWN_BYTES)))
        return [deed for deed in deeds if deed is not None]

    def add(self, by: str, what: str, about: str, reason: str = "") -> None:
        """Write down that somebody did something now."""
        deed = Deed(at=wall_clock(), by=by, what=what, about=about, reason=reason)
        with self._path.open("a+b") as file:
            file.seek(max(file.tell() - 1, 0))
            begins = b"" if file.read() in (b"", b"\n") else b"\n"  # behind a line that was cut off
            file.write(begins + msgspec.json.encode(deed) + b"\n")


def _deed(line: bytes) -> Deed | None:
    try:
        return msgspec.json.decode(line, type=Deed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def end_of(path: Path, most_bytes: int) -> list[bytes]:
    """Return the last whole lines of a file, as many as are within so many bytes; none if there is no file."""
    try:
        with path.open("rb") as file:
            begins = max(file.seek(0, os.SEEK_END) - most_bytes, 0)
            file.seek(begins)
            lines = file.read(most_bytes).splitlines()
    except OSError:
        return []
    return lines[1:] if begins else lines
