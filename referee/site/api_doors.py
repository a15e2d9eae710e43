"""The addresses that only programs ask, with a token in each request: who asks is known before anything is done.

No cookie counts here, so that no page elsewhere can have a browser ask in somebody's name.
"""

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from klein import Klein
from msgspec import Struct

from ..errors import RefereeError, RemediableError
from ..net.http_messages import Reply, bearer_of, refusal
from ..submissions.api import REQUESTS_A_MINUTE
from ..submissions.authors import Pace, TooOften
from .answers import replied
from .api_requests import RequestRefused
from .sessions import Person, Sessions, SiteRole

Answer = Callable[..., Awaitable[Struct]]
"""Returns what somebody is answered; takes who asks, the request, and the parts of the address. What is refused is a
RefereeError."""
AUTHOR, ORGANISER = (SiteRole.AUTHOR,), (SiteRole.ORGANISER,)


class ApiDoors:
    """Registers addresses, each for some roles.

    Args:
        app: what they are registered with.
        sessions: tells whose a token is.
        now: monotonic seconds.
    """

    def __init__(self, app: Klein, sessions: Sessions, now: Callable[[], float]) -> None:
        self._app = app
        self._sessions = sessions
        self._requests = Pace("requests", REQUESTS_A_MINUTE, now)

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
