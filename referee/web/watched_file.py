"""Reads what a referee at a terminal writes for the site about its tournament; see observers/live_file.py."""

import contextlib
from pathlib import Path

from ..observers.live_file import MOST_BYTES, live_path

_AT_ONCE = 1 << 20
"""Most bytes that are read at once, so that the site stays responsive."""
_LONGEST = MOST_BYTES // 2
"""Bytes after which a new file takes the place of the old one."""


class WatchedFile:
    """The file of one tournament, made anew so that it begins with what is played now.

    Args:
        folder: folder of the tournament's records.
    """

    def __init__(self, folder: Path) -> None:
        self._path = live_path(folder)
        self._rest = b""
        self._make()

    def _make(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink()
        self._file = self._path.open("xb+", buffering=0)
        self._rest = b""

    def read_lines(self) -> list[bytes]:
        """Return the complete lines that were written since the last call, as far as they can be read at once."""
        data = self._rest + (self._file.read(_AT_ONCE) or b"")
        *lines, self._rest = data.split(b"\n")
        if not lines and self._file.tell() > _LONGEST:
            self._file.close()
            self._make()
        return lines

    def remove(self) -> None:
        """Remove the file: nothing is written any more."""
        self._file.close()
        with contextlib.suppress(OSError):
            self._path.unlink()
