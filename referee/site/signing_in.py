"""The addresses of signing in and out."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from klein import Klein

from ..net.links.addresses import origin_of
from ..pages.desk_pages import DeskPages
from .answers import HTML, sent, sent_on
from .doors import FORM_TOKEN, SESSION, SIGN_IN, VISITOR, cookie_of, form_of, give_cookie
from .forms import BadForm
from .sessions import Role, Sessions, TooManyTries, new_cookie

SIGN_OUT = "/sign-out"
FIRST_PAGES = {Role.AUTHOR: "/author", Role.ORGANISER: "/organiser"}
"""Where somebody is sent who has signed in."""


class SigningIn:
    """Lets people sign in and out.

    Args:
        sessions: of everybody.
        pages: makes the page of signing in.
        signed_out: called with the name of who has left.
    """

    def __init__(self, sessions: Sessions, pages: DeskPages, signed_out: Callable[[str], None]) -> None:
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
        token = await self._own_text(request, VISITOR, "token")
        if token is None:
            return self._form(request, "The form was too old. Please try again.", HTTPStatus.FORBIDDEN)
        try:
            cookie = self._sessions.sign_in(token, origin_of(str(request.getClientAddress().host)))
        except TooManyTries as error:
            text = f"Too many tries. Please wait {error.wait_s:.0f} s."
            return self._form(request, text, HTTPStatus.TOO_MANY_REQUESTS)
        person = self._sessions.who(cookie or "")
        if cookie is None or person is None:
            text = "Nobody here has this token. It is the text that the organiser gave you, letters and digits only."
            return self._form(request, text, HTTPStatus.UNAUTHORIZED)
        self._sessions.sign_out(cookie_of(request))
        give_cookie(request, cookie)
        return sent_on(request, FIRST_PAGES[person.role])

    async def _sign_out(self, request: Any) -> bytes:
        if await self._own_text(request, SESSION, FORM_TOKEN) is None:
            return self._form(request, "The form was too old. Please try again.", HTTPStatus.FORBIDDEN)
        cookie = cookie_of(request)
        person = self._sessions.who(cookie)
        self._sessions.sign_out(cookie)
        give_cookie(request, "")
        if person is not None:
            self._signed_out(person.name)
        return sent_on(request, "/")

    async def _own_text(self, request: Any, cookie: str, name: str) -> str | None:
        """Return what was written into a field; None if the form is none that was shown to this browser."""
        try:
            form = await form_of(request)
        except BadForm:
            return None
        is_own = self._sessions.is_own_form(cookie_of(request, cookie), form.text(FORM_TOKEN))
        return form.text(name) if is_own else None

    def _form(self, request: Any, trouble: str, code: HTTPStatus = HTTPStatus.OK) -> bytes:
        cookie = cookie_of(request, VISITOR)
        if not cookie:
            cookie = new_cookie()
            give_cookie(request, cookie, VISITOR)
        request.setResponseCode(code)
        return sent(request, HTML, self._pages.sign_in(self._sessions.form_token(cookie), trouble).encode())
