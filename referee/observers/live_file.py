"""Tells a contest's site how a tournament stands that is played from a terminal: lines of JSON in a file of the site's.

The site makes the file while it watches, and removes it afterwards. Without the file, nothing is written.
"""

# A file and no socket, because referee and site start and stop in any order, and neither must wait for the other. The
# site may begin to watch in the middle of matches, so a new file begins with what is played at that moment.

import os
from pathlib import Path
from typing import Any

import msgspec

MOST_BYTES = 16 << 20
"""Most bytes of a file: a site that crashed reads no more, and its file must not fill the disk."""
_ENDS = ("match-closed", "match-voided", "match-recalled")


def live_path(folder: Path) -> Path:
    """Return the file for the site, next to the folder of a tournament's records."""
    return folder.with_name(f"{folder.name}.live")


class LiveFile:
    """Appends objects to the file while a site keeps it.

    Args:
        folder: folder of the tournament's records.
    """

    def __init__(self, folder: Path) -> None:
        self._path = live_path(folder)
        self._open: dict[str, list[Any]] = {}
        """Match that is played -> what its site has to know: that it was opened, and how its table stands."""
        self._inode = 0

    def write(self, value: Any) -> None:
        """Write an object, after all that a new file has to begin with."""
        plain = msgspec.to_builtins(value)
        self._keep(plain)
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        except OSError:
            return
        try:
            status = os.fstat(file)
            is_new = status.st_ino != self._inode
            self._inode = status.st_ino
            parts = [part for parts in self._open.values() for part in parts] if is_new else []
            if status.st_size < MOST_BYTES:
                os.write(file, b"".join(msgspec.json.encode(part) + b"\n" for part in (*parts, plain)))
        except OSError:
            pass  # a full disk stops no match: its record is written elsewhere
        finally:
            os.close(file)

    def _keep(self, plain: Any) -> None:
        match plain:
            case {"event": "match-opened", "match": match}:
                self._open[match] = [plain]
            case {"event": "table-changed", "table": {"match": match}} if match in self._open:
                self._open[match] = [self._open[match][0], plain]
            case {"event": event, "match": match} if event in _ENDS:
                self._open.pop(match, None)
