"""Lets visitors sign up as authors: the rules for names, and the addresses for people and programs."""

# Names that look alike count as the same name. Otherwise somebody could sign up as `ada-l` next to `ada-1`, and readers
# of the standings could confuse the two.
#
# The new token is shown once, and the server stores only its hash. A lost token can't be looked up: the organiser
# replaces it.

import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import msgspec
from klein import Klein
from msgspec import Struct
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThread

from protocol.limits import NAME_FORM, NAME_PATTERN

from ..net.links.tokens import BadTokens, add_tokens
from ..plugins import installed
from .contest.contest_file import Contest
from .contest.intake import Intake
from .contest_json import SignUp
from .guarded_routes import MemberPages, give_cookie, read_cookie, read_request
from .http import HTML, JSON, RequestRefused, find_address, refusal, send, send_reply
from .rate_limit import HOUR_S, RateLimit, TooOften
from .sessions import Person, Sessions, SiteRole
from .signing_in import TOO_OLD, receive_own_form, visitor_token

MOST_AUTHORS = 1000
"""Most authors for which visitors may still sign up; organisers may add more."""
_ALIKE = str.maketrans("01i-", "oll_")
"""Character -> the character that replaces it, the same for all characters that look alike."""
SIGN_UP, SIGN_UP_API = "/sign-up", "/api/sign-up"
NEW_OF_ADDRESS = 300
"""Most new authors an hour from one address: several classes may sign up from the same address in one lesson."""
REFUSED_OF_ADDRESS = 60
"""Most refused names and invitations a minute from one address. Valid ones are still accepted after that, because other
people may share the address."""


class NewAuthors:
    """Makes authors of visitors who sign up.

    Args:
        contest: settings of the contest.
        intake: files of the people who may sign in.
    """

    def __init__(self, contest: Contest, intake: Intake) -> None:
        self.mode = contest.sign_up
        self._contest = contest
        self._intake = intake

    def sign_up(self, name: str, invitation: str) -> str:
        """Make an author, and return its token; called in a thread, for one visitor at a time.

        Args:
            name: name, as the visitor sent it.
            invitation: invitation code, as the visitor sent it; empty if there is none.

        Raises:
            RequestRefused: nobody may sign up now, or the name or the invitation is refused.
        """
        invited = self._check_invitation(invitation)
        if not re.match(NAME_PATTERN, name):
            raise RequestRefused(HTTPStatus.CONFLICT, "that is not a valid name", f"a name is {NAME_FORM}")
        if _fold(name) in set(map(_fold, self._list_names())):
            text = "this name, or one that looks like it, is taken"
            raise RequestRefused(HTTPStatus.CONFLICT, text, "choose another name; if it is yours, ask the organiser")
        if len(self._intake.authors.names()) >= MOST_AUTHORS:
            text = f"there are {MOST_AUTHORS} authors, and no more may sign up"
            raise RequestRefused(HTTPStatus.CONFLICT, text, "ask the organiser for a token")
        try:
            token = add_tokens(self._intake.authors_file, [name], may_renew=False)[name]
        except BadTokens:  # the organiser has just added this name, or has broken the file
            text = "you could not be added to the authors"
            raise RequestRefused(HTTPStatus.CONFLICT, text, "ask the organiser for a token") from None
        self._intake.actions.add(name, "sign up", f"as an author{invited}")
        return token

    def _check_invitation(self, invitation: str) -> str:
        """Check the invitation, and return words for the log that name the inviter."""
        if self.mode is SignUp.OPEN:
            return ""
        if self.mode is SignUp.CLOSED:
            text = "nobody can sign up for this contest"
            raise RequestRefused(HTTPStatus.FORBIDDEN, text, "ask the organiser for a token")
        inviter = self._intake.invitations.find_name(invitation)
        if inviter is None:
            text = "that is not a valid invitation code"
            raise RequestRefused(
                HTTPStatus.FORBIDDEN, text, "ask the organiser for a code; it has letters and digits only"
            )
        return f", by the invitation {inviter}"

    def _list_names(self) -> Iterator[str]:
        """Yield the names that are taken: those of people, of programs, and of former authors."""
        yield from self._intake.authors.names()
        yield from self._intake.organisers.names()
        yield from self._intake.store.authors()
        yield from installed().players
        for scheduled in self._contest.tournaments:
            yield from (entrant.name for entrant in scheduled.plan.spec.entrants)


def _fold(name: str) -> str:
    """Return a form of a name that is the same for all names that look alike."""
    return name.casefold().translate(_ALIKE)


class NewAuthor(Struct, frozen=True, kw_only=True):
    """A person who has just become an author."""

    name: str
    token: str


class SignUpRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A visitor's request to become an author."""

    name: str
    invitation: str = ""
    """Invitation code, if the contest requires one."""


class SigningUp:
    """Answers visitors who sign up.

    Args:
        service: makes authors.
        sessions: sessions of everybody; signing up in a browser also signs in.
        pages: renders the sign-up page.
        now: returns monotonic seconds.
    """

    def __init__(self, service: NewAuthors, sessions: Sessions, pages: MemberPages, now: Callable[[], float]) -> None:
        self._service = service
        self._sessions = sessions
        self._pages = pages
        self._new = RateLimit("new authors from your address", NEW_OF_ADDRESS, now, HOUR_S)
        self._refused = RateLimit("refused names from your address", REFUSED_OF_ADDRESS, now)
        self._turns = DeferredLock()

    def register(self, app: Klein) -> None:
        """Register the addresses."""
        app.route(SIGN_UP, methods=["GET", "HEAD"], endpoint=f"GET {SIGN_UP}")(self._page)
        app.route(SIGN_UP, methods=["POST"], endpoint=f"POST {SIGN_UP}")(self._sign_up)
        app.route(SIGN_UP_API, methods=["POST"])(self._sign_up_program)

    async def _sign_up(self, request: Any) -> bytes:
        form = await receive_own_form(request, self._sessions)
        if form is None:
            request.setResponseCode(HTTPStatus.FORBIDDEN)
            return self._page(request, trouble=TOO_OLD)
        wish = SignUpRequest(name=form.text("name"), invitation=form.text("invitation"))
        try:
            author = await self._make_author(request, wish)
        except RequestRefused as error:
            request.setResponseCode(error.code)
            return self._page(request, trouble=f"{error}.", wish=wish)
        self._sessions.sign_out(read_cookie(request))
        cookie = self._sessions.sign_in(author.token, find_address(request)) or ""
        give_cookie(request, cookie)
        return self._page(request, author=author, cookie=cookie)

    async def _sign_up_program(self, request: Any) -> bytes:
        try:
            author = await self._make_author(request, read_request(request, SignUpRequest))
        except RequestRefused as error:
            return send_reply(request, refusal(error.code, error.what, error.remedy))
        request.setResponseCode(HTTPStatus.CREATED)
        return send(request, JSON, msgspec.json.encode(author))

    async def _make_author(self, request: Any, wish: SignUpRequest) -> NewAuthor:
        """Make an author.

        Raises:
            RequestRefused: the address has sent too many requests, or NewAuthors refuses the name or the invitation.
        """
        address = find_address(request)
        try:
            token = await self._turns.run(self._count_and_make, address, wish)
        except TooOften as error:
            raise RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, error.what, error.remedy) from None
        return NewAuthor(name=wish.name, token=token)

    async def _count_and_make(self, address: str, wish: SignUpRequest) -> str:
        """Make an author, and return its token; called for one request at a time.

        While a request is being processed, it counts as a new author; after a refusal, it no longer does. If waiting
        requests also counted, hundreds of invalid requests would exclude valid ones from the same address.

        Raises:
            TooOften: the address has made too many authors, or has had too many refusals.
            RequestRefused: NewAuthors refuses the name or the invitation.
        """
        self._new.count(address)
        try:
            return await deferToThread(self._service.sign_up, wish.name, wish.invitation)
        except RequestRefused:
            self._new.charge(address, -1)
            self._refused.count(address)
            raise

    def _page(
        self,
        request: Any,
        *,
        trouble: str = "",
        wish: SignUpRequest | None = None,
        author: NewAuthor | None = None,
        cookie: str | None = None,
    ) -> bytes:
        shown = {"mode": self._service.mode, "trouble": trouble, "wish": wish, "author": author}
        person = None if author is None else Person(SiteRole.AUTHOR, author.name)
        token = visitor_token(request, self._sessions) if cookie is None else self._sessions.form_token(cookie)
        page = self._pages.page(request, "sign_up", person, token, **shown)
        return send(request, HTML, page.encode())
