"""The addresses of the contest's site, and what stands behind each."""

import os
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from klein import Klein
from msgspec import Struct
from twisted.internet.defer import Deferred
from twisted.protocols.basic import FileSender
from twisted.web.http import CACHED
from werkzeug.exceptions import HTTPException

from ..net.http_messages import JSON
from .cards import ContestCard
from .event_streams import EventStreams
from .published import TYPES, find_published
from .visitors import Visitors

HTML = TYPES[".html"]


class SiteContent(Struct, frozen=True, kw_only=True):
    """What the site shows."""

    card: Callable[[], ContestCard]
    """Returns how the contest stands."""
    home: Callable[[], str]
    """Returns the first page."""
    refused: Callable[[HTTPStatus], str]
    """Returns the page for what is not there, or not to be had."""
    folders: Mapping[str, Path]
    """Tournament -> folder of its records."""
    is_over: Callable[[str], bool]
    """Tells of a tournament whether it is."""
    public_key: bytes
    """As a PEM file: verifies the records."""
    streams: EventStreams


def site_of(content: SiteContent, reactor: Any) -> Visitors:
    """Return what answers visitors.

    Args:
        content: what they are shown.
        reactor: Twisted's.
    """
    return Visitors(_routes(content).resource(), reactor)


def _routes(content: SiteContent) -> Klein:
    app = Klein()

    @app.route("/", methods=["GET", "HEAD"])
    def _home(request: Any) -> bytes:
        return _sent(request, HTML, content.home().encode())

    @app.route("/api/contest", methods=["GET", "HEAD"])
    def _contest(request: Any) -> bytes:
        return _sent(request, JSON, msgspec.json.encode(content.card()))

    @app.route("/api/events", methods=["GET"])
    def _events(request: Any) -> Deferred[None]:
        _sent(request, "text/event-stream", b"")
        content.streams.add(request)
        return Deferred()  # cancelled once nobody looks on

    @app.route("/key.pem", methods=["GET", "HEAD"])
    def _key(request: Any) -> bytes:
        return _sent(request, "application/x-pem-file", content.public_key)

    @app.route("/tournaments/<name>/<path:rest>", methods=["GET", "HEAD"])
    def _file(request: Any, name: str, rest: str) -> Any:
        folder = content.folders.get(name)
        path = None if folder is None else find_published(folder, rest, is_over=content.is_over(name))
        if path is None:
            return _refused(request, HTTPStatus.NOT_FOUND)
        return _sent_file(request, path)

    @app.handle_errors(HTTPException)
    def _error(request: Any, failure: Any) -> bytes:
        return _refused(request, HTTPStatus(failure.value.code or HTTPStatus.NOT_FOUND))

    def _refused(request: Any, code: HTTPStatus) -> bytes:
        request.setResponseCode(code)
        return _sent(request, HTML, content.refused(code).encode())

    return app


def _sent_file(request: Any, path: Path) -> Any:
    """Send a file, unless who asks has it already."""
    _sent(request, TYPES[path.suffix], b"", cache="no-cache")  # asked for anew each time, and sent if it changed
    file = path.open("rb")
    status = os.fstat(file.fileno())
    request.setHeader("Content-Length", str(status.st_size))
    if request.setLastModified(status.st_mtime) is CACHED or request.method == b"HEAD":
        file.close()
        return b""
    return FileSender().beginFileTransfer(file, request).addBoth(lambda _: file.close())


def _sent(request: Any, content_type: str, body: bytes, *, cache: str = "no-store") -> bytes:
    """Say what an answer is, and return its body."""
    request.setHeader("Cache-Control", cache)
    request.setHeader("Content-Type", content_type)
    return body
