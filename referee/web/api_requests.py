"""The addresses that only programs ask, with a token in each request: what they send, and what they are answered.

No cookie counts here, so that no page elsewhere can have a browser ask in somebody's name.
"""

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from klein import Klein
from msgspec import Struct

from ..errors import RefereeError, RemediableError
from ..net.http_messages import JSON, Reply, bearer_of, refusal
from .answers import replied
from .rate_limit import RateLimit, TooOften
from .sessions import Person, Sessions, SiteRole
from .submissions.api import REQUESTS_A_MINUTE

T = TypeVar("T")
Answer = Callable[..., Awaitable[Struct]]
"""Returns what somebody is answered; takes who asks, the request, and the parts of the address. What is refused is a
RefereeError."""
AUTHOR, ORGANISER = (SiteRole.AUTHOR,), (SiteRole.ORGANISER,)


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
                return replied(request, _refused(error))
            return replied(request, Reply(body=msgspec.json.encode(found)))

    def _person(self, request: Any, roles: Sequence[SiteRole]) -> Person:
        """Return who asks.

        Raises:
            RequestRefused: nobody of these roles.
            TooOften: that somebody asks.
        """
        person = self._sessions.named(bearer_of(request.requestHeaders) or "")
        if person is None or person.role not in roles:
            text = f"no token of an {' or '.join(roles)}"
            raise RequestRefused(HTTPStatus.UNAUTHORIZED, text, "send it: Authorization: Bearer TOKEN")
        self._requests.count(f"{person.role} {person.name}")
        return person


def _refused(error: RefereeError) -> Reply:
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
