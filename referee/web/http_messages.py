"""What a service over HTTP is asked, and what it answers."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

JSON = "application/json"


class Inquiry(Struct, frozen=True, kw_only=True):
    """A whole request."""

    author: str
    """Who asks; empty where nobody is known."""
    method: str
    path: tuple[str, ...]
    """Its parts, plain."""
    query: Mapping[str, str]
    body: bytes


class Reply(Struct, frozen=True, kw_only=True):
    """An answer."""

    code: HTTPStatus = HTTPStatus.OK
    body: bytes
    content_type: str = JSON
    allow: str = ""
    """The methods that are answered at the address, if it was asked by another one."""


def read_bearer(headers: Any) -> str | None:
    """Return the token that a request brings; None if it brings none, or several.

    Args:
        headers: of the request, Twisted's.
    """
    given = headers.getRawHeaders(b"authorization") or []
    kind, _, token = (given[0] if len(given) == 1 else b"").decode("latin-1").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def inquiry_of(author: str, method: bytes, uri: bytes, body: bytes) -> Inquiry:
    """Return what is asked; a slash within a part of the path may be written %2F.

    Args:
        author: who asks.
        method: as it came.
        uri: as it came.
        body: as it came.
    """
    path, _, query = uri.decode("latin-1").partition("?")
    return Inquiry(
        author=author,
        method=method.decode("latin-1"),
        path=tuple(unquote(part, errors="replace") for part in path.split("/")[1:]),
        query=_parsed(query),
        body=body,
    )


def _parsed(query: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(query, max_num_fields=8))
    except ValueError:
        return {}


def refusal(code: HTTPStatus, error: str, remedy: str) -> Reply:
    """Return an answer that says what is wrong and what to do."""
    return Reply(code=code, body=msgspec.json.encode({"error": error, "remedy": remedy}))


def refuse_method(allow: str) -> Reply:
    """Return the answer to a method that an address does not take.

    Args:
        allow: those that it takes, as the header has them.
    """
    reply = refusal(HTTPStatus.METHOD_NOT_ALLOWED, "this address does not take that method", f"it takes {allow}")
    return replace(reply, allow=allow)
