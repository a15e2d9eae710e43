"""What the site has for those who may sign in."""

import hashlib
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

import msgspec
from klein import Klein
from msgspec import Struct
from twisted.internet.defer import Deferred

from ..app.services import monotonic
from ..observers import Note
from .author_api import AuthorApi
from .authors import AuthorPages, AuthorPractice, MemberApi
from .contest.contest_file import Contest
from .contest.intake import Intake
from .contest.organising import Organising
from .contest.practice import Practice
from .contest.queue import RecentQueue
from .event_streams import PersonStreams
from .guarded_routes import ApiRoutes, BodyLimits, GuardedRoutes, MemberPages, Visit
from .http import refuse, send_reply, stream_events
from .http_messages import Reply, inquiry_of, read_bearer
from .organisers import FindMatches, OrganiserApi, OrganiserPages
from .sessions import Person, SessionFile, Sessions, SiteRole
from .signing_in import SigningIn
from .signing_up import NewAuthors, SigningUp
from .workshop import Workshop

PATHS = {"submissions": ["GET", "HEAD", "PUT"], "matches": ["GET", "HEAD"]}
"""First part of the service's addresses -> methods that they take."""


class Members(Struct, frozen=True, kw_only=True):
    """What those have who may sign in."""

    sessions: Sessions
    body_limits: BodyLimits
    pages: MemberPages
    api: AuthorApi
    streams: PersonStreams
    organisers: Organising
    practice: Practice
    sign_up: NewAuthors
    workshop: Workshop
    now: Callable[[], float]
    """Monotonic seconds."""
    note: Note
    """Takes note of what goes wrong."""


def make_members(
    reactor: Any,
    contest: Contest,
    intake: Intake,
    organisers: Organising,
    practice: Practice,
    sign_up: NewAuthors,
    note: Note,
) -> Members:
    """Return what those have who may sign in at a contest.

    Args:
        reactor: Twisted's.
        contest: what its file says.
        intake: what it takes in from its authors, and whom it lets in.
        organisers: does what organisers ask.
        practice: the authors' practice matches.
        sign_up: makes authors.
        note: takes note of what goes wrong.
    """
    queue = RecentQueue(organisers.queue, reactor.seconds)

    def _stamp(person: Person) -> Any:
        lines = msgspec.json.encode(queue.show(person))
        if person.role is SiteRole.AUTHOR:
            return *intake.checks.stamp(person.name), _digest(lines)
        return _digest(lines), _digest(msgspec.json.encode(organisers.processes()))

    known = {SiteRole.AUTHOR: intake.authors, SiteRole.ORGANISER: intake.organisers}
    sessions = Sessions(known, monotonic, SessionFile(intake.sessions_file, note))
    return Members(
        sessions=sessions,
        body_limits=BodyLimits(sessions, intake.authors),
        pages=MemberPages(contest.title),
        api=intake.api,
        organisers=organisers,
        practice=practice,
        sign_up=sign_up,
        workshop=Workshop(monotonic),
        now=monotonic,
        streams=PersonStreams(reactor, _stamp),
        note=note,
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def add_members(app: Klein, members: Members, is_shown: Callable[[str, str], bool], matches: FindMatches) -> None:
    """Let members sign in, and have what is theirs.

    Args:
        app: of the site.
        members: who they are, and what they may have.
        is_shown: tells of a tournament and a match whether everybody may see its replay.
        matches: returns the newest matches of a tournament, each with names by seat.
    """

    def _forget(person: Person) -> None:
        members.streams.close(person)
        members.practice.leave(person.name)

    def _follow(visit: Visit) -> Deferred[bytes]:
        return stream_events(visit.request, partial(members.streams.add, visit.person))

    signing_in = SigningIn(members.sessions, members.pages, _forget)
    routes = GuardedRoutes(app, members.sessions, members.pages, signing_in.ask_again)
    routes.shows(SiteRole.AUTHOR, "/author/events", _follow)
    routes.shows(SiteRole.ORGANISER, "/organiser/events", _follow)
    signing_in.register(app)
    SigningUp(members.sign_up, members.sessions, members.pages, members.now).register(app)
    programs = ApiRoutes(app, members.sessions, members.now)
    MemberApi(members.organisers.queue, members.practice).register(programs)
    OrganiserApi(members.organisers).register(programs)
    add_author_api(app, members.api)
    AuthorPages(members.api, is_shown).register(routes)
    AuthorPractice(members.practice, members.api, members.organisers.queue, members.workshop).register(routes)
    OrganiserPages(members.organisers, matches).register(routes)

    @app.handle_errors(Exception)
    def _report_failure(request: Any, failure: Any) -> bytes:
        members.note("page-failed", path=request.path.decode(errors="replace"), error=repr(failure.value))
        return refuse(request, HTTPStatus.INTERNAL_SERVER_ERROR)


def add_author_api(app: Klein, api: AuthorApi) -> None:
    """Have the service answer at its paths.

    Args:
        app: which the paths are registered with.
        api: answers.
    """
    for first, methods in PATHS.items():
        for path in (f"/{first}", f"/{first}/<path:rest>"):

            @app.route(path, methods=methods, endpoint=f"API {path}")
            async def _answer(request: Any, **_parts: str) -> bytes:
                author = api.announced(read_bearer(request.requestHeaders), _length(request))
                if isinstance(author, Reply):
                    return send_reply(request, author)
                body = request.content.read()
                return send_reply(request, await api.answer(inquiry_of(author, request.method, request.uri, body)))


def _length(request: Any) -> int | None:
    """Return how long a body was announced to be; None if it was not."""
    if request.method != b"PUT":
        return 0
    text = request.getHeader("content-length") or ""
    return int(text) if text.isascii() and text.isdecimal() else None
