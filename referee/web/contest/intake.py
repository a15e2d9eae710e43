"""The people of a contest, the versions that its authors hand in, and the log of its organisers."""

# A crash of the machine can cut off the last line of the log of actions. The next action begins on a new line, and the
# torn line is not shown. It is never removed, because a log that is rewritten proves nothing.

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
from .messenger import ADDRESSES, SECRET

AUTHORS, ORGANISERS, INVITATIONS = "authors.toml", "organisers.toml", "invitations.toml"
"""Files of tokens; a missing file is made, without any person. The token of an invitation is the invitation code."""
LOGS = "logs"
"""Folder of all records."""
ACTION_LOG = "actions.log"
"""File with one line of JSON for each action of an organiser."""
SESSIONS = ".sessions.json"
"""File of the sessions of people who are signed in."""
_SHOWN_BYTES = 1 << 20
"""Most bytes to show, from the end of the log."""


class Intake:
    """The people of a contest, and the versions that its authors hand in.

    Args:
        reactor: Twisted's reactor.
        contest: settings of the contest.
        store: versions of all authors.
        check: command line of a check, without the folder.
        note: logs what happens.
        key: file of the key that seals records.

    Raises:
        BadTokens: a file of tokens can't be used.
        OSError: a file of tokens can't be made.
    """

    def __init__(
        self, reactor: Any, contest: Contest, store: Store, check: Sequence[str], note: Note, key: Path
    ) -> None:
        self.authors_file = contest.folder / AUTHORS
        organisers, invitations = contest.folder / ORGANISERS, contest.folder / INVITATIONS
        self.authors, self.organisers = _people(self.authors_file), _people(organisers)
        self.invitations = _people(invitations)
        self.sessions_file = contest.folder / SESSIONS
        self.private = (
            *(self.authors_file, organisers, invitations, self.sessions_file, key.absolute()),
            *(contest.folder / name for name in (SECRET, ADDRESSES)),
        )
        """Files that no download contains."""
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
    """An action of an organiser."""

    at: str
    """Time of the action, ISO 8601 in UTC."""
    by: str
    what: str
    about: str
    reason: str = ""


class ActionLog:
    """The log of what organisers did in a contest."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ACTION_LOG

    def newest(self) -> Sequence[LoggedAction]:
        """Return the actions, the latest first. Lines that a crash has cut off are left out."""
        actions = map(_action, reversed(read_last_lines(self._path, _SHOWN_BYTES)))
        return [action for action in actions if action is not None]

    def add(self, by: str, what: str, about: str, reason: str = "") -> LoggedAction:
        """Append an action to the log, and return it."""
        action = LoggedAction(at=wall_clock(), by=by, what=what, about=about, reason=reason)
        with self._path.open("a+b") as file:
            file.seek(max(file.tell() - 1, 0))
            begins = b"" if file.read() in (b"", b"\n") else b"\n"  # end a line that a crash has cut off
            file.write(begins + printable_json(msgspec.json.encode(action).decode()).encode() + b"\n")
        return action


def _action(line: bytes) -> LoggedAction | None:
    try:
        return msgspec.json.decode(line, type=LoggedAction)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def read_last_lines(path: Path, most_bytes: int) -> list[bytes]:
    """Return the complete lines within the last `most_bytes` of a file; empty if the file does not exist."""
    try:
        with path.open("rb") as file:
            begins = max(file.seek(0, os.SEEK_END) - most_bytes, 0)
            file.seek(begins)
            lines = file.read(most_bytes).splitlines()
    except OSError:
        return []
    return lines[1:] if begins else lines
