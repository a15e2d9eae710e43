"""Who is signed in: tokens, sessions that outlive the server, and the tokens of forms. No sockets."""

# The site handles three secrets. For each of them: what is stored, and what an attacker could do with it.
#
# - A *token* is 256 random bits that the organiser gives to one person. The server stores only its SHA-256. Salt or a
#   slow hash would add nothing: nobody guesses 256 bits, and no two tokens are equal.
# - A *session* begins when a browser sends a token. Its cookie is 256 new random bits; the server stores the SHA-256 of
#   the cookie. A person who reads the file of sessions learns who is signed in, but can't act for anybody.
# - A *form token* is an HMAC of the cookie under the server's secret, so it is not stored. A person who reads the
#   secret still needs a cookie to use it. The secret is stored with the sessions, because a page that was opened before
#   a restart should still be able to submit its form.
#
# A stolen cookie is valid for at most LONGEST_S. It becomes invalid earlier if its owner signs out or the organiser
# renews the token: each use of a session compares the hash of the token that began it with the file of tokens. This
# file is read again whenever it changes. An address may send WRONG_OF_ADDRESS wrong tokens a minute. This limit is
# meant against floods of requests, not against guessing. A valid token is always accepted, because a whole class may
# share one address.

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..files.whole import write_whole
from ..net.links.tokens import BadTokens, find_name, read_tokens
from ..observers import Note
from .rate_limit import RateLimit

IDLE_S = 7_200.0
"""Seconds after which an unused session ends."""
LONGEST_S = 43_200.0
"""Longest life of a session in seconds: it lasts for a day at a contest, but does not last over night."""
WRONG_OF_ADDRESS = 60
"""Most wrong tokens a minute from one address."""
SESSIONS_OF_PERSON = 8
"""Most sessions of one person; the oldest ends when another one begins."""
KEEP_S = 60.0
"""Most seconds between the last use of a session and the next write of the file: not each page writes the file."""
_OWNER_ONLY = 0o600
_ID_BYTES = 32


class TokenFile:
    """A file of tokens, which is read again whenever it changes.

    Args:
        path: file of `referee token`.

    Raises:
        BadTokens: the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hashes = read_tokens(path)
        self._stamp = self._look()

    def find_name(self, token: str | None) -> str | None:
        """Return the owner of a token; None if it has no owner. While the file is unusable, its last content counts."""
        self._refresh()
        return find_name(token, self._hashes)

    def find_hash(self, name: str) -> str | None:
        """Return the SHA-256 of a person's current token, in hex; None if nobody has this name."""
        self._refresh()
        return self._hashes.get(name)

    def names(self) -> list[str]:
        """Return all names, in the order of the file."""
        self._refresh()
        return list(self._hashes)

    def _refresh(self) -> None:
        stamp = self._look()
        if stamp not in (None, self._stamp):
            self._stamp = stamp
            try:
                self._hashes = read_tokens(self._path)
            except BadTokens:
                self._stamp = None  # somebody may be writing it at this moment, so look again next time

    def _look(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


class SiteRole(StrEnum):
    """What a signed-in person may do."""

    AUTHOR = "author"
    ORGANISER = "organiser"


class Person(Struct, frozen=True):
    """A person who may sign in."""

    role: SiteRole
    name: str


class Session(Struct, frozen=True, kw_only=True):
    """One session, in memory and in the file."""

    role: SiteRole
    name: str
    token_hash: str
    """SHA-256 of the token that began the session; when this token becomes invalid, the session ends."""
    begun: float
    """Time of its beginning: monotonic seconds in memory, but seconds of the Unix epoch in the file."""
    used: float
    """Time of the last use, on the same clock."""

    def shift(self, by_s: float) -> "Session":
        """Return the session with its times moved to another clock."""
        return replace(self, begun=self.begun + by_s, used=self.used + by_s)


class KeptSessions(Struct, frozen=True, kw_only=True):
    """Content of the file of sessions."""

    secret: bytes
    """Key of the tokens of forms."""
    sessions: Mapping[str, Session]
    """Hash of a cookie -> session, the oldest first."""


class SessionFile:
    """The file that stores a site's sessions for the next process.

    Args:
        path: location of the file, which need not exist.
        note: logs that the file cannot be written.
    """

    def __init__(self, path: Path, note: Note) -> None:
        self._path = path
        self._note = note

    def read(self) -> KeptSessions | None:
        """Return the content of the file; None if it is missing or unreadable."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=KeptSessions)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def write(self, kept: KeptSessions) -> None:
        """Write the file; if the disk can't store it, people stay signed in only until this process ends."""
        try:
            write_whole(self._path, [msgspec.json.encode(kept)], mode=_OWNER_ONLY)
        except OSError as error:
            self._note("sessions-not-kept", file=str(self._path), error=error.strerror)


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()


def new_cookie() -> str:
    """Return a text that nobody can guess."""
    return secrets.token_urlsafe(_ID_BYTES)


class Sessions:
    """The sessions of everybody.

    Args:
        people: role -> tokens of its people. If a token is in several roles, the last of these roles counts.
        now: returns monotonic seconds.
        file: stores the sessions for the next process; None: they end with this process.
        wall: returns seconds of the Unix epoch.
    """

    def __init__(
        self,
        people: Mapping[SiteRole, TokenFile],
        now: Callable[[], float],
        file: SessionFile | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._people = people
        self._now = now
        self._file = file
        self._wall = wall
        stored = None if file is None else file.read()
        self._secret = secrets.token_bytes(_ID_BYTES) if stored is None else stored.secret
        ahead_s = now() - wall()
        self._sessions = {} if stored is None else {key: each.shift(ahead_s) for key, each in stored.sessions.items()}
        """Hash of a cookie -> session, the oldest first."""
        self._kept_at = now()
        self._wrong = RateLimit("wrong tokens from your address", WRONG_OF_ADDRESS, now)

    def sign_in(self, token: str, address: str) -> str | None:
        """Begin a session.

        Args:
            token: token, as the visitor sent it.
            address: address of the visitor.

        Returns:
            The session's cookie, or None if the token belongs to nobody. The cookie is always new, so nobody can have
            planted it in the browser before.

        Raises:
            TooOften: the token belongs to nobody, and the address has sent many such tokens.
        """
        person = self.find_person(token)
        if person is None:
            self._wrong.count(address)
            return None
        owner = (person.role, person.name)
        keys = [key for key, each in self._sessions.items() if (each.role, each.name) == owner]
        for key in keys[: max(len(keys) - SESSIONS_OF_PERSON + 1, 0)]:
            del self._sessions[key]
        cookie, now = new_cookie(), self._now()
        self._sessions[_hash(cookie)] = Session(
            role=person.role,
            name=person.name,
            token_hash=hashlib.sha256(token.encode()).hexdigest(),
            begun=now,
            used=now,
        )
        self._keep()
        return cookie

    def find_person(self, token: str) -> Person | None:
        """Return the owner of a token; None if it has no owner."""
        names = ((role, tokens.find_name(token)) for role, tokens in self._people.items())
        owners = [Person(role, name) for role, name in names if name is not None]
        return owners[-1] if owners else None

    def who(self, cookie: str) -> Person | None:
        """Return the owner of a session, and store its time of use; None if the session does not exist or has ended."""
        key = _hash(cookie)
        session = self._sessions.get(key)
        if session is None:
            return None
        now = self._now()
        is_over = now - session.used > IDLE_S or now - session.begun > LONGEST_S
        if is_over or self._people[session.role].find_hash(session.name) != session.token_hash:
            self.sign_out(cookie)
            return None
        self._sessions[key] = replace(session, used=now)
        if now - self._kept_at > KEEP_S:
            self._keep()
        return Person(session.role, session.name)

    def sign_out(self, cookie: str) -> None:
        """End a session, if it exists."""
        if self._sessions.pop(_hash(cookie), None) is not None:
            self._keep()

    def _keep(self) -> None:
        self._kept_at = self._now()
        if self._file is not None:
            behind_s = self._wall() - self._kept_at
            sessions = {key: each.shift(behind_s) for key, each in self._sessions.items()}
            self._file.write(KeptSessions(secret=self._secret, sessions=sessions))

    def form_token(self, cookie: str) -> str:
        """Return the token for forms on pages that are shown to the browser with this cookie."""
        return hmac.new(self._secret, cookie.encode(), hashlib.sha256).hexdigest()

    def is_own_form(self, cookie: str, form_token: str) -> bool:
        """Return whether a form was shown to the browser with this cookie."""
        return hmac.compare_digest(self.form_token(cookie).encode(), form_token.encode())
