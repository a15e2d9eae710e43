"""Shows a contest's site a tournament that an organiser runs from a terminal, by lines of JSON in a file.

The site creates the file when it begins to watch, and removes it afterwards. Without the file, nothing is written.
"""

# This is a file and not a socket, because the referee and the site start and stop in any order, and neither may have to
# wait for the other. The site may begin to watch in the middle of matches, so a new file begins with the state of all
# running matches.

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec

MOST_BYTES = 16 << 20
"""Maximum size of the file: if the site crashes, nobody removes the file, and it must not fill the disk."""
_ENDS = ("match-closed", "match-voided", "match-recalled")


def live_path(folder: Path) -> Path:
    """Return the file for the site, next to the folder of a tournament's records."""
    return folder.with_name(f"{folder.name}.live")


class LiveFile:
    """Appends objects to the file as long as the site keeps the file there.

    Args:
        folder: folder of the tournament's records.
    """

    def __init__(self, folder: Path) -> None:
        self._path = live_path(folder)
        self._open: dict[str, list[Any]] = {}
        """Running match -> the objects that the site needs: the opening of the match, and its latest state."""
        self._inode = 0

    def write(self, value: Any) -> None:
        """Append an object. If the file is new, first append the state of all running matches."""
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
            pass  # a full disk must not stop a match, and only the record matters, which is written elsewhere
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
