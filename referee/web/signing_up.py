"""The addresses at which somebody becomes an author: a page, and the same for programs."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Protocol

import msgspec
from klein import Klein
from msgspec import Struct
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThread

from .cards import SignUp
from .guarded_routes import MemberPages, RequestRefused, cookie_of, give_cookie, read_request
from .http import HTML, address_of, replied, sent
from .http_messages import JSON, refusal
from .rate_limit import HOUR_S, RateLimit, TooOften
from .sessions import Sessions
from .signing_in import TOO_OLD, own_form, visitor_token

SIGN_UP, SIGN_UP_API = "/sign-up", "/api/sign-up"
NEW_OF_ADDRESS = 300
"""Authors, an hour: classes behind one address sign up in one lesson, and nobody takes all names there are at once."""
REFUSED_OF_ADDRESS = 60
"""Names and invitations that were not taken, a minute. What is right is taken all the same: somebody who sends nothing
else may sit behind the same address."""


class NewAuthor(Struct, frozen=True, kw_only=True):
    """Somebody who has just become an author."""

    name: str
    token: str


class SignUpRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What somebody sends who wants to become an author."""

    name: str
    invitation: str = ""
    """The code, where one is asked for."""


class SignUpService(Protocol):
    """Makes authors."""

    @property
    def mode(self) -> SignUp:
        """Who may become one."""

    def sign_up(self, name: str, invitation: str) -> str:
        """Make an author, and return its token; called in a thread, by one at a time.

        Args:
            name: that the author is to have.
            invitation: as it came; empty: none did.

        Raises:
            RequestRefused: nobody may now, or not with this name or invitation.
        """


class SigningUp:
    """Lets people become authors.

    Args:
        sessions: of everybody; who signs up in a browser is signed in.
        now: monotonic seconds.
    """

    def __init__(
        self, service: SignUpService, sessions: Sessions, pages: MemberPages, now: Callable[[], float]
    ) -> None:
        self._service = service
        self._sessions = sessions
        self._pages = pages
        self._new = RateLimit("new authors from your address", NEW_OF_ADDRESS, now, HOUR_S)
        self._refused = RateLimit("names that were not taken from your address", REFUSED_OF_ADDRESS, now)
        self._one = DeferredLock()

    def register(self, app: Klein) -> None:
        """Register the addresses."""
        app.route(SIGN_UP, methods=["GET", "HEAD"], endpoint=f"GET {SIGN_UP}")(self._page)
        app.route(SIGN_UP, methods=["POST"], endpoint=f"POST {SIGN_UP}")(self._sign_up)
        app.route(SIGN_UP_API, methods=["POST"])(self._sign_up_program)

    async def _sign_up(self, request: Any) -> bytes:
        form = await own_form(request, self._sessions)
        if form is None:
            request.setResponseCode(HTTPStatus.FORBIDDEN)
            return self._page(request, trouble=TOO_OLD)
        asked = SignUpRequest(name=form.text("name"), invitation=form.text("invitation"))
        try:
            author = await self._made(request, asked)
        except RequestRefused as error:
            request.setResponseCode(error.code)
            return self._page(request, trouble=f"{error}.", asked=asked)
        self._sessions.sign_out(cookie_of(request))
        give_cookie(request, self._sessions.sign_in(author.token, address_of(request)) or "")
        return self._page(request, author=author)

    async def _sign_up_program(self, request: Any) -> bytes:
        try:
            author = await self._made(request, read_request(request, SignUpRequest))
        except RequestRefused as error:
            return replied(request, refusal(error.code, error.what, error.remedy))
        request.setResponseCode(HTTPStatus.CREATED)
        return sent(request, JSON, msgspec.json.encode(author))

    async def _made(self, request: Any, asked: SignUpRequest) -> NewAuthor:
        """Make an author.

        Raises:
            RequestRefused: there were too many tries, or as the service has it.
        """
        address = address_of(request)
        try:
            self._new.count(address)
            try:
                token = await self._one.run(deferToThread, self._service.sign_up, asked.name, asked.invitation)
            except RequestRefused:
                self._new.charge(address, -1)
                self._refused.count(address)
                raise
        except TooOften as error:
            raise RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, error.what, error.remedy) from None
        return NewAuthor(name=asked.name, token=token)

    def _page(
        self, request: Any, *, trouble: str = "", asked: SignUpRequest | None = None, author: NewAuthor | None = None
    ) -> bytes:
        shown = {"mode": self._service.mode, "trouble": trouble, "asked": asked, "author": author}
        page = self._pages.page(request, "sign_up", "", visitor_token(request, self._sessions), **shown)
        return sent(request, HTML, page.encode())
