"""How the site speaks HTTP: reads forms, and answers with a page, a file, a service's reply, or another address."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, unquote_to_bytes

from msgspec import Struct
from twisted.internet.defer import Deferred, succeed
from twisted.internet.threads import deferToThread
from twisted.web.http import CACHED
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.http import parse_options_header, parse_range_header
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

from ..net.links.addresses import origin_of
from ..pages.contest_page import refusal_page
from .http_messages import Reply, refusal

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".heads": "application/x-ndjson",
    ".trf": "text/plain; charset=utf-8",
    ".pgn": "application/x-chess-pgn",
    ".txt": "text/plain; charset=utf-8",
}
"""Ending -> what it is sent as."""
HTML, EVENTS = TYPES[".html"], "text/event-stream"
_PIECE_BYTES = 1 << 16
"""Of what is large, that are read at once, and that a visitor who reads slowly has us hold."""
_FOR_PROGRAMS = ([b"api"], [b"matches"], [b"submissions"])
"""First parts of the addresses at which programs ask."""
_REMEDIES = {
    HTTPStatus.BAD_REQUEST: "send a request as HTTP has it: its address in UTF-8, and the name of one host",
    HTTPStatus.INTERNAL_SERVER_ERROR: "it is not your fault: try again; if it stays so, tell the organiser",
}
_GROWING = {".heads", ".jsonl"}
"""Endings of files that lines are only added to: whoever follows them asks for what came since."""
MOST_FIELDS, MOST_FILES = 32, 20_000
"""A folder may be sent with all that is left out of it, such as what git keeps."""
_CHUNK_BYTES = 65_536
FORM_TOKEN = "form_token"  # noqa: S105  # the name of a field


def send(request: Any, content_type: str, body: bytes, *, cache: str = "no-store") -> bytes:
    """Say what an answer is, and return its body."""
    request.setHeader("Cache-Control", cache)
    request.setHeader("Content-Type", content_type)
    return body


def stream_events(request: Any, add: Callable[[Any], None]) -> Deferred[bytes]:
    """Answer with server-sent events: those of whatever the request is added to."""
    send(request, EVENTS, b"")
    if request.method == b"HEAD":
        return succeed(b"")
    add(request)
    return Deferred()  # cancelled once nobody looks on


def find_top(request: Any) -> str:
    """Return the site's first page as the page of a request sees it, to begin links with.

    All links of the site are relative: a web server in front may show it below a path of its own.
    """
    return "../" * (request.path.count(b"/") - 1) or "./"


def make_link(request: Any, address: str) -> str:
    """Return what leads from the page of a request to another one.

    Args:
        request: Twisted's.
        address: of that page, seen from the site's first page, with a slash before it.
    """
    return find_top(request) + address.removeprefix("/")


def refuse(request: Any, code: HTTPStatus, text: str = "") -> bytes:
    """Send what tells that something is not to be had: a page, or JSON at the addresses of programs.

    Args:
        request: Twisted's.
        code: that says so over HTTP.
        text: says more; empty: what the code means is told.
    """
    request.setResponseCode(code)
    if is_for_programs(request):
        remedy = _REMEDIES.get(code, "GET /api/openapi.json describes what is answered here")
        return send_reply(request, refusal(code, text.rstrip(".") or code.phrase.lower(), remedy))
    return send(request, HTML, refusal_page(code, text, find_top(request)).encode())


def refuse_method(request: Any, methods: Iterable[str]) -> bytes:
    """Answer a method that an address does not take by naming those that it takes; OPTIONS asks for just that."""
    request.setHeader("Allow", ", ".join(sorted({*methods, "OPTIONS"})))
    if request.method == b"OPTIONS":
        request.setResponseCode(HTTPStatus.NO_CONTENT)
        return b""
    return refuse(request, HTTPStatus.METHOD_NOT_ALLOWED)


def is_for_programs(request: Any) -> bool:
    """Tell whether an address is one of those at which programs ask, and are always answered in JSON."""
    return unquote_to_bytes(request.path).lstrip(b"/").split(b"/")[:1] in _FOR_PROGRAMS


def send_reply(request: Any, reply: Reply) -> bytes:
    """Send the answer of a service."""
    request.setResponseCode(reply.code)
    if reply.allow:
        request.setHeader("Allow", reply.allow)
    return send(request, reply.content_type, reply.body)


def send_file(request: Any, path: Path) -> Any:
    """Send a file, or the part of it that is asked for, unless who asks has it already."""
    send(request, TYPES[path.suffix], b"", cache="no-cache")  # asked for anew each time, and sent if it changed
    file = path.open("rb")
    status = os.fstat(file.fileno())
    is_had = request.setLastModified(status.st_mtime) is CACHED
    start, end = 0, status.st_size
    if path.suffix in _GROWING and not is_had:
        start, end = _choose_range(request, status.st_size)
    request.setHeader("Content-Length", str(end - start))
    if is_had or request.method == b"HEAD":
        file.close()
        return b""
    file.seek(start)
    return Deferred.fromCoroutine(_flow(request, file, end - start))


def _choose_range(request: Any, size: int) -> tuple[int, int]:
    """Say which part of a file is sent, and return its start and its end: from one byte to another, or all."""
    request.setHeader("Accept-Ranges", "bytes")
    asked = parse_range_header((request.getHeader(b"range") or b"").decode("latin-1"))
    if asked is None or request.method != b"GET" or request.getHeader(b"if-range") is not None:
        return 0, size
    if asked.units != "bytes" or len(asked.ranges) != 1 or asked.ranges[0][0] < 0:  # several parts, or the last bytes
        return 0, size
    part = asked.range_for_length(size)
    if part is None:
        request.setResponseCode(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
        request.setHeader("Content-Range", f"bytes */{size}")
        return 0, 0
    request.setResponseCode(HTTPStatus.PARTIAL_CONTENT)
    request.setHeader("Content-Range", asked.to_content_range_header(size))
    return part


def send_head_and_file(request: Any, head: bytes, file: BinaryIO, size: int) -> Any:
    """Send a page that begins as it was made, and goes on as a file does.

    Args:
        request: Twisted's.
        head: how the page begins.
        file: from where on it is sent; it is closed.
        size: how much of the file is sent, in bytes.
    """
    send(request, HTML, b"")
    request.setHeader("Content-Length", str(len(head) + size))
    if request.method == b"HEAD":
        file.close()
        return b""
    request.write(head)
    return Deferred.fromCoroutine(_flow(request, file, size))


def send_pieces(request: Any, content_type: str, body: bytes | memoryview, head: bytes = b"") -> Any:
    """Send what is large and kept for many visitors, part by part, so that none of them has a copy of its own.

    Args:
        request: Twisted's.
        content_type: of all of it.
        body: what is large.
        head: what is sent before it.
    """
    send(request, content_type, b"")
    request.setHeader("Content-Length", str(len(head) + len(body)))
    if request.method == b"HEAD":
        return b""
    request.write(head)
    pieces = (bytes(body[at : at + _PIECE_BYTES]) for at in range(0, len(body), _PIECE_BYTES))
    return Deferred.fromCoroutine(flow(request, pieces))


async def _flow(request: Any, file: BinaryIO, size: int) -> None:
    with file:
        pieces = (min(_PIECE_BYTES, size - at) for at in range(0, size, _PIECE_BYTES))
        await flow(request, map(file.read, pieces))


def redirect(request: Any, address: str) -> bytes:
    """Send whoever asks on to a page of this site, by GET.

    Args:
        request: Twisted's.
        address: of the page, as `make_link` takes it.
    """
    request.setResponseCode(HTTPStatus.SEE_OTHER)
    request.setHeader("Location", make_link(request, address))
    return send(request, HTML, b"")


def find_address(request: Any) -> str:
    """Return whose a request is, for what is counted by address."""
    return origin_of(str(request.getClientAddress().host))


def read_turn(request: Any) -> int | None:
    """Return the turn whose board is asked for; None: none is, or no number."""
    text = bytes((request.args.get(b"turn") or [b""])[0])
    return int(text) if re.fullmatch(rb"\d{1,9}", text) else None


async def flow(request: Any, parts: Iterator[bytes]) -> None:
    """Send parts to whoever asks, until there are no more or who asks has left.

    Args:
        request: Twisted's.
        parts: what makes them runs in threads.
    """
    gate = _Gate()
    request.registerProducer(gate, True)
    try:
        while (part := await deferToThread(next, parts, None)) is not None:
            await gate.wait()
            request.write(part)
    finally:
        if request.channel is not None:  # else it was closed
            request.unregisterProducer()


class _Gate:
    """Is shut while a connection takes no more; a push producer of Twisted's."""

    def __init__(self) -> None:
        self._is_open = True
        self._waiting: Deferred[None] | None = None

    async def wait(self) -> None:
        """Wait until it is open."""
        if not self._is_open:
            self._waiting = Deferred()
            await self._waiting

    def pauseProducing(self) -> None:
        """Shut; called by Twisted."""
        self._is_open = False

    def resumeProducing(self) -> None:
        """Open; called by Twisted."""
        self._is_open = True
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.callback(None)

    def stopProducing(self) -> None:
        """Do nothing: its request is cancelled. Called by Twisted."""


class BadForm(Exception):
    """What no browser sends for a form of this site."""


class UploadedFile(Struct, frozen=True, kw_only=True):
    """A file of a form."""

    field: str
    name: str
    """As the browser calls it; of a file in a folder that was chosen, its path from there."""
    data: bytes


class Form(Struct, frozen=True, kw_only=True):
    """A form that was sent off."""

    fields: Mapping[str, str]
    uploads: tuple[UploadedFile, ...] = ()
    """The files that were chosen."""
    has_file: bool = False
    """Whether there is a place for one."""

    def text(self, name: str) -> str:
        """Return what was written into a field, without blanks around it; empty if there is no such field."""
        return self.fields.get(name, "").strip()


def read_form(content_type: str, content: BinaryIO) -> Form:
    """Read a form.

    Args:
        content_type: of the body.
        content: the body.

    Raises:
        BadForm: it is none.
    """
    kind, options = parse_options_header(content_type)
    if kind == "multipart/form-data" and options.get("boundary"):
        return _read_multipart(options["boundary"], content)
    try:
        return Form(fields=dict(parse_qsl(content.read().decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)))
    except ValueError:
        raise BadForm from None


def _read_multipart(boundary: str, content: BinaryIO) -> Form:
    decoder = MultipartDecoder(boundary.encode(errors="replace"), max_parts=MOST_FIELDS + MOST_FILES)
    fields, uploads, into = dict[str, bytearray](), list[tuple[File, bytearray]](), bytearray()
    field_count = 0
    try:
        while not isinstance(event := decoder.next_event(), Epilogue):
            match event:
                case NeedData():
                    decoder.receive_data(content.read(_CHUNK_BYTES) or None)
                case Field(name=name):
                    field_count += 1
                    if field_count > MOST_FIELDS:
                        raise BadForm
                    into = fields.setdefault(name, bytearray())
                case File() as file:
                    into = bytearray()
                    uploads.append((file, into))
                case Data(data=data):
                    into += data
    except (ValueError, RequestEntityTooLarge):
        raise BadForm from None
    return Form(
        fields={name: text.decode(errors="replace") for name, text in fields.items()},
        uploads=tuple(
            UploadedFile(field=file.name, name=file.filename, data=bytes(data))
            for file, data in uploads
            if file.filename  # a browser sends a file without a name where none was chosen
        ),
        has_file=bool(uploads),
    )


async def receive_form(request: Any) -> Form:
    """Return the form that a request brings.

    Raises:
        BadForm: it brings none, or one that is too large.
    """
    if request.is_too_large:
        raise BadForm
    return await deferToThread(read_form, request.content_type, request.content)
