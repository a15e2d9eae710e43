"""Who may sign in at a contest, and what is taken in from its authors."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ...app.services import monotonic
from ...clock import wall_clock
from ...net.links.tokens import add_tokens
from ...observers import Note
from ...plugins import find_game
from ...text import printable_json
from ..author_service import AuthorService
from ..sessions import TokenFile
from ..submissions.check_queue import CheckQueue
from ..submissions.matches import AuthorsMatches
from ..submissions.store import Store
from .contest_file import Contest

AUTHORS, ORGANISERS, INVITATIONS = "authors.toml", "organisers.toml", "invitations.toml"
"""Files of tokens; made if missing, with nobody in them. An invitation's token is the code that whoever has it signs up
with."""
LOGS = "logs"
"""Folder whose records authors are shown their own matches of."""
ACTION_LOG = "actions.log"
"""Its file in the contest's folder, a line of JSON for each action."""
SESSIONS = ".sessions.json"
"""File in the contest's folder with who is signed in."""
_SHOWN_BYTES = 1 << 20


class Intake:
    """What a contest takes in from its authors, and whom it lets in.

    Args:
        reactor: Twisted's.
        contest: what its file says.
        store: of the programs.
        check: command line of a check, but for the folder.
        note: takes note of what happens.
        key: file of the key that seals records.

    Raises:
        BadTokens: a file of tokens can't be used.
        OSError: it can't be made.
    """

    def __init__(
        self, reactor: Any, contest: Contest, store: Store, check: Sequence[str], note: Note, key: Path
    ) -> None:
        self.authors_file = contest.folder / AUTHORS
        organisers, invitations = contest.folder / ORGANISERS, contest.folder / INVITATIONS
        self.authors, self.organisers = _people(self.authors_file), _people(organisers)
        self.invitations = _people(invitations)
        self.sessions_file = contest.folder / SESSIONS
        self.private = (self.authors_file, organisers, invitations, self.sessions_file, key.absolute())
        """Files that nobody is given."""
        self.store = store
        self.checks = CheckQueue(reactor, store, wall_clock, note, check)
        matches = AuthorsMatches(contest.folder / LOGS, store.root, find_game)
        self.service = AuthorService(store, self.checks, matches, monotonic, wall_clock, note)
        self.actions = ActionLog(contest.folder)


def _people(path: Path) -> TokenFile:
    if not path.exists():
        add_tokens(path, (), may_renew=False)
    return TokenFile(path)


class LoggedAction(Struct, frozen=True, kw_only=True):
    """Something that an organiser did."""

    at: str
    """ISO 8601 in UTC."""
    by: str
    what: str
    about: str
    reason: str = ""


class ActionLog:
    """The log of a contest."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ACTION_LOG

    def newest(self) -> Sequence[LoggedAction]:
        """Return what was done, the last first; lines that were cut off as the machine died are left out."""
        actions = map(_action, reversed(read_last_lines(self._path, _SHOWN_BYTES)))
        return [action for action in actions if action is not None]

    def add(self, by: str, what: str, about: str, reason: str = "") -> None:
        """Write down that somebody did something now."""
        action = LoggedAction(at=wall_clock(), by=by, what=what, about=about, reason=reason)
        with self._path.open("a+b") as file:
            file.seek(max(file.tell() - 1, 0))
            begins = b"" if file.read() in (b"", b"\n") else b"\n"  # behind a line that was cut off
            file.write(begins + printable_json(msgspec.json.encode(action).decode()).encode() + b"\n")


def _action(line: bytes) -> LoggedAction | None:
    try:
        return msgspec.json.decode(line, type=LoggedAction)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def read_last_lines(path: Path, most_bytes: int) -> list[bytes]:
    """Return the last whole lines of a file, as many as are within so many bytes; none if there is no file."""
    try:
        with path.open("rb") as file:
            begins = max(file.seek(0, os.SEEK_END) - most_bytes, 0)
            file.seek(begins)
            lines = file.read(most_bytes).splitlines()
    except OSError:
        return []
    return lines[1:] if begins else lines
