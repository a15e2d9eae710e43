"""Whose bodies of requests are kept, and how much of them: decided before the first byte of one comes."""

from typing import Any

from msgspec import Struct

from ..net.http_messages import bearer_of
from ..net.links.origin_limits import OriginLimiter
from .guarded_routes import cookie_of
from .sessions import Sessions, SiteRole
from .submissions.archive import MAX_PACKED_BYTES
from .submissions.authors import Authors

FORM_BYTES = 16_384
"""Of a form that has no file: a reason for a ruling is the longest text in it."""
UPLOADS_OF_PERSON, UPLOADS = 4, 64
"""At a time; each may lie on the disk while it comes."""


class BodyLimit(Struct, frozen=True):
    """How much of a body may come."""

    kept: int = 0
    """Of one that is longer, nothing is kept, and who sent it is told so."""
    dropped: int = 65_536
    """Whoever sends more than that in vain is cut."""


NO_BODY = BodyLimit()
_FORM = BodyLimit(FORM_BYTES)
_UPLOAD = BodyLimit(MAX_PACKED_BYTES + FORM_BYTES, 4 * MAX_PACKED_BYTES)
_NO_UPLOAD = BodyLimit(0, MAX_PACKED_BYTES)
"""A client hears that its token is wrong only once all that it sends was taken from it."""


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
                person = self._sessions.who(cookie_of(request))
                author = person.name if person is not None and person.role is SiteRole.AUTHOR else None
            case "POST", _:
                return _FORM
            case "PUT", "/submissions":
                author = self._authors.named(bearer_of(request.requestHeaders))
            case _:
                return NO_BODY
        return _NO_UPLOAD if author is None else self._counted(request, author)

    def _counted(self, request: Any, author: str) -> BodyLimit:
        oldest = self._uploads.add(request, author)
        if oldest is not None:
            oldest.channel.abortConnection()
        request.notifyFinish().addBoth(lambda _: self._uploads.discard(request))
        return _UPLOAD
