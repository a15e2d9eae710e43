"""The addresses that only somebody known may ask: who asks, and how much may be sent, is known before anything is done.

A browser is known by the cookie of its session, and its forms bring a token besides. A program brings a token with each
request: there no cookie counts, so that no page elsewhere can have a browser ask in somebody's name.
"""

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
from .author_api import REQUESTS_A_MINUTE
from .http import FORM_TOKEN, HTML, BadForm, Form, find_top, receive_form, redirect, refuse, send, send_reply
from .http_messages import JSON, Reply, read_bearer, refusal
from .rate_limit import RateLimit, TooOften
from .sessions import Person, Sessions, SiteRole
from .submissions.archive import MAX_PACKED_BYTES
from .submissions.authors import Authors
from .visitors import NO_BODY, BodyLimit

SIGN_IN, BACK = "/sign-in", "back"
"""Address of the page of signing in, and what its query calls the page that leads there."""
TOO_OLD = "The form is from before you signed in, or from elsewhere. Load its page again, and send it once more."
_DIGITS = 6
SESSION, VISITOR = "session", "visitor"
"""Cookies: of a session, and of somebody who may sign in. Two, as a link from elsewhere brings neither: the page of
signing in, which is the answer then, must not end the session."""
_SAFE = "__Host-"
"""Before a cookie's name, over TLS: no other site of the same domain can have set it."""
Handler = Callable[..., Any]
"""Answers a visit, now or later; takes the parts of the address, too."""
AskAgain = Callable[[Any, SiteRole, Form | None], bytes]
"""Asks somebody of a role to sign in, whose form came without a session; keeps the form if there is one."""
T = TypeVar("T")
Answer = Callable[..., Awaitable[Struct]]
"""Returns what somebody is answered; takes who asks, the request, and the parts of the address. What is refused is a
RefereeError."""
AUTHOR, ORGANISER = (SiteRole.AUTHOR,), (SiteRole.ORGANISER,)
FORM_BYTES = 16_384
"""Of a form that has no file: a reason for a ruling is the longest text in it."""
UPLOADS_OF_PERSON, UPLOADS = 4, 64
"""At a time; each may lie on the disk while it comes."""
_FORM_LIMIT = BodyLimit(FORM_BYTES)
_UPLOAD = BodyLimit(MAX_PACKED_BYTES + FORM_BYTES, 4 * MAX_PACKED_BYTES)
_NO_UPLOAD = BodyLimit(0, MAX_PACKED_BYTES)
"""A client hears that its token is wrong only once all that it sends was taken from it."""


class MemberPages:
    """Makes pages."""

    def __init__(self, title: str) -> None:
        self._title = title

    def page(self, request: Any, name: str, person: str, form_token: str, **values: Any) -> str:
        """Return a page that answers a request."""
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
            person=person,
            form_token=form_token,
            **values,
        )


class Visit(Struct, frozen=True, kw_only=True):
    """A request of somebody who is signed in."""

    request: Any
    """Twisted's."""
    person: Person
    form_token: str
    """For the forms of the page that is the answer."""
    form: Form
    """That was sent off; empty if none was."""
    pages: MemberPages

    def set_code(self, code: HTTPStatus) -> Self:
        """Say how it went, whatever page is shown."""
        self.request.setResponseCode(code)
        return self

    def page(self, name: str, **values: Any) -> bytes:
        """Show the page of this name."""
        text = self.pages.page(self.request, name, self.person.name, self.form_token, **values)
        return send(self.request, HTML, text.encode())

    def number(self, name: str) -> int | None:
        """Return a whole number that the address asks with; None if there is none."""
        text = (self.request.args.get(name.encode()) or [b""])[0]
        return int(text) if text.isdigit() and len(text) <= _DIGITS else None


def _local(uri: bytes) -> str:
    return uri.decode("latin-1")


def read_cookie(request: Any, name: str = SESSION) -> str:
    """Return a cookie that a request brings; empty if it brings none."""
    found = request.getCookie(_full(request, name))
    return "" if found is None else found.decode("latin-1")


def give_cookie(request: Any, cookie: str, name: str = SESSION) -> None:
    """Let the browser keep a cookie until it is closed; no script sees it, and no other site has it sent."""
    is_secure = bool(request.isSecure())
    request.addCookie(_full(request, name), cookie, path=b"/", secure=is_secure, httpOnly=True, sameSite=b"strict")


def _full(request: Any, name: str) -> bytes:
    return f"{_SAFE if request.isSecure() else ''}{name}".encode()


class GuardedRoutes:
    """Registers addresses, each for one role.

    Args:
        app: of the site.
        sessions: of everybody.
        pages: makes pages.
        ask_again: answers forms whose session is over.
    """

    def __init__(self, app: Klein, sessions: Sessions, pages: MemberPages, ask_again: AskAgain) -> None:
        self._app = app
        self._sessions = sessions
        self._pages = pages
        self._ask_again = ask_again

    def shows(self, role: SiteRole, path: str, handler: Handler) -> None:
        """Have a page shown to those of a role; all others are asked to sign in."""

        @self._app.route(path, methods=["GET", "HEAD"], endpoint=f"GET {path}")
        def _answer(request: Any, **parts: Any) -> Any:
            cookie = read_cookie(request)
            person = self._sessions.who(cookie)
            if person is None:
                return redirect(request, f"{SIGN_IN}?{urlencode({BACK: _local(request.uri)})}")
            if person.role is not role:
                return refuse(request, HTTPStatus.NOT_FOUND)
            return handler(self._visit(request, person, cookie, Form(fields={})), **parts)

    def does(self, role: SiteRole, path: str, handler: Handler) -> None:
        """Have something done for those of a role, by a form that was shown to them."""

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


class RequestRefused(RemediableError):
    """Something that is not done.

    Args:
        code: that says so over HTTP.
        what: is wrong.
        remedy: what to do about it.
    """

    def __init__(self, code: HTTPStatus, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.code = code


def read_request(request: Any, form: type[T]) -> T:
    """Return what the body of a request says.

    Args:
        request: Twisted's.
        form: what it is to be.

    Raises:
        RequestRefused: it is none, or not sent as JSON: a page elsewhere can't have a browser send that type unasked.
    """
    if request.content_type.partition(";")[0].strip() != JSON:
        raise RequestRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body has another type", f"send it as {JSON}")
    try:
        return msgspec.json.decode(request.content.read(), type=form)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        remedy = "/api/openapi.json describes what this address takes"
        raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the body is not what is asked for: {error}", remedy) from None


class ApiRoutes:
    """Registers addresses, each for some roles.

    Args:
        app: what they are registered with.
        sessions: tells whose a token is.
        now: monotonic seconds.
    """

    def __init__(self, app: Klein, sessions: Sessions, now: Callable[[], float]) -> None:
        self._app = app
        self._sessions = sessions
        self._requests = RateLimit("requests", REQUESTS_A_MINUTE, now)

    def answers(self, method: str, path: str, roles: Sequence[SiteRole], answer: Answer) -> None:
        """Register what answers those of some roles at an address."""
        methods = ["GET", "HEAD"] if method == "GET" else [method]

        @self._app.route(path, methods=methods, endpoint=f"{method} {path}")
        async def _answer(request: Any, **parts: str) -> bytes:
            try:
                found = await answer(self._person(request, roles), request, **parts)
            except RefereeError as error:
                return send_reply(request, reply_to_error(error))
            return send_reply(request, Reply(body=msgspec.json.encode(found)))

    def _person(self, request: Any, roles: Sequence[SiteRole]) -> Person:
        """Return who asks.

        Raises:
            RequestRefused: nobody of these roles.
            TooOften: that somebody asks.
        """
        person = self._sessions.find_person(read_bearer(request.requestHeaders) or "")
        if person is None or person.role not in roles:
            text = f"no token of an {' or '.join(roles)}"
            raise RequestRefused(HTTPStatus.UNAUTHORIZED, text, "send it: Authorization: Bearer TOKEN")
        self._requests.count(f"{person.role} {person.name}")
        return person


def reply_to_error(error: RefereeError) -> Reply:
    """Return how somebody is told that something is not done."""
    match error:
        case RequestRefused():
            return refusal(error.code, error.what, error.remedy)
        case TooOften():
            return refusal(HTTPStatus.TOO_MANY_REQUESTS, error.what, error.remedy)
        case RemediableError():
            return refusal(HTTPStatus.CONFLICT, error.what, error.remedy)
        case _:
            return refusal(HTTPStatus.CONFLICT, str(error), "/api/openapi.json describes what this address takes")


class BodyLimits:
    """Knows how much may come, and from whom: more from those who may hand in.

    Args:
        sessions: of those who do it in a browser.
        authors: who may do it by their token.
    """

    def __init__(self, sessions: Sessions, authors: Authors) -> None:
        self._sessions = sessions
        self._authors = authors
        self._uploads: OriginLimiter[Any] = OriginLimiter(UPLOADS_OF_PERSON, UPLOADS)

    def find(self, method: str, path: str, request: Any) -> BodyLimit:
        """Return how much of a body may come; of somebody's uploads, the oldest makes way if there are too many.

        Args:
            method: of the request.
            path: its address, without what it asks for.
            request: Twisted's; its headers are there.
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
