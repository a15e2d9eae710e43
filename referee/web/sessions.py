"""Who is signed in: sessions that outlive the host, tokens of forms, and how often somebody may try. No sockets."""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from ..files.whole import write_whole
from ..observers import Note
from .rate_limit import RateLimit
from .submissions.authors import Authors

_OWNER_ONLY = 0o600
IDLE_S = 7_200.0
"""A session that nobody uses for so long ends."""
LONGEST_S = 43_200.0
"""No session is older: a day at a contest, not the night in a room of computers."""
WRONG_OF_ADDRESS = 60
"""Tokens of nobody, a minute. A right one always gets in, as others of a class may sit behind the same address; nobody
guesses 256 bits."""
SESSIONS_OF_PERSON = 8
"""One more, and the oldest ends."""
KEEP_S = 60.0
"""The file is at most so much older than the last use of a session: it is not written for each page."""
_ID_BYTES = 32


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


class SiteRole(StrEnum):
    """What somebody may do who is signed in."""

    AUTHOR = "author"
    ORGANISER = "organiser"


class Person(Struct, frozen=True):
    """Somebody who is signed in."""

    role: SiteRole
    name: str


class _Session(Struct):
    person: Person
    token_hash: str
    """Of the token that it was begun with: it ends with that."""
    begun: float
    used: float


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()


def new_cookie() -> str:
    """Return a text that nobody can guess."""
    return secrets.token_urlsafe(_ID_BYTES)


class Sessions:
    """Everybody's sessions.

    Args:
        known: role -> who has it. A token that stands for two people signs in as the one of the later role.
        now: monotonic seconds.
        file: keeps them for the next process; None: they end with this one.
        wall: returns the seconds of the Unix epoch.
    """

    def __init__(
        self,
        known: Mapping[SiteRole, Authors],
        now: Callable[[], float],
        file: SessionFile | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._known = known
        self._now = now
        self._sessions: dict[str, _Session] = {}
        """By hash of their cookie, the oldest first."""
        self._file = file
        self._wall = wall
        kept = None if file is None else file.read()
        self._secret = secrets.token_bytes(_ID_BYTES) if kept is None else kept.secret
        self._take(kept)
        self._kept_at = now()
        self._wrong = RateLimit("tokens of nobody from your address", WRONG_OF_ADDRESS, now)

    def sign_in(self, token: str, address: str) -> str | None:
        """Begin a session.

        Args:
            token: as it came.
            address: that it came from.

        Returns:
            Its cookie, always a new one, so that nobody can have chosen it; None if the token is nobody's.

        Raises:
            TooOften: the token is nobody's, as many from this address were.
        """
        person = self.find_person(token)
        if person is None:
            self._wrong.count(address)
            return None
        given = hashlib.sha256(token.encode()).hexdigest()
        own = [known for known, session in self._sessions.items() if session.person == person]
        for known in own[: max(len(own) - SESSIONS_OF_PERSON + 1, 0)]:
            del self._sessions[known]
        cookie, now = new_cookie(), self._now()
        self._sessions[_hash(cookie)] = _Session(person, given, now, now)
        self._keep()
        return cookie

    def find_person(self, token: str) -> Person | None:
        """Return whose token it is; None if it is nobody's."""
        found = [(role, name) for role, known in self._known.items() if (name := known.find_name(token)) is not None]
        return Person(*found[-1]) if found else None

    def who(self, cookie: str) -> Person | None:
        """Return whose session it is, and note that it is used; None if it is none, or has ended."""
        session = self._sessions.get(_hash(cookie))
        if session is None:
            return None
        now, person = self._now(), session.person
        is_over = now - session.used > IDLE_S or now - session.begun > LONGEST_S
        if is_over or self._known[person.role].find_hash(person.name) != session.token_hash:
            self.sign_out(cookie)
            return None
        session.used = now
        if now - self._kept_at > KEEP_S:
            self._keep()
        return person

    def sign_out(self, cookie: str) -> None:
        """End a session, if it is one."""
        if self._sessions.pop(_hash(cookie), None) is not None:
            self._keep()

    def _take(self, kept: KeptSessions | None) -> None:
        """Take sessions up that were kept, as old as they are by the time of day."""
        if kept is None:
            return
        ahead = self._now() - self._wall()
        for hashed, session in kept.sessions.items():
            if session.role in SiteRole.__members__.values():
                person = Person(SiteRole(session.role), session.name)
                self._sessions[hashed] = _Session(
                    person, session.token_hash, session.begun + ahead, session.used + ahead
                )

    def _keep(self) -> None:
        self._kept_at = self._now()
        if self._file is None:
            return
        behind = self._wall() - self._kept_at
        sessions = {
            hashed: KeptSession(
                role=session.person.role,
                name=session.person.name,
                token_hash=session.token_hash,
                begun=session.begun + behind,
                used=session.used + behind,
            )
            for hashed, session in self._sessions.items()
        }
        self._file.write(KeptSessions(secret=self._secret, sessions=sessions))

    def form_token(self, cookie: str) -> str:
        """Return what a form must bring that was shown to whoever has this cookie."""
        return hmac.new(self._secret, cookie.encode(), hashlib.sha256).hexdigest()

    def is_own_form(self, cookie: str, form_token: str) -> bool:
        """Tell whether a form was shown to whoever has this cookie."""
        return hmac.compare_digest(self.form_token(cookie).encode(), form_token.encode())
