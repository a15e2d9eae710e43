"""Keeps sessions in a file, so that those who are signed in still are once the host has been started again."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ..files.whole import write_whole
from ..observers import Note

_OWNER_ONLY = 0o600


class KeptSession(Struct, frozen=True, kw_only=True):
    """A session as the file has it."""

    role: str
    name: str
    token_hash: str
    """Hash of the token that it was begun with."""
    begun: float
    """Seconds of the Unix epoch, as `used`: those of a process mean nothing to the next one."""
    used: float


class KeptSessions(Struct, frozen=True, kw_only=True):
    """What the file holds."""

    secret: bytes
    """Makes the tokens of forms: a page that was opened before can still send its form."""
    sessions: Mapping[str, KeptSession]
    """By hash of their cookie, the oldest first: who reads the file has nobody's session."""


class SessionFile:
    """The file of a site's sessions.

    Args:
        path: where it is, or is to be.
        note: takes note that it can't be written.
    """

    def __init__(self, path: Path, note: Note) -> None:
        self._path = path
        self._note = note

    def read(self) -> KeptSessions | None:
        """Return what the file holds; None if there is none, or none that can be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=KeptSessions)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def write(self, kept: KeptSessions) -> None:
        """Write the file; where the disk can't take it, those who are signed in stay so until the host ends."""
        try:
            write_whole(self._path, [msgspec.json.encode(kept)], mode=_OWNER_ONLY)
        except OSError as error:
            self._note("sessions-not-kept", file=str(self._path), error=error.strerror)
