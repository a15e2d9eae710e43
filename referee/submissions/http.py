"""The service that authors hand their programs in to, over HTTP: who is let in. What is answered is api.py's affair."""

from http import HTTPStatus
from typing import Any

from ..clock import Port
from ..net.http_messages import Head, Reply, refusal
from ..net.http_server import HttpServer, Limits
from ..net.links.addresses import listen
from ..observers import Note
from .api import AuthorApi, Authors
from .archive import MAX_PACKED_BYTES, MIB

LIMITS = Limits(head_s=10.0, silence_s=20.0, request_s=300.0, strangers=64, of_address=16, known=256, of_client=8)
"""A class hands in at the last minute; each may hold the largest archive, on disk while it comes: at 64 KiB/s it takes
the whole time, as a long record does that is explained in a queue. Who sends no token is no author, and has 10 s."""


class SubmissionsService:
    """Lets authors in to the api, and nobody else.

    Args:
        api: answers.
        authors: who may ask.
    """

    def __init__(self, api: AuthorApi, authors: Authors) -> None:
        self.answer = api.answer
        self._authors = authors

    def announced(self, head: Head) -> str | Reply:
        """Return which author asks; or why that is refused, before the body is read."""
        author = self._authors.named(head.token)
        if author is None:
            remedy = "send the token that the organiser gave you: Authorization: Bearer TOKEN"
            return refusal(HTTPStatus.UNAUTHORIZED, "no token, or none that is known", remedy)
        if head.length is None:
            return refusal(HTTPStatus.LENGTH_REQUIRED, "the body's length is not announced", "send a Content-Length")
        if head.length > MAX_PACKED_BYTES:
            remedy = f"an archive may have {MAX_PACKED_BYTES // MIB} MiB; leave out what the program does not need"
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is {head.length} bytes long", remedy)
        return author


async def open_service(reactor: Any, address: str, api: AuthorApi, authors: Authors, note: Note) -> Port:
    """Open the service.

    Args:
        reactor: Twisted's reactor.
        address: Twisted endpoint string.
        api: answers.
        authors: who may ask.
        note: takes note of what goes wrong.

    Raises:
        AddressError: the address can't be listened on.
    """
    return await listen(reactor, address, HttpServer(SubmissionsService(api, authors), LIMITS, note, reactor))
