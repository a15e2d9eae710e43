"""What the site has for those who may sign in."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from klein import Klein
from msgspec import Struct
from twisted.internet.defer import Deferred

from ..observers import Note
from .author_api import AuthorApi
from .authors.pages import AuthorPages, TellFoul
from .authors.practice import AuthorPractice, PracticeService
from .event_streams import PersonStreams
from .guarded_routes import ApiRoutes, BodyLimits, GuardedRoutes, MemberPages, Visit
from .http import refused, replied, streamed
from .http_messages import Reply, bearer_of, inquiry_of
from .member_api import MemberApi
from .organisers.api import OrganiserApi
from .organisers.pages import FindMatches, OrganiserPages
from .organisers.service import OrganiserService
from .sessions import Person, Sessions, SiteRole
from .signing_in import SigningIn
from .signing_up import SigningUp, SignUpService
from .workshop import Workshop

PATHS = {"submissions": ["GET", "HEAD", "PUT"], "matches": ["GET", "HEAD"]}
"""First part of the service's addresses -> methods that they take."""


class Members(Struct, frozen=True, kw_only=True):
    """What those have who may sign in."""

    sessions: Sessions
    body_limits: BodyLimits
    pages: MemberPages
    api: AuthorApi
    tell: TellFoul
    streams: PersonStreams
    organisers: OrganiserService
    practice: PracticeService
    sign_up: SignUpService
    workshop: Workshop
    now: Callable[[], float]
    """Monotonic seconds."""
    note: Note
    """Takes note of what goes wrong."""


def add_members(app: Klein, members: Members, is_shown: Callable[[str, str], bool], matches: FindMatches) -> None:
    """Let members sign in, and have what is theirs.

    Args:
        app: of the site.
        members: who they are, and what they may have.
        is_shown: tells of a tournament and a match whether everybody may see its replay.
        matches: returns the newest matches of a tournament, each with names by seat.
    """

    def _signed_out(person: Person) -> None:
        members.streams.close(person)
        members.practice.leave(person.name)

    def _follow(visit: Visit) -> Deferred[bytes]:
        return streamed(visit.request, partial(members.streams.add, visit.person))

    signing_in = SigningIn(members.sessions, members.pages, _signed_out)
    routes = GuardedRoutes(app, members.sessions, members.pages, signing_in.ask_again)
    routes.shows(SiteRole.AUTHOR, "/author/events", _follow)
    routes.shows(SiteRole.ORGANISER, "/organiser/events", _follow)
    signing_in.register(app)
    SigningUp(members.sign_up, members.sessions, members.pages, members.now).register(app)
    programs = ApiRoutes(app, members.sessions, members.now)
    MemberApi(members.organisers.queue, members.practice).register(programs)
    OrganiserApi(members.organisers).register(programs)
    add_author_api(app, members.api)
    AuthorPages(members.api, members.tell, is_shown).register(routes)
    AuthorPractice(members.practice, members.api, members.organisers.queue, members.workshop).register(routes)
    OrganiserPages(members.organisers, matches).register(routes)

    @app.handle_errors(Exception)
    def _failed(request: Any, failure: Any) -> bytes:
        members.note("page-failed", path=request.path.decode(errors="replace"), error=repr(failure.value))
        return refused(request, HTTPStatus.INTERNAL_SERVER_ERROR)


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
                author = api.announced(bearer_of(request.requestHeaders), _length(request))
                if isinstance(author, Reply):
                    return replied(request, author)
                body = request.content.read()
                return replied(request, await api.answer(inquiry_of(author, request.method, request.uri, body)))


def _length(request: Any) -> int | None:
    """Return how long a body was announced to be; None if it was not."""
    if request.method != b"PUT":
        return 0
    text = request.getHeader("content-length") or ""
    return int(text) if text.isascii() and text.isdecimal() else None
