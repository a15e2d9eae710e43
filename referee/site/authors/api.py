"""The service for programs of authors, as `referee serve --submissions` has it: same paths, same answers."""

from typing import Any

from klein import Klein

from ...net.http_messages import Reply, bearer_of, inquiry_of
from ...submissions.api import AuthorApi
from ..answers import replied

PATHS = ("/submissions", "/submissions/<path:rest>", "/matches", "/matches/<path:rest>")


def add_author_api(app: Klein, api: AuthorApi) -> None:
    """Have the service answer at its paths."""
    for path in PATHS:

        @app.route(path, methods=["GET", "PUT"], endpoint=f"API {path}")
        async def _answer(request: Any, **_parts: str) -> bytes:
            author = api.announced(bearer_of(request.requestHeaders), _length(request))
            if isinstance(author, Reply):
                return replied(request, author)
            return replied(
                request, await api.answer(inquiry_of(author, request.method, request.uri, request.content.read()))
            )


def _length(request: Any) -> int | None:
    """Return how long a body was announced to be; None if it was not."""
    if request.method != b"PUT":
        return 0
    text = request.getHeader("content-length") or ""
    return int(text) if text.isascii() and text.isdecimal() else None
