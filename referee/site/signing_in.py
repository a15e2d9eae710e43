"""The addresses of signing in and out."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from klein import Klein

from ..submissions.authors import TooOften
from .answers import HTML, address_of, sent, sent_on
from .forms import FORM_TOKEN, BadForm, Form, form_of
from .guarded_routes import SESSION, SIGN_IN, VISITOR, MemberPages, cookie_of, give_cookie
from .sessions import Person, Sessions, SiteRole, new_cookie

SIGN_OUT = "/sign-out"
FIRST_PAGES = {SiteRole.AUTHOR: "/author", SiteRole.ORGANISER: "/organiser"}
"""Where somebody is sent who has signed in."""
TOO_OLD = "The form was too old. Please try again."


class SigningIn:
    """Lets people sign in and out.

    Args:
        sessions: of everybody.
        pages: makes the page of signing in.
        signed_out: called with who has left.
    """

    def __init__(self, sessions: Sessions, pages: MemberPages, signed_out: Callable[[Person], None]) -> None:
        self._sessions = sessions
        self._pages = pages
        self._signed_out = signed_out

    def register(self, app: Klein) -> None:
        """Register the addresses."""
        app.route(SIGN_IN, methods=["GET", "HEAD"], endpoint=f"GET {SIGN_IN}")(self._show)
        app.route(SIGN_IN, methods=["POST"], endpoint=f"POST {SIGN_IN}")(self._sign_in)
        app.route(SIGN_OUT, methods=["POST"], endpoint=f"POST {SIGN_OUT}")(self._sign_out)

    def _show(self, request: Any) -> bytes:
        person = self._sessions.who(cookie_of(request))
        return self._form(request, "") if person is None else sent_on(request, FIRST_PAGES[person.role])

    async def _sign_in(self, request: Any) -> bytes:
        form = await own_form(request, self._sessions)
        if form is None:
            return self._form(request, TOO_OLD, HTTPStatus.FORBIDDEN)
        try:
            cookie = self._sessions.sign_in(form.text("token"), address_of(request))
        except TooOften as error:
            return self._form(request, f"{error}.", HTTPStatus.TOO_MANY_REQUESTS)
        person = self._sessions.who(cookie or "")
        if cookie is None or person is None:
            text = "Nobody here has this token. It is the text that the organiser gave you, letters and digits only."
            return self._form(request, text, HTTPStatus.UNAUTHORIZED)
        self._sessions.sign_out(cookie_of(request))
        give_cookie(request, cookie)
        return sent_on(request, FIRST_PAGES[person.role])

    async def _sign_out(self, request: Any) -> bytes:
        if await own_form(request, self._sessions, SESSION) is None:
            return self._form(request, TOO_OLD, HTTPStatus.FORBIDDEN)
        cookie = cookie_of(request)
        person = self._sessions.who(cookie)
        self._sessions.sign_out(cookie)
        give_cookie(request, "")
        if person is not None:
            self._signed_out(person)
        return sent_on(request, "/")

    def _form(self, request: Any, trouble: str, code: HTTPStatus = HTTPStatus.OK) -> bytes:
        form_token = visitor_token(request, self._sessions)
        request.setResponseCode(code)
        return sent(request, HTML, self._pages.page(request, "sign_in", "", form_token, trouble=trouble).encode())


async def own_form(request: Any, sessions: Sessions, cookie: str = VISITOR) -> Form | None:
    """Return the form that a request brings; None if it is none that was shown to this browser.

    Args:
        request: Twisted's.
        sessions: of everybody.
        cookie: name of the one that the form was shown with.
    """
    try:
        form = await form_of(request)
    except BadForm:
        return None
    return form if sessions.is_own_form(cookie_of(request, cookie), form.text(FORM_TOKEN)) else None


def visitor_token(request: Any, sessions: Sessions) -> str:
    """Return what a form must bring that is shown to somebody who is not signed in."""
    cookie = cookie_of(request, VISITOR)
    if not cookie:
        cookie = new_cookie()
        give_cookie(request, cookie, VISITOR)
    return sessions.form_token(cookie)
