"""Addresses for signed-in people and their programs.

Before such an address does any work, this module finds out who sends the request and how much the client may send.
"""

# Two kinds of clients follow different rules, so that a page on another site can't act in somebody's name:
#
# - A browser is recognised by its session cookie, which is SameSite=strict. Each of its forms also carries a token.
# - A program sends its token with every request. Cookies are ignored here, and bodies must be declared as JSON. A page
#   of another site can't make a browser send JSON without asking this server first.

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

import msgspec
from klein import Klein
from msgspec import Struct
from twisted.internet.defer import maybeDeferred

from ..errors import RefereeError, RemediableError
from ..net.links.origin_limits import OriginLimiter
from ..pages.rendering import page
from .author_service import REQUESTS_A_MINUTE
from .http import (
    FORM_TOKEN,
    HTML,
    JSON,
    BadForm,
    Form,
    Reply,
    RequestRefused,
    find_top,
    read_bearer,
    receive_form,
    redirect,
    refusal,
    refuse,
    send,
    send_reply,
)
from .rate_limit import RateLimit, TooOften
from .sessions import Person, Sessions, SiteRole, TokenFile
from .submissions.archive import MAX_PACKED_BYTES
from .submissions.entries import BadArchive
from .visitors import NO_BODY, BodyLimit

SIGN_IN, BACK = "/sign-in", "back"
"""Address of the sign-in page, and the field of its query that names the page to return to."""
TOO_OLD = "The form is from before you signed in, or from elsewhere. Load its page again, and send it once more."
SESSION, VISITOR = "session", "visitor"
"""Names of two cookies: of a session, and of a visitor who is not signed in. A browser that follows a link from another
site sends neither, so it gets the sign-in page. That page sets only the visitor's cookie, and keeps the session's."""
Handler = Callable[..., Any]
"""Answers a visit, now or later; receives the visit and the parts of the address."""
AskAgain = Callable[[Any, SiteRole, Form | None], bytes]
"""Asks a person to sign in whose form arrived without a session. Receives the request, the role that the form's address
is for, and the form to keep, if any."""
T = TypeVar("T")
Answer = Callable[..., Awaitable[Struct | Reply]]
"""Answers a program; receives the person, the request and the parts of the address. Refusals are RefereeErrors."""
AUTHOR, ORGANISER = (SiteRole.AUTHOR,), (SiteRole.ORGANISER,)
FORM_BYTES = 16_384
"""Most bytes of a form without files; the longest text of such a form is the reason for a ruling."""
UPLOADS_OF_PERSON, UPLOADS = 4, 64
"""Most simultaneous uploads of one person, and of all people; an upload may take room on the disk while it arrives."""
_DIGITS = 6
_SAFE = "__Host-"
"""Prefix of a cookie's name over TLS. Browsers let no other site of the same domain set a cookie with this prefix."""
_FORM_LIMIT = BodyLimit(FORM_BYTES)
_UPLOAD = BodyLimit(MAX_PACKED_BYTES + FORM_BYTES, 4 * MAX_PACKED_BYTES)
# A client with a wrong token reads the refusal only after it has sent its whole body. So the body is read and dropped.
_NO_UPLOAD = BodyLimit(0, MAX_PACKED_BYTES)


class MemberPages:
    """Renders the pages of a contest's members.

    Args:
        title: title of the contest.
    """

    def __init__(self, title: str) -> None:
        self._title = title

    def page(self, request: Any, name: str, person: Person | None, form_token: str, **values: Any) -> str:
        """Render a page for the visitor of a request."""
        return page(
            name,
            None,
            looks="member",
            styles=("contest",),
            scripts=("following", "sorting"),
            may_ask=True,
            may_send=True,
            title=self._title,
            top=find_top(request),
            visitor=person and Visitor(name=person.name, desk=str(person.role), form_token=form_token),
            form_token=form_token,
            **values,
        )


class Visit(Struct, frozen=True, kw_only=True):
    """A request of a signed-in person."""

    request: Any
    """Twisted's request."""
    person: Person
    form_token: str
    """Token for the forms of the page with which the visit is answered."""
    form: Form
    """Form that was submitted; empty if the visit submits no form."""
    pages: MemberPages

    def set_code(self, code: HTTPStatus) -> Self:
        """Set the status of the answer, and return the visit."""
        self.request.setResponseCode(code)
        return self

    def page(self, name: str, **values: Any) -> bytes:
        """Render a template as the answer."""
        text = self.pages.page(self.request, name, self.person, self.form_token, **values)
        return send(self.request, HTML, text.encode())

    def number(self, name: str) -> int | None:
        """Return a number in the query of the address; None if the field is missing or not a number."""
        text = (self.request.args.get(name.encode()) or [b""])[0]
        return int(text) if text.isdigit() and len(text) <= _DIGITS else None


def read_cookie(request: Any, name: str = SESSION) -> str:
    """Return the value of a cookie of a request; empty if the request has no such cookie."""
    cookie = request.getCookie(_full_name(request, name))
    return "" if cookie is None else cookie.decode("latin-1")


def give_cookie(request: Any, cookie: str, name: str = SESSION) -> None:
    """Set a cookie until the browser closes. Scripts can't read it, and other sites can't make the browser send it."""
    is_secure = bool(request.isSecure())
    request.addCookie(_full_name(request, name), cookie, path=b"/", secure=is_secure, httpOnly=True, sameSite=b"strict")


def _full_name(request: Any, name: str) -> bytes:
    return f"{_SAFE if request.isSecure() else ''}{name}".encode()


class Visitor(Struct, frozen=True, kw_only=True):
    """A signed-in person, for the header of a page."""

    name: str
    desk: str
    """Path of the person's first page, relative to the site's first page."""
    form_token: str
    """Token of the form that signs out."""


class VisitorCard(Struct, frozen=True, kw_only=True):
    """What the header of a page needs to know about the visitor, if the rest of the page is the same for everybody."""

    title: str
    """Title of the contest."""
    visitor: Visitor | None
    """The signed-in person who requests the page; None for everybody else."""


def find_visitor(request: Any, sessions: Sessions) -> Visitor | None:
    """Return the signed-in person who sent a request; None for everybody else."""
    cookie = read_cookie(request)
    person = sessions.who(cookie)
    if person is None:
        return None
    return Visitor(name=person.name, desk=str(person.role), form_token=sessions.form_token(cookie))


class GuardedRoutes:
    """Registers addresses for browsers, each for one role.

    Args:
        app: Klein application of the site.
        sessions: sessions of everybody.
        pages: renders pages.
        ask_again: answers forms whose session has ended.
    """

    def __init__(self, app: Klein, sessions: Sessions, pages: MemberPages, ask_again: AskAgain) -> None:
        self._app = app
        self._sessions = sessions
        self._pages = pages
        self._ask_again = ask_again

    def shows(self, role: SiteRole, path: str, handler: Handler) -> None:
        """Register a page for people of a role; everybody else is asked to sign in."""

        @self._app.route(path, methods=["GET", "HEAD"], endpoint=f"GET {path}")
        def _answer(request: Any, **parts: Any) -> Any:
            cookie = read_cookie(request)
            person = self._sessions.who(cookie)
            if person is None:
                return redirect(request, f"{SIGN_IN}?{urlencode({BACK: request.uri.decode('latin-1')})}")
            if person.role is not role:
                return refuse(request, HTTPStatus.NOT_FOUND)
            return handler(self._visit(request, person, cookie, Form(fields={})), **parts)

    def does(self, role: SiteRole, path: str, handler: Handler) -> None:
        """Register an action for people of a role. The site must have shown the form to the same session."""

        @self._app.route(path, methods=["POST"], endpoint=f"POST {path}")
        async def _answer(request: Any, **parts: Any) -> Any:
            cookie = read_cookie(request)
            person = self._sessions.who(cookie)
            if person is not None and person.role is not role:
                return refuse(request, HTTPStatus.FORBIDDEN)
            form = None
            with suppress(BadForm):
                form = await receive_form(request)
            is_own = form is not None and self._sessions.is_own_form(cookie, form.text(FORM_TOKEN))
            if person is None:
                return self._ask_again(request, role, form if is_own else None)
            if form is None:
                too_large = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                return refuse(request, too_large if request.is_too_large else HTTPStatus.BAD_REQUEST)
            if not is_own:
                return refuse(request, HTTPStatus.FORBIDDEN, TOO_OLD)
            return await maybeDeferred(handler, self._visit(request, person, cookie, form), **parts)

    def _visit(self, request: Any, person: Person, cookie: str, form: Form) -> Visit:
        token = self._sessions.form_token(cookie)
        return Visit(request=request, person=person, form_token=token, form=form, pages=self._pages)


def read_request(request: Any, form: type[T]) -> T:
    """Decode the JSON body of a request.

    Args:
        request: Twisted's request.
        form: type of the body.

    Raises:
        RequestRefused: the body has another form, or is not declared as JSON.
    """
    if request.content_type.partition(";")[0].strip() != JSON:
        raise RequestRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body has another type", f"send it as {JSON}")
    try:
        return msgspec.json.decode(request.content.read(), type=form)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        remedy = "/api/openapi.json describes what this address accepts"
        raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the body is not as required: {error}", remedy) from None


class ApiRoutes:
    """Registers addresses for programs, each for some roles.

    Args:
        app: Klein application of the site.
        sessions: finds the owner of a token.
        now: returns monotonic seconds.
    """

    def __init__(self, app: Klein, sessions: Sessions, now: Callable[[], float]) -> None:
        self._app = app
        self._sessions = sessions
        self._requests = RateLimit("requests", REQUESTS_A_MINUTE, now)

    def answers(self, method: str, path: str, roles: Sequence[SiteRole], answer: Answer) -> None:
        """Register an address for programs of people of some roles."""
        methods = ["GET", "HEAD"] if method == "GET" else [method]

        @self._app.route(path, methods=methods, endpoint=f"{method} {path}")
        async def _answer(request: Any, **parts: str) -> bytes:
            try:
                result = await answer(self._identify(request, roles), request, **parts)
            except RefereeError as error:
                return send_reply(request, make_refusal(error))
            return send_reply(request, result if isinstance(result, Reply) else Reply(body=msgspec.json.encode(result)))

    def _identify(self, request: Any, roles: Sequence[SiteRole]) -> Person:
        """Return the person whose token a request carries.

        Raises:
            RequestRefused: the token belongs to nobody who has one of these roles.
            TooOften: the person asks too often.
        """
        person = self._sessions.find_person(read_bearer(request.requestHeaders) or "")
        if person is None or person.role not in roles:
            text = f"the request has no valid token of an {' or '.join(roles)}"
            raise RequestRefused(HTTPStatus.UNAUTHORIZED, text, "send the header `Authorization: Bearer TOKEN`")
        self._requests.count(f"{person.role} {person.name}")
        return person


def find_status(error: RefereeError) -> HTTPStatus:
    """Return the status with which a refusal is answered."""
    match error:
        case RequestRefused():
            return error.code
        case TooOften():
            return HTTPStatus.TOO_MANY_REQUESTS
        case BadArchive():
            return HTTPStatus.UNPROCESSABLE_ENTITY
        case _:
            return HTTPStatus.CONFLICT


def make_refusal(error: RefereeError) -> Reply:
    """Return the answer to a program whose request is refused."""
    if isinstance(error, RemediableError):
        return refusal(find_status(error), error.what, error.remedy)
    return refusal(find_status(error), str(error), "/api/openapi.json describes what this address accepts")


class BodyLimits:
    """Decides how long a request's body may be: authors who hand in a version may send more than other visitors.

    Args:
        sessions: sessions of people who use a browser.
        authors: tokens of authors, for their programs.
    """

    def __init__(self, sessions: Sessions, authors: TokenFile) -> None:
        self._sessions = sessions
        self._authors = authors
        self._uploads: OriginLimiter[Any] = OriginLimiter(UPLOADS_OF_PERSON, UPLOADS)

    def find(self, method: str, path: str, request: Any) -> BodyLimit:
        """Return the limit for a request's body. If a person has too many uploads, cut the person's oldest upload.

        Args:
            method: method of the request.
            path: address without its query.
            request: Twisted's request, with its headers read.
        """
        match method, path:
            case "POST", "/author/hand-in":
                person = self._sessions.who(read_cookie(request))
                author = person.name if person is not None and person.role is SiteRole.AUTHOR else None
            case "POST", _:
                return _FORM_LIMIT
            case "PUT", "/submissions":
                author = self._authors.find_name(read_bearer(request.requestHeaders))
            case _:
                return NO_BODY
        return _NO_UPLOAD if author is None else self._count_upload(request, author)

    def _count_upload(self, request: Any, author: str) -> BodyLimit:
        oldest = self._uploads.add(request, author)
        if oldest is not None:
            oldest.channel.abortConnection()
        request.notifyFinish().addBoth(lambda _: self._uploads.discard(request))
        return _UPLOAD
