"""What an author is answered: its own versions and matches, and of others' not even whether they are there."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThread

from ..files.tree import MIB
from ..observers import Note
from ..record.reader import RecordError
from .http_messages import Inquiry, Reply, refusal, refuse_method
from .rate_limit import RateLimit, TooOften
from .submissions.archive import MAX_PACKED_BYTES, BadArchive
from .submissions.authors import Authors
from .submissions.check_queue import CheckQueue
from .submissions.folder import pack_upload
from .submissions.matches import AuthorsMatches
from .submissions.store import HandedInVersion, Store, VersionRefused, VersionState

HAND_INS_A_MINUTE = 6
"""Faster than a person changes a program and looks at what came of it."""
REQUESTS_A_MINUTE = 120
"""A client that waits for its verdict asks every second at most."""
_LINES, _TEXT = "application/x-ndjson", "text/plain; charset=utf-8"
_DIGITS = 9


NOWHERE = refusal(
    HTTPStatus.NOT_FOUND,
    "there is no such thing of yours",
    "PUT or GET /submissions, GET /submissions/NUMBER, PUT /submissions/NUMBER/present, GET /matches, /matches/NAME, "
    "/matches/NAME/record and /matches/NAME/printed; "
    "numbers and names are in your lists, a slash in a name is written %2F",
)
"""For what is not there and for what is another's, to the byte."""


class AuthorApi:
    """Answers authors over HTTP, and nobody else.

    Args:
        authors: who may ask.
        store: of the versions.
        checks: the queue that takes new versions.
        matches: of all authors.
        clock: monotonic seconds.
        now: ISO 8601 in UTC.
        note: takes note of what happens.
    """

    def __init__(
        self,
        authors: Authors,
        store: Store,
        checks: CheckQueue,
        matches: AuthorsMatches,
        clock: Callable[[], float],
        now: Callable[[], str],
        note: Note,
    ) -> None:
        self._authors = authors
        self._store = store
        self._checks = checks
        self._matches = matches
        self._now = now
        self._note = note
        self._requests = RateLimit("requests", REQUESTS_A_MINUTE, clock)
        self._hand_ins = RateLimit("versions", HAND_INS_A_MINUTE, clock)
        self._taking_in = DeferredLock()
        """One archive is unpacked at a time: they may be large."""
        self._reading = DeferredLock()
        """One author's records are gone through at a time: to audit them takes a core."""

    def announced(self, token: str | None, length: int | None) -> str | Reply:
        """Return which author asks; or why that is refused, before the body is read."""
        author = self._authors.find_name(token)
        if author is None:
            remedy = "send the token that the organiser gave you: Authorization: Bearer TOKEN"
            return refusal(HTTPStatus.UNAUTHORIZED, "no token, or none that is known", remedy)
        if length is None:
            return refusal(HTTPStatus.LENGTH_REQUIRED, "the body's length is not announced", "send a Content-Length")
        if length > MAX_PACKED_BYTES:
            remedy = f"an archive may have {MAX_PACKED_BYTES // MIB} MiB; leave out what the program does not need"
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is {length} bytes long", remedy)
        return author

    async def answer(self, inquiry: Inquiry) -> Reply:
        """Answer an inquiry."""
        return await self._count(inquiry.author, lambda: self._answered(inquiry))

    async def hand_in_folder(self, author: str, files: Sequence[tuple[str, bytes]]) -> Reply:
        """Take in a folder that a browser sent, and answer as for an archive of it.

        Args:
            author: whose it is.
            files: path and content of each.
        """
        return await self._count(author, lambda: self._hand_in(author, lambda: pack_upload(files)))

    async def _count(self, author: str, answer: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return an answer, or a refusal for whoever asks too often."""
        try:
            self._requests.count(author)
            return await answer()
        except TooOften as error:
            return refusal(HTTPStatus.TOO_MANY_REQUESTS, error.what, error.remedy)

    async def _answered(self, inquiry: Inquiry) -> Reply:
        """Answer an inquiry.

        Raises:
            TooOften: its author hands in too often.
        """
        match "GET" if inquiry.method == "HEAD" else inquiry.method, inquiry.path:
            case "PUT", ("submissions",):
                reply = await self._hand_in(inquiry.author, lambda: inquiry.body, inquiry.query.get("name", ""))
            case "GET", ("submissions",):
                reply = await self._listed(inquiry.author)
            case "GET", ("submissions", number):
                reply = await self._version(inquiry.author, number)
            case "PUT", ("submissions", number, "present"):
                reply = await self._choose(inquiry.author, number)
            case "GET", ("matches",):
                reply = _plain(
                    {"matches": await self._reading.run(deferToThread, self._matches.list_own, inquiry.author)}
                )
            case "GET", ("matches", name):
                reply = await self._looked_up(self._matches.explain_match, inquiry, name)
            case "GET", ("matches", name, "record"):
                reply = await self._looked_up(self._matches.record, inquiry, name)
            case "GET", ("matches", name, "printed"):
                reply = await self._looked_up(self._matches.read_output, inquiry, name)
            case _, path:
                allow = _list_methods(path)
                reply = refuse_method(allow) if allow else NOWHERE
        return reply

    async def _hand_in(self, author: str, pack: Callable[[], bytes], name: str = "") -> Reply:
        self._hand_ins.count(author)

        def _take_in() -> tuple[HandedInVersion, bool]:
            return self._store.hand_in(author, pack(), self._now(), name)

        try:
            version, is_new = await self._taking_in.run(deferToThread, _take_in)
        except BadArchive as error:
            return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, error.what, error.remedy)
        except VersionRefused as error:
            return refusal(HTTPStatus.CONFLICT, error.what, error.remedy)
        if is_new:
            self._checks.add(author, version)
            self._note("version-handed-in", author=author, version=version.number, sha256=version.sha256)
        return _plain(self._shown(author, version), HTTPStatus.ACCEPTED)

    async def _listed(self, author: str) -> Reply:
        versions = await deferToThread(self._store.versions, author)
        present = await deferToThread(self._store.present, author)
        return _plain({"submissions": [self._shown(author, version) for version in versions], "present": present})

    async def _version(self, author: str, number: str) -> Reply:
        version = await self._found(author, number)
        if version is None:
            return NOWHERE
        report = await deferToThread(self._store.report, author, version.number)
        steps = await deferToThread(self._checks.steps, author, version.number)
        plays = version.number == await deferToThread(self._store.present, author)
        return _plain({**self._shown(author, version), "plays": plays, "report": report, "steps": steps})

    async def _choose(self, author: str, number: str) -> Reply:
        version = await self._found(author, number)
        if version is None:
            return NOWHERE
        try:
            await deferToThread(self._store.choose, author, version.number)
        except VersionRefused as error:
            return refusal(HTTPStatus.CONFLICT, error.what, error.remedy)
        self._checks.note_change(author)
        self._note("version-chosen", author=author, version=version.number)
        return await self._listed(author)

    async def _found(self, author: str, number: str) -> HandedInVersion | None:
        is_number = number.isascii() and number.isdecimal() and len(number) <= _DIGITS
        return await deferToThread(self._store.version, author, int(number)) if is_number else None

    def _shown(self, author: str, version: HandedInVersion) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(version)
        if self._checks.current == (author, version.number) and version.state is VersionState.WAITING:
            plain["state"] = str(VersionState.CHECKING)
        return plain

    async def _looked_up(self, look: Callable[..., Any], inquiry: Inquiry, name: str) -> Reply:
        """Look a match up in the records; that a record does not hold is told without its path."""
        try:
            found = await self._reading.run(deferToThread, look, inquiry.author, name, _seat(inquiry.query))
        except RecordError as error:
            where = "" if error.line is None else f" in line {error.line}"
            text = f"the record does not hold{where}: expected {error.expected}"
            return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, text, "tell the organiser: `referee audit` says more")
        if found is None:
            return NOWHERE
        if isinstance(found, str):
            return Reply(body=found.encode(), content_type=_TEXT)
        return Reply(body=found, content_type=_LINES) if isinstance(found, bytes) else _plain(found)


def _list_methods(path: tuple[str, ...]) -> str:
    """Return the methods that an address takes, as a header has them; empty if there is no such address."""
    match path:
        case ("submissions",):
            return "GET, HEAD, PUT"
        case ("submissions", _, "present"):
            return "PUT"
        case ("submissions" | "matches", _) | ("matches",) | ("matches", _, "record" | "printed"):
            return "GET, HEAD"
    return ""


def _seat(query: Mapping[str, str]) -> int | None:
    """Return the seat that is asked for; None if none is, and -1, which nobody has, for what is no number."""
    text = query.get("seat")
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else -1


def _plain(value: Any, code: HTTPStatus = HTTPStatus.OK) -> Reply:
    return Reply(code=code, body=msgspec.json.encode(value))
