"""What an author may do with its own versions and matches. Pages and the API for programs both use this service."""

# Nobody learns anything about other authors. A request for something that belongs to another author gets the same
# answer, byte by byte, as a request for something that does not exist (NotYours).

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThread

from ..check.findings import CheckReport, Finding
from ..observers import Note
from ..plugins import installed
from ..record.explain import Explanation
from ..record.reader import RecordError
from ..text import placeless
from .http import RequestRefused
from .rate_limit import RateLimit
from .submissions.check_queue import CheckQueue
from .submissions.folder import pack_upload
from .submissions.matches import AuthorsMatches, Own
from .submissions.store import HandedInVersion, Store, VersionState

T = TypeVar("T")
HAND_INS_A_MINUTE = 6
"""Most versions a minute: nobody can change a program and look at the result so often."""
REQUESTS_A_MINUTE = 120
"""Most requests a minute: a client that waits for its verdict asks at most once a second."""
_DIGITS = 9


class NotYours(RequestRefused):
    """The refusal of a request for something that does not exist or belongs to somebody else."""

    def __init__(self) -> None:
        super().__init__(
            HTTPStatus.NOT_FOUND,
            "you have no such version or match",
            "PUT or GET /submissions, GET /submissions/NUMBER, PUT /submissions/NUMBER/present, GET /matches, "
            "/matches/NAME, /matches/NAME/record and /matches/NAME/printed; "
            "numbers and names are in your lists; write a slash in a name as %2F",
        )


class Versions(Struct, frozen=True, kw_only=True):
    """Everything that an author has handed in."""

    submissions: Sequence[HandedInVersion]
    present: int | None
    """Number of the version that plays; None if no version has passed."""


class CheckedVersion(HandedInVersion, frozen=True, kw_only=True):
    """One version with its check."""

    plays: bool
    report: CheckReport | None
    """Report of the check; None while the check is not over, or if it could not be completed."""
    steps: Sequence[Finding]
    """Steps that a running check has finished so far."""
    trying: str | None
    """Step that a running check is trying, such as `53 of 82: it plays a match of Quincy`; None: no check runs."""


class OwnMatches(Struct, frozen=True, kw_only=True):
    """The matches of an author that are over."""

    matches: Sequence[Own]


class AuthorService:
    """Carries out what authors request on pages or with programs.

    Args:
        store: versions of all authors.
        checks: queue that takes new versions.
        matches: matches of all authors.
        clock: returns monotonic seconds.
        now: returns the time of day, ISO 8601 in UTC.
        note: logs what happens.
    """

    def __init__(
        self,
        store: Store,
        checks: CheckQueue,
        matches: AuthorsMatches,
        clock: Callable[[], float],
        now: Callable[[], str],
        note: Note,
    ) -> None:
        self._store = store
        self._checks = checks
        self._matches = matches
        self._now = now
        self._note = note
        self._requests = RateLimit("requests", REQUESTS_A_MINUTE, clock)
        self._hand_ins = RateLimit("versions", HAND_INS_A_MINUTE, clock)
        # Only one archive is unpacked at a time, because an archive may be large. Only one author's records are read at
        # a time, because auditing them takes a processor core. Other authors wait, but the event loop does not.
        self._unpacking = DeferredLock()
        self._reading = DeferredLock()

    # --- versions

    async def hand_in(self, author: str, archive: bytes, name: str = "") -> HandedInVersion:
        """Accept an archive as the author's next version, and queue its check.

        Args:
            author: name of the author.
            archive: content of the file.
            name: name of the file, for the error message about a lone source file.

        Raises:
            TooOften: the author hands in, or asks, too often.
            BadArchive: the archive cannot be unpacked.
            VersionRefused: the author may not hand in a version now.
        """
        return await self._accept(author, lambda: archive, name)

    async def hand_in_folder(self, author: str, files: Sequence[tuple[str, bytes]]) -> HandedInVersion:
        """Accept a folder that a browser sent, as (path, content) pairs; see `hand_in`."""
        return await self._accept(author, lambda: pack_upload(files))

    async def _accept(self, author: str, pack: Callable[[], bytes], name: str = "") -> HandedInVersion:
        self._requests.count(author)
        self._hand_ins.count(author)

        def _unpack() -> tuple[HandedInVersion, bool]:
            return self._store.hand_in(author, pack(), self._now(), name)

        version, is_new = await self._unpacking.run(deferToThread, _unpack)
        if is_new:
            self._checks.add(author, version)
            self._note("version-handed-in", author=author, version=version.number, sha256=version.sha256)
        return self._mark_checking(author, version)

    async def list_versions(self, author: str) -> Versions:
        """Return the author's versions, the oldest first.

        Raises:
            TooOften: the author asks too often.
        """
        self._requests.count(author)
        return await self._list_versions(author)

    async def _list_versions(self, author: str) -> Versions:
        versions = await deferToThread(self._store.versions, author)
        present = await deferToThread(self._store.present, author)
        return Versions(submissions=[self._mark_checking(author, version) for version in versions], present=present)

    async def find_version(self, author: str, number: str) -> CheckedVersion:
        """Return one version with its check.

        Args:
            author: name of the author.
            number: number of the version, as the client sent it.

        Raises:
            TooOften: the author asks too often.
            NotYours: the author has no such version.
        """
        self._requests.count(author)
        version = await self._find(author, number)
        report = await deferToThread(self._store.report, author, version.number)
        steps = await deferToThread(self._checks.steps, author, version.number)
        plays = version.number == await deferToThread(self._store.present, author)
        marked = self._mark_checking(author, version)
        trying = _name_step(len(steps)) if marked.state is VersionState.CHECKING else None
        return CheckedVersion(**asdict(marked), plays=plays, report=report, steps=steps, trying=trying)

    async def read_archive(self, author: str, number: str) -> tuple[str, bytes]:
        """Return the name and the bytes of the archive of a version, as it was handed in.

        Raises:
            TooOften: the author asks too often.
            NotYours: the author has no such version.
        """
        self._requests.count(author)
        version = await self._find(author, number)
        path = await deferToThread(self._store.archive_path, author, version.number)
        return f"{author}-{version.number}{path.name.removeprefix(path.name.partition('.')[0])}", path.read_bytes()

    async def choose(self, author: str, number: str) -> Versions:
        """Let an older version play until a newer one passes its check, and return all versions.

        Raises:
            TooOften: the author asks too often.
            NotYours: the author has no such version.
            VersionRefused: the version has not passed its check.
        """
        self._requests.count(author)
        version = await self._find(author, number)
        await deferToThread(self._store.choose, author, version.number)
        self._checks.note_change(author)
        self._note("version-chosen", author=author, version=version.number)
        return await self._list_versions(author)

    async def _find(self, author: str, number: str) -> HandedInVersion:
        is_number = number.isascii() and number.isdecimal() and len(number) <= _DIGITS
        version = await deferToThread(self._store.version, author, int(number)) if is_number else None
        if version is None:
            raise NotYours
        return version

    def _mark_checking(self, author: str, version: HandedInVersion) -> HandedInVersion:
        """Return a version with the state `checking` if its check runs now; the stored state is `waiting`."""
        if self._checks.current == (author, version.number) and version.state is VersionState.WAITING:
            return replace(version, state=VersionState.CHECKING)
        return version

    # --- matches

    async def list_matches(self, author: str) -> OwnMatches:
        """Return the author's matches that are over, the latest first.

        Raises:
            TooOften: the author asks too often.
        """
        self._requests.count(author)
        return OwnMatches(matches=await self._reading.run(deferToThread, self._matches.list_own, author))

    async def explain(self, author: str, match: str, seat: int | None) -> Explanation:
        """Explain a match to its author.

        Args:
            author: name of the author.
            match: name of the match in the author's list.
            seat: one of the author's seats; None: the first of these seats.

        Raises:
            TooOften: the author asks too often.
            NotYours: the author had no such seat.
            RequestRefused: the record does not hold.
        """
        explanation = await self._look_up(author, lambda: self._matches.explain_match(author, match, seat))
        if explanation.printed is None:
            return explanation
        lines = tuple(map(placeless, explanation.printed.lines))
        return replace(explanation, printed=replace(explanation.printed, lines=lines))

    async def read_record(self, author: str, match: str, seat: int | None) -> bytes:
        """Return the record of a match, without the facts that only other seats knew; see `explain`."""
        return await self._look_up(author, lambda: self._matches.record(author, match, seat))

    async def read_output(self, author: str, match: str, seat: int | None) -> str:
        """Return the stored output of the author's program; see `explain`."""
        return placeless(await self._look_up(author, lambda: self._matches.read_output(author, match, seat)))

    async def _look_up(self, author: str, look: Callable[[], T | None]) -> T:
        """Read a record in a thread. The error about a broken record does not show its path on this machine."""
        self._requests.count(author)
        reading: Awaitable[T | None] = self._reading.run(deferToThread, look)
        try:
            result = await reading
        except RecordError as error:
            where = "" if error.line is None else f" in line {error.line}"
            text = f"the record does not hold{where}: expected {error.expected}"
            remedy = "ask the organiser to run `referee audit`, which shows more"
            raise RequestRefused(HTTPStatus.INTERNAL_SERVER_ERROR, text, remedy) from None
        if result is None:
            raise NotYours
        return result


def _name_step(done: int) -> str | None:
    """Return in words the next step of a check after `done` steps; None after the last step."""
    from ..check.checking import all_steps  # noqa: PLC0415  # the site needs no other part of the check

    steps = all_steps(tuple(installed().games))
    return f"{done + 1} of {len(steps)}: {steps[done].title}" if done < len(steps) else None
