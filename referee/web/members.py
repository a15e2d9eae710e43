"""Creates and connects all services of the site for people who may sign in."""

# Only this module knows all services for members, so that each of them can be tested without the others.

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
from .author_service import AuthorService
from .authors import AuthorApi, AuthorPages, AuthorPractice
from .contest.contest_file import Contest
from .contest.intake import Intake
from .contest.messenger import MailAddresses
from .contest.organising import Organising
from .contest.practice import Practice
from .contest.queue import RecentQueue
from .event_streams import PersonStreams
from .guarded_routes import ApiRoutes, BodyLimits, GuardedRoutes, MemberPages, Visit
from .http import refuse, stream_events
from .organisers import FindMatches, OrganiserApi, OrganiserPages
from .replay_maker import ReplayMaker
from .sessions import Person, SessionFile, Sessions, SiteRole
from .signing_in import SigningIn
from .signing_up import NewAuthors, SigningUp
from .workshop import Workshop


class Members(Struct, frozen=True, kw_only=True):
    """The services for people who may sign in."""

    sessions: Sessions
    body_limits: BodyLimits
    pages: MemberPages
    authors: AuthorService
    streams: PersonStreams
    organisers: Organising
    practice: Practice
    sign_up: NewAuthors
    mail: MailAddresses | None
    """Mailboxes of the authors; None: the contest sends no mail."""
    workshop: Workshop
    replays: ReplayMaker
    now: Callable[[], float]
    """Returns monotonic seconds."""
    note: Note
    """Logs errors."""


def make_members(
    reactor: Any,
    contest: Contest,
    intake: Intake,
    organisers: Organising,
    practice: Practice,
    sign_up: NewAuthors,
    mail: MailAddresses | None,
    note: Note,
) -> Members:
    """Create the services for the members of a contest.

    Args:
        reactor: Twisted's reactor.
        contest: settings of the contest.
        intake: versions that authors hand in, and files of the people who may sign in.
        organisers: carries out the actions of organisers.
        practice: practice matches of all authors.
        sign_up: makes authors.
        mail: mailboxes of the authors; None: the contest sends no mail.
        note: logs errors.
    """
    queue = RecentQueue(organisers.queue, reactor.seconds)

    def _stamp(person: Person) -> Any:
        lines = msgspec.json.encode(queue.show(person))
        if person.role is SiteRole.AUTHOR:
            return *intake.checks.stamp(person.name), _digest(lines)
        return _digest(lines), _digest(msgspec.json.encode(organisers.processes()))

    people = {SiteRole.AUTHOR: intake.authors, SiteRole.ORGANISER: intake.organisers}
    sessions = Sessions(people, monotonic, SessionFile(intake.sessions_file, note))
    return Members(
        sessions=sessions,
        body_limits=BodyLimits(sessions, intake.authors),
        pages=MemberPages(contest.title),
        authors=intake.service,
        organisers=organisers,
        practice=practice,
        sign_up=sign_up,
        mail=mail,
        workshop=Workshop(monotonic),
        replays=ReplayMaker(monotonic, note),
        now=monotonic,
        streams=PersonStreams(reactor, _stamp),
        note=note,
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def add_members(app: Klein, members: Members, is_shown: Callable[[str, str], bool], matches: FindMatches) -> None:
    """Register the addresses for members.

    Args:
        app: Klein application of the site.
        members: services behind the addresses.
        is_shown: (tournament, match) -> whether everybody may see the replay.
        matches: tournament -> its newest matches, each with names by seat.
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
    AuthorApi(members.authors, members.practice, members.organisers.queue).register(programs)
    OrganiserApi(members.organisers).register(programs)
    AuthorPages(
        members.authors, is_shown, members.organisers.list_next, members.organisers.notices, members.mail
    ).register(routes)
    AuthorPractice(members.practice, members.authors, members.organisers.queue, members.workshop).register(routes)
    OrganiserPages(members.organisers, matches).register(routes)

    @app.handle_errors(Exception)
    def _report_failure(request: Any, failure: Any) -> bytes:
        members.note("page-failed", path=request.path.decode(errors="replace"), error=repr(failure.value))
        return refuse(request, HTTPStatus.INTERNAL_SERVER_ERROR)
