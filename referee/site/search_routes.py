"""The addresses at which is searched."""

from collections.abc import Callable
from typing import Any

import msgspec
from klein import Klein

from ..net.http_messages import JSON
from .answers import HTML, sent
from .search import Found


def add_search(app: Klein, search: Callable[[str], Found], page: Callable[[str, Found], str]) -> None:
    """Add the page of a search, and what it found as JSON.

    Args:
        app: the site.
        search: returns what has such a name.
        page: returns the page with what was found.
    """

    @app.route("/search", methods=["GET", "HEAD"])
    def _search_page(request: Any) -> bytes:
        query = _query(request)
        return sent(request, HTML, page(query, search(query)).encode())

    @app.route("/api/search", methods=["GET", "HEAD"])
    def _found(request: Any) -> bytes:
        return sent(request, JSON, msgspec.json.encode(search(_query(request))))


def _query(request: Any) -> str:
    """Return what is looked for."""
    return bytes((request.args.get(b"q") or [b""])[0]).decode(errors="replace").strip()
