"""Who is signed in: sessions that end, tokens of forms, and how often somebody may try. No sockets."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct

from ..submissions.authors import Authors, Pace

IDLE_S = 7_200.0
"""A session that nobody uses for so long ends."""
LONGEST_S = 43_200.0
"""No session is older: a day at a contest, not the night in a room of computers."""
WRONG_OF_ADDRESS = 60
"""Tokens of nobody, a minute. A right one always gets in, as others of a class may sit behind the same address; nobody
guesses 256 bits."""
SESSIONS_OF_PERSON = 8
"""One more, and the oldest ends."""
_ID_BYTES = 32


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


def new_cookie() -> str:
    """Return a text that nobody can guess."""
    return secrets.token_urlsafe(_ID_BYTES)


class Sessions:
    """Everybody's sessions; they are kept in memory, and end with the process.

    Args:
        known: role -> who has it. A token that stands for two people signs in as the one of the later role.
        now: monotonic seconds.
    """

    def __init__(self, known: Mapping[SiteRole, Authors], now: Callable[[], float]) -> None:
        self._known = known
        self._now = now
        self._sessions: dict[str, _Session] = {}
        """By cookie, the oldest first."""
        self._secret = secrets.token_bytes(_ID_BYTES)
        self._wrong = Pace("tokens of nobody from your address", WRONG_OF_ADDRESS, now)

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
        person = self.named(token)
        if person is None:
            self._wrong.count(address)
            return None
        given = hashlib.sha256(token.encode()).hexdigest()
        own = [known for known, session in self._sessions.items() if session.person == person]
        for known in own[: max(len(own) - SESSIONS_OF_PERSON + 1, 0)]:
            del self._sessions[known]
        cookie, now = new_cookie(), self._now()
        self._sessions[cookie] = _Session(person, given, now, now)
        return cookie

    def named(self, token: str) -> Person | None:
        """Return whose token it is; None if it is nobody's."""
        found = [(role, name) for role, known in self._known.items() if (name := known.named(token)) is not None]
        return Person(*found[-1]) if found else None

    def who(self, cookie: str) -> Person | None:
        """Return whose session it is, and note that it is used; None if it is none, or has ended."""
        session = self._sessions.get(cookie)
        if session is None:
            return None
        now, person = self._now(), session.person
        is_over = now - session.used > IDLE_S or now - session.begun > LONGEST_S
        if is_over or self._known[person.role].hash_of(person.name) != session.token_hash:
            del self._sessions[cookie]
            return None
        session.used = now
        return person

    def sign_out(self, cookie: str) -> None:
        """End a session, if it is one."""
        self._sessions.pop(cookie, None)

    def form_token(self, cookie: str) -> str:
        """Return what a form must bring that was shown to whoever has this cookie."""
        return hmac.new(self._secret, cookie.encode(), hashlib.sha256).hexdigest()

    def is_own_form(self, cookie: str, form_token: str) -> bool:
        """Tell whether a form was shown to whoever has this cookie."""
        return hmac.compare_digest(self.form_token(cookie).encode(), form_token.encode())
