"""What a service over HTTP is asked, and what it answers."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Protocol

import msgspec
from msgspec import Struct

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


class HttpService(Protocol):
    """Who answers."""

    def announced(self, token: str | None, length: int | None) -> str | Reply:
        """Look at what is announced, before the body is read; return who asks, or why that is refused.

        Args:
            token: that the request brings; None if it brings none, or several.
            length: of its body in bytes; None if that is not announced.
        """

    async def answer(self, inquiry: Inquiry) -> Reply:
        """Answer a request that was not refused."""


def refusal(code: HTTPStatus, error: str, remedy: str) -> Reply:
    """Return an answer that says what is wrong and what to do."""
    return Reply(code=code, body=msgspec.json.encode({"error": error, "remedy": remedy}))
