"""How the site answers: with a page, a file, a service's reply, or another address."""

import os
import re
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO

from twisted.internet.defer import Deferred
from twisted.web.http import CACHED

from ..net.http_messages import Reply
from .flow import flow
from .published import TYPES

HTML = TYPES[".html"]
_PIECE_BYTES = 1 << 18
"""Of a file, that are read at once."""


def sent(request: Any, content_type: str, body: bytes, *, cache: str = "no-store") -> bytes:
    """Say what an answer is, and return its body."""
    request.setHeader("Cache-Control", cache)
    request.setHeader("Content-Type", content_type)
    return body


def replied(request: Any, reply: Reply) -> bytes:
    """Send the answer of a service."""
    request.setResponseCode(reply.code)
    return sent(request, reply.content_type, reply.body)


def sent_file(request: Any, path: Path) -> Any:
    """Send a file, unless who asks has it already."""
    sent(request, TYPES[path.suffix], b"", cache="no-cache")  # asked for anew each time, and sent if it changed
    file = path.open("rb")
    status = os.fstat(file.fileno())
    request.setHeader("Content-Length", str(status.st_size))
    if request.setLastModified(status.st_mtime) is CACHED or request.method == b"HEAD":
        file.close()
        return b""
    return Deferred.fromCoroutine(_flow(request, file))


async def _flow(request: Any, file: BinaryIO) -> None:
    with file:
        await flow(request, iter(partial(file.read, _PIECE_BYTES), b""))


def sent_on(request: Any, address: str) -> bytes:
    """Send whoever asks on to a page of this site, by GET."""
    request.setResponseCode(HTTPStatus.SEE_OTHER)
    request.setHeader("Location", address)
    return sent(request, HTML, b"")


def hides_results(request: Any) -> bool:
    """Tell whether who asks wants to see no result before asking for it."""
    return b"no" in request.args.get(b"spoilers", ())


def turn_of(request: Any) -> int | None:
    """Return the turn whose board is asked for; None: none is, or no number."""
    text = bytes((request.args.get(b"turn") or [b""])[0])
    return int(text) if re.fullmatch(rb"\d{1,9}", text) else None
