"""The site's part of HTTP: reads forms and tokens, and answers with pages, files, JSON, events or redirects."""

# Forms are parsed here, not by Twisted. Twisted would read a whole upload into memory on the reactor's thread as soon
# as it has arrived. Werkzeug's decoder works piece by piece, so it can run in a thread and stop at a limit.
#
# Large answers are sent in pieces, and only as fast as the visitor reads (`flow`). So a visitor who reads nothing takes
# the memory of one piece, however large the answer is. The threads that read the files also compress them, piece by
# piece. Only answers that are the same for everybody are compressed. Otherwise the length of a page that repeats a
# visitor's words next to a form token could reveal the token (the BREACH attack).
#
# All links are relative (`find_top`), because the organiser may show the site below a path of another web server. So no
# answer depends on the Host header, which a visitor can choose.

import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from msgspec import Struct
from twisted.internet.defer import Deferred, succeed
from twisted.internet.threads import deferToThread
from twisted.web.http import CACHED
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.http import parse_accept_header, parse_options_header, parse_range_header
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

from ..errors import RemediableError
from ..net.links.addresses import find_origin
from ..pages.contest_page import refusal_page

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".heads": "application/x-ndjson",
    ".trf": "text/plain; charset=utf-8",
    ".pgn": "application/x-chess-pgn",
    ".txt": "text/plain; charset=utf-8",
}
"""File ending -> media type."""
HTML, JSON, EVENTS = TYPES[".html"], TYPES[".json"], "text/event-stream"
LINES, PLAIN_TEXT = TYPES[".jsonl"], TYPES[".txt"]
MOST_FIELDS, MOST_FILES = 32, 20_000
"""Most fields and files of a form. A browser sends a whole folder, with files that are then left out, such as .git."""
FORM_TOKEN = "form_token"  # noqa: S105  # the name of a field
_PIECE_BYTES = 1 << 16
"""Bytes of a large answer that are read at once. A slow visitor never takes more memory than this."""
_CHUNK_BYTES = 65_536
_FOR_PROGRAMS = ([b"api"], [b"matches"], [b"submissions"])
"""First parts of the addresses for programs."""
_REMEDIES = {
    HTTPStatus.BAD_REQUEST: "send a well-formed request: an address in UTF-8, and the name of one host",
    HTTPStatus.INTERNAL_SERVER_ERROR: "try again; if it happens again, ask the organiser",
}
_LEVEL = 4
"""Level of compression. Higher levels take up to twice as long, and save only a tenth of the bytes."""
_GZIP = 16 + zlib.MAX_WBITS
"""Value of zlib's `wbits` for a stream in the gzip format."""
_GROWING = {".heads", ".jsonl"}
"""Endings of files that only grow. A client that follows such a file requests only the new bytes."""


# --- what a service answers


class Reply(Struct, frozen=True, kw_only=True):
    """An answer to a program."""

    code: HTTPStatus = HTTPStatus.OK
    body: bytes
    content_type: str = JSON


class RequestRefused(RemediableError):
    """The refusal of a request, with the HTTP status of the answer.

    Args:
        code: status of the answer.
        what: what is wrong.
        remedy: what to do about it.
    """

    def __init__(self, code: HTTPStatus, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.code = code


def refusal(code: HTTPStatus, error: str, remedy: str) -> Reply:
    """Return an answer that says what is wrong and what to do."""
    return Reply(code=code, body=msgspec.json.encode({"error": error, "remedy": remedy}))


def send_reply(request: Any, reply: Reply) -> bytes:
    """Send the answer to a program."""
    request.setResponseCode(reply.code)
    return send(request, reply.content_type, reply.body)


def read_bearer(headers: Any) -> str | None:
    """Return the token of a request's Authorization header; None if there is no such header, or several.

    Args:
        headers: Twisted's headers of the request.
    """
    values = headers.getRawHeaders(b"authorization") or []
    kind, _, token = (values[0] if len(values) == 1 else b"").decode("latin-1").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


# --- sending


def send(request: Any, content_type: str, body: bytes, *, cache: str = "no-store") -> bytes:
    """Set the headers of an answer, and return its body."""
    request.setHeader("Cache-Control", cache)
    request.setHeader("Content-Type", content_type)
    return body


def stream_events(request: Any, add: Callable[[Any], None]) -> Deferred[bytes]:
    """Answer with server-sent events; `add` subscribes the request to them."""
    send(request, EVENTS, b"")
    if request.method == b"HEAD":
        return succeed(b"")
    add(request)
    return Deferred()  # Klein cancels it when the visitor leaves


def find_top(request: Any) -> str:
    """Return the relative path from the page of a request to the site's first page.

    All links of the site are relative, because a web server in front may show the site below a path of its own.
    """
    return "../" * (request.path.count(b"/") - 1) or "./"


def make_link(request: Any, address: str) -> str:
    """Return a relative link from the page of a request to another page.

    Args:
        request: Twisted's request.
        address: path of the other page from the site's first page, with a leading slash.
    """
    return find_top(request) + address.removeprefix("/")


def refuse(request: Any, code: HTTPStatus, text: str = "") -> bytes:
    """Send a refusal: a page, or JSON at an address for programs.

    Args:
        request: Twisted's request.
        code: status of the answer.
        text: sentence that says more; empty: the meaning of the status.
    """
    request.setResponseCode(code)
    if is_for_programs(request):
        remedy = _REMEDIES.get(code, "GET /api/openapi.json describes the addresses for programs")
        return send_reply(request, refusal(code, text.rstrip(".") or code.phrase.lower(), remedy))
    return send(request, HTML, refusal_page(code, text, find_top(request)).encode())


def refuse_method(request: Any, methods: Iterable[str]) -> bytes:
    """Refuse a method that an address does not support, and list the supported ones; to OPTIONS, send only the list."""
    request.setHeader("Allow", ", ".join(sorted({*methods, "OPTIONS"})))
    if request.method == b"OPTIONS":
        request.setResponseCode(HTTPStatus.NO_CONTENT)
        return b""
    return refuse(request, HTTPStatus.METHOD_NOT_ALLOWED)


def is_for_programs(request: Any) -> bool:
    """Return whether an address is for programs; every answer there is JSON."""
    return unquote_to_bytes(request.path).lstrip(b"/").split(b"/")[:1] in _FOR_PROGRAMS


def send_unchanging(request: Any, content_type: str, body: bytes, *, cache: str = "no-cache") -> bytes:
    """Send an answer that is the same for everybody, compressed, unless the visitor has the current one cached."""
    is_packed = may_compress(request)
    send(request, content_type, b"", cache=cache)
    if is_cached(request, hashlib.sha256(body).hexdigest()[:16], is_packed=is_packed):
        return b""
    return b"".join(compress([body])) if is_packed else body


def send_file(request: Any, path: Path, begin: Callable[[bytes], bytes] | None = None) -> Any:
    """Send a file, or the requested range of it, unless the visitor has the current one cached.

    Args:
        request: Twisted's request.
        path: the file.
        begin: changes the beginning of the file for the answer; None: the file is sent as it is.
    """
    send(request, TYPES[path.suffix], b"", cache="no-cache")  # browsers revalidate it each time
    file = path.open("rb")
    status = os.fstat(file.fileno())
    is_growing = path.suffix in _GROWING
    is_packed = not (is_growing and request.requestHeaders.hasHeader(b"range")) and may_compress(request)
    version = f"{status.st_mtime_ns:x}-{status.st_size:x}"
    is_known = is_cached(request, version, is_packed=is_packed, changed_at=status.st_mtime)
    if is_known:
        file.close()
        return b""
    start, end = _choose_range(request, status.st_size) if is_growing else (0, status.st_size)
    file.seek(start)
    old = b"" if begin is None else file.read(_PIECE_BYTES)
    head = old if begin is None else begin(old)
    return _send_opened(request, head, file, end - start - len(old), is_packed=is_packed)


def may_compress(request: Any) -> bool:
    """Return whether the visitor accepts gzip, and set the headers that announce compression to caches."""
    accepted = parse_accept_header((request.getHeader(b"accept-encoding") or b"").decode("latin-1"))
    is_packed = accepted.quality("gzip") > 0
    request.setHeader("Vary", "Accept-Encoding")
    if is_packed:
        request.setHeader("Content-Encoding", "gzip")
    return is_packed


def is_cached(request: Any, version: str, *, is_packed: bool, changed_at: float | None = None) -> bool:
    """Announce the version of an answer, and return whether the visitor has it.

    Args:
        request: Twisted's request.
        version: changes whenever the answer changes.
        is_packed: whether the answer is compressed; the ETag of an uncompressed answer differs.
        changed_at: time of the last change, in seconds of the Unix epoch; None if it is not known.
    """
    if request.requestHeaders.hasHeader(b"if-none-match"):  # an ETag is exact, but a time only to the second
        request.requestHeaders.removeHeader(b"if-modified-since")
    is_same = request.setETag(f'"{version}{"-gzip" if is_packed else ""}"'.encode()) is CACHED
    is_older = changed_at is not None and request.setLastModified(changed_at) is CACHED
    return is_same or is_older


def compress(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of an answer, compressed with gzip; only a few parts are in memory at once."""
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    for part in parts:
        if packed := packer.compress(part):
            yield packed
    yield packer.flush()


def _choose_range(request: Any, size: int) -> tuple[int, int]:
    """Announce the range of a file to send, and return the positions of its first byte and after its last byte."""
    request.setHeader("Accept-Ranges", "bytes")
    wanted = parse_range_header((request.getHeader(b"range") or b"").decode("latin-1"))
    if wanted is None or request.method != b"GET" or request.getHeader(b"if-range") is not None:
        return 0, size
    # A request for several ranges, or for a range from the end, gets the whole file: no client of ours sends one.
    if wanted.units != "bytes" or len(wanted.ranges) != 1 or wanted.ranges[0][0] < 0:
        return 0, size
    part = wanted.range_for_length(size)
    if part is None:
        request.setResponseCode(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
        request.setHeader("Content-Range", f"bytes */{size}")
        return 0, 0
    request.setResponseCode(HTTPStatus.PARTIAL_CONTENT)
    request.setHeader("Content-Range", wanted.to_content_range_header(size))
    return part


def send_head_and_file(request: Any, head: bytes, file: BinaryIO, size: int) -> Any:
    """Send a page whose beginning was made for this visitor and whose rest comes from a file.

    Args:
        request: Twisted's request.
        head: beginning of the page.
        file: open file, at the position where the rest begins; closed at the end.
        size: number of bytes of the file to send.
    """
    send(request, HTML, b"")
    return _send_opened(request, head, file, size, is_packed=may_compress(request))


def _send_opened(request: Any, head: bytes, file: BinaryIO, size: int, *, is_packed: bool) -> Any:
    if not is_packed:
        request.setHeader("Content-Length", str(len(head) + size))
    if request.method == b"HEAD":
        file.close()
        return b""
    return Deferred.fromCoroutine(_flow(request, file, size, head, is_packed=is_packed))


def send_pieces(
    request: Any, content_type: str, body: bytes | memoryview, head: bytes = b"", *, cache: str = "no-store"
) -> Any:
    """Send a large body piece by piece. Many visitors share one body in memory; it is never copied as a whole.

    Args:
        request: Twisted's request.
        content_type: media type of the answer.
        body: large body.
        head: bytes to send before the body.
        cache: value of the Cache-Control header.
    """
    send(request, content_type, b"", cache=cache)
    request.setHeader("Content-Length", str(len(head) + len(body)))
    if request.method == b"HEAD":
        return b""
    request.write(head)
    pieces = (bytes(body[at : at + _PIECE_BYTES]) for at in range(0, len(body), _PIECE_BYTES))
    return Deferred.fromCoroutine(flow(request, pieces))


async def _flow(request: Any, file: BinaryIO, size: int, head: bytes = b"", *, is_packed: bool = False) -> None:
    with file:
        read = map(file.read, (min(_PIECE_BYTES, size - at) for at in range(0, size, _PIECE_BYTES)))
        pieces = chain([head] if head else (), read)
        await flow(request, compress(pieces) if is_packed else pieces)


def redirect(request: Any, address: str) -> bytes:
    """Redirect the visitor to a page of this site, by GET.

    Args:
        request: Twisted's request.
        address: path of the page, as for `make_link`.
    """
    request.setResponseCode(HTTPStatus.SEE_OTHER)
    request.setHeader("Location", make_link(request, address))
    return send(request, HTML, b"")


def find_address(request: Any) -> str:
    """Return the origin of a request, for which limits count requests: an address, or an IPv6 network."""
    return find_origin(str(request.getClientAddress().host))


def read_turn(request: Any) -> int | None:
    """Return the turn in the query of a request; None if the field is missing or not a number."""
    text = bytes((request.args.get(b"turn") or [b""])[0])
    return int(text) if re.fullmatch(rb"\d{1,9}", text) else None


async def flow(request: Any, parts: Iterator[bytes]) -> None:
    """Send parts one after the other, as fast as the visitor reads, until they end or the visitor leaves.

    Args:
        request: Twisted's request.
        parts: iterator over the parts; it runs in threads, because it reads files.
    """
    gate = _Gate()
    request.registerProducer(gate, True)
    try:
        while (part := await deferToThread(next, parts, None)) is not None:
            await gate.wait()
            request.write(part)
    finally:
        if request.channel is not None:  # None once the connection was closed
            request.unregisterProducer()


class _Gate:
    """Gate that is shut while a connection accepts no more data; a push producer of Twisted."""

    def __init__(self) -> None:
        self._is_open = True
        self._waiting: Deferred[None] | None = None

    async def wait(self) -> None:
        """Wait until the gate is open."""
        if not self._is_open:
            self._waiting = Deferred()
            await self._waiting

    def pauseProducing(self) -> None:
        """Shut the gate; called by Twisted."""
        self._is_open = False

    def resumeProducing(self) -> None:
        """Open the gate; called by Twisted."""
        self._is_open = True
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.callback(None)

    def stopProducing(self) -> None:
        """Do nothing, because the request is cancelled as well; called by Twisted."""


# --- forms


class BadForm(Exception):
    """A body that is not a form which a browser could have sent for this site."""


class UploadedFile(Struct, frozen=True, kw_only=True):
    """A file in a form."""

    field: str
    name: str
    """File name; for a file of a chosen folder, the path that begins with the folder's name."""
    data: bytes


class Form(Struct, frozen=True, kw_only=True):
    """A form that was submitted."""

    fields: Mapping[str, str]
    uploads: tuple[UploadedFile, ...] = ()
    """Files that the visitor chose."""
    has_file: bool = False
    """True if the form has a field for files."""

    def text(self, name: str) -> str:
        """Return the text of a field without surrounding blanks; empty if there is no such field."""
        return self.fields.get(name, "").strip()


def read_form(content_type: str, content: BinaryIO) -> Form:
    """Read a form.

    Args:
        content_type: media type of the body.
        content: body of the request.

    Raises:
        BadForm: the body is not a form.
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
            if file.filename  # browsers send a nameless file where none was chosen
        ),
        has_file=bool(uploads),
    )


async def receive_form(request: Any) -> Form:
    """Read the form of a request in a thread, because parsing a large upload takes long.

    Raises:
        BadForm: the body is not a form, or is too large.
    """
    if request.is_too_large:
        raise BadForm
    return await deferToThread(read_form, request.content_type, request.content)
