"""The addresses for signing in and out."""

# A form that arrives after its session has ended is not lost: the sign-in page contains its fields, and after signing
# in the person can send the form again. It is never sent automatically: another person may have signed in.

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from klein import Klein

from .guarded_routes import BACK, SESSION, SIGN_IN, VISITOR, MemberPages, give_cookie, read_cookie
from .http import FORM_TOKEN, HTML, BadForm, Form, find_address, receive_form, redirect, send
from .rate_limit import TooOften
from .sessions import Person, Sessions, SiteRole, new_cookie

SIGN_OUT = "/sign-out"
_PAGE = re.compile(r"/(?:author|organiser)(?:[/?][\w./%?=&~+:-]*)?")
"""Addresses to which signing in may return: only pages of members on this site (no open redirect)."""
_KEPT = "kept."
"""Prefix for the fields of a form that is waiting until its sender has signed in."""
FIRST_PAGES = {SiteRole.AUTHOR: "/author", SiteRole.ORGANISER: "/organiser"}
"""Role -> page that follows signing in."""
TOO_OLD = "The form was too old. Please try again."
NOT_DONE = "You were no longer signed in, so nothing was done. Sign in, and send the form again."
_ACTION = "action"
"""Field with the address of the waiting form."""


class SigningIn:
    """Lets people sign in and out.

    Args:
        sessions: sessions of everybody.
        pages: renders the sign-in page.
        signed_out: called with each person who has signed out.
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
        person = self._sessions.who(read_cookie(request))
        back = bytes((request.args.get(BACK.encode()) or [b""])[0]).decode(errors="replace")
        if person is None:
            return self._form(request, "", waits={BACK: back} if _PAGE.fullmatch(back) else {})
        return redirect(request, _choose_page(person, back))

    def ask_again(self, request: Any, role: SiteRole, form: Form | None) -> bytes:
        """Show the sign-in page to a person whose form arrived without a session.

        Args:
            request: Twisted's request.
            role: role that the form's address is for.
            form: form to keep until the person has signed in; None if it may come from another site.
        """
        waits = {BACK: FIRST_PAGES[role]}
        action = request.path.decode("latin-1")
        if form is not None and not form.has_file and _PAGE.fullmatch(action):
            fields = {name: text for name, text in form.fields.items() if name != FORM_TOKEN}
            waits |= {_ACTION: action, **{f"{_KEPT}{name}": text for name, text in fields.items()}}
        return self._form(request, NOT_DONE if _ACTION not in waits else "", HTTPStatus.UNAUTHORIZED, waits)

    async def _sign_in(self, request: Any) -> bytes:
        form = await receive_own_form(request, self._sessions)
        if form is None:
            return self._form(request, TOO_OLD, HTTPStatus.FORBIDDEN)
        waits = {name: text for name, text in form.fields.items() if name.startswith(_KEPT) or name in (BACK, _ACTION)}
        try:
            cookie = self._sessions.sign_in(form.text("token"), find_address(request))
        except TooOften as error:
            return self._form(request, f"{error}.", HTTPStatus.TOO_MANY_REQUESTS, waits)
        person = self._sessions.who(cookie or "")
        if cookie is None or person is None:
            text = "This token belongs to nobody. Enter the token that the organiser gave you: letters and digits only."
            return self._form(request, text, HTTPStatus.UNAUTHORIZED, waits)
        self._sessions.sign_out(read_cookie(request))
        give_cookie(request, cookie)
        action = waits.get(_ACTION, "")
        if action != _choose_page(person, action):
            return redirect(request, _choose_page(person, waits.get(BACK, "")))
        fields = {name.removeprefix(_KEPT): text for name, text in waits.items() if name.startswith(_KEPT)}
        form_token = self._sessions.form_token(cookie)
        shown = self._pages.page(request, "send_again", person, form_token, action=action[1:], fields=fields)
        return send(request, HTML, shown.encode())

    async def _sign_out(self, request: Any) -> bytes:
        if await receive_own_form(request, self._sessions, SESSION) is None:
            return self._form(request, TOO_OLD, HTTPStatus.FORBIDDEN)
        cookie = read_cookie(request)
        person = self._sessions.who(cookie)
        self._sessions.sign_out(cookie)
        give_cookie(request, "")
        if person is not None:
            self._signed_out(person)
        return redirect(request, "/")

    def _form(
        self,
        request: Any,
        trouble: str,
        code: HTTPStatus = HTTPStatus.OK,
        waits: Mapping[str, str] = MappingProxyType({}),
    ) -> bytes:
        """Show the sign-in page.

        Args:
            request: Twisted's request.
            trouble: sentence that says what is wrong; empty if nothing is wrong.
            code: status of the answer.
            waits: hidden fields: the page to return to, or the fields of a form to send again.
        """
        form_token = visitor_token(request, self._sessions)
        request.setResponseCode(code)
        shown = self._pages.page(
            request, "sign_in", None, form_token, trouble=trouble, waits=waits, is_kept=_ACTION in waits
        )
        return send(request, HTML, shown.encode())


def _choose_page(person: Person, wanted: str) -> str:
    """Return the page that follows signing in: the wanted page, if the person's role may see it."""
    first = FIRST_PAGES[person.role]
    return wanted if _PAGE.fullmatch(wanted) and wanted.startswith(first) else first


async def receive_own_form(request: Any, sessions: Sessions, cookie: str = VISITOR) -> Form | None:
    """Return the form of a request; None unless the site has shown the form to this browser.

    Args:
        request: Twisted's request.
        sessions: sessions of everybody.
        cookie: name of the cookie that the form belongs to.
    """
    try:
        form = await receive_form(request)
    except BadForm:
        return None
    return form if sessions.is_own_form(read_cookie(request, cookie), form.text(FORM_TOKEN)) else None


def visitor_token(request: Any, sessions: Sessions) -> str:
    """Return the token for a form that is shown to somebody who is not signed in."""
    cookie = read_cookie(request, VISITOR)
    if not cookie:
        cookie = new_cookie()
        give_cookie(request, cookie, VISITOR)
    return sessions.form_token(cookie)
