"""The addresses that only somebody who is signed in may ask: who asks is known before anything is done."""

from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import urlencode

from klein import Klein
from msgspec import Struct
from twisted.internet.defer import maybeDeferred

from ..pages.rendering import page
from .answers import HTML, refused, sent, sent_on, top_of
from .forms import FORM_TOKEN, BadForm, Form, form_of
from .sessions import Person, Sessions, SiteRole

SIGN_IN, BACK = "/sign-in", "back"
"""Address of the page of signing in, and what its query calls the page that leads there."""
TOO_OLD = "The form is from before you signed in, or from elsewhere. Load its page again, and send it once more."
_DIGITS = 6
SESSION, VISITOR = "session", "visitor"
"""Cookies: of a session, and of somebody who may sign in. Two, as a link from elsewhere brings neither: the page of
signing in, which is the answer then, must not end the session."""
_SAFE = "__Host-"
"""Before a cookie's name, over TLS: no other site of the same domain can have set it."""


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
            top=top_of(request),
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

    def coded(self, code: HTTPStatus) -> Self:
        """Say how it went, whatever page is shown."""
        self.request.setResponseCode(code)
        return self

    def page(self, name: str, **values: Any) -> bytes:
        """Show the page of this name."""
        text = self.pages.page(self.request, name, self.person.name, self.form_token, **values)
        return sent(self.request, HTML, text.encode())

    def number(self, name: str) -> int | None:
        """Return a whole number that the address asks with; None if there is none."""
        text = (self.request.args.get(name.encode()) or [b""])[0]
        return int(text) if text.isdigit() and len(text) <= _DIGITS else None


Handler = Callable[..., Any]
"""Answers a visit, now or later; takes the parts of the address, too."""


def _local(uri: bytes) -> str:
    return uri.decode("latin-1")


def cookie_of(request: Any, name: str = SESSION) -> str:
    """Return a cookie that a request brings; empty if it brings none."""
    found = request.getCookie(_full(request, name))
    return "" if found is None else found.decode("latin-1")


def give_cookie(request: Any, cookie: str, name: str = SESSION) -> None:
    """Let the browser keep a cookie until it is closed; no script sees it, and no other site has it sent."""
    is_secure = bool(request.isSecure())
    request.addCookie(_full(request, name), cookie, path=b"/", secure=is_secure, httpOnly=True, sameSite=b"strict")


def _full(request: Any, name: str) -> bytes:
    return f"{_SAFE if request.isSecure() else ''}{name}".encode()


AskAgain = Callable[[Any, SiteRole, Form | None], bytes]
"""Asks somebody of a role to sign in, whose form came without a session; keeps the form if there is one."""


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
            cookie = cookie_of(request)
            person = self._sessions.who(cookie)
            if person is None:
                return sent_on(request, f"{SIGN_IN}?{urlencode({BACK: _local(request.uri)})}")
            if person.role is not role:
                return refused(request, HTTPStatus.NOT_FOUND)
            return handler(self._visit(request, person, cookie, Form(fields={})), **parts)

    def does(self, role: SiteRole, path: str, handler: Handler) -> None:
        """Have something done for those of a role, by a form that was shown to them."""

        @self._app.route(path, methods=["POST"], endpoint=f"POST {path}")
        async def _answer(request: Any, **parts: Any) -> Any:
            cookie = cookie_of(request)
            person = self._sessions.who(cookie)
            if person is not None and person.role is not role:
                return refused(request, HTTPStatus.FORBIDDEN)
            form = None
            with suppress(BadForm):
                form = await form_of(request)
            is_own = form is not None and self._sessions.is_own_form(cookie, form.text(FORM_TOKEN))
            if person is None:
                return self._ask_again(request, role, form if is_own else None)
            if form is None:
                too_large = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                return refused(request, too_large if request.is_too_large else HTTPStatus.BAD_REQUEST)
            if not is_own:
                return refused(request, HTTPStatus.FORBIDDEN, TOO_OLD)
            return await maybeDeferred(handler, self._visit(request, person, cookie, form), **parts)

    def _visit(self, request: Any, person: Person, cookie: str, form: Form) -> Visit:
        token = self._sessions.form_token(cookie)
        return Visit(request=request, person=person, form_token=token, form=form, pages=self._pages)
