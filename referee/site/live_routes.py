"""The addresses at which the tables of a contest are looked at while they are played."""

from collections.abc import Callable
from typing import Any

from klein import Klein
from twisted.internet.defer import Deferred

from ..net.http_messages import JSON
from .answers import HTML, sent
from .live import LiveTables


def add_live(app: Klein, live: LiveTables, page: Callable[[], str]) -> None:
    """Add the page of the tables, and how they stand as JSON and as events.

    Args:
        app: the site.
        live: the tables.
        page: returns their page.
    """

    @app.route("/live", methods=["GET", "HEAD"])
    def _live_page(request: Any) -> bytes:
        return sent(request, HTML, page().encode())

    @app.route("/api/live", methods=["GET", "HEAD"])
    def _live_tables(request: Any) -> bytes:
        return sent(request, JSON, live.whole())

    @app.route("/api/live/events", methods=["GET"])
    def _live_events(request: Any) -> Deferred[None]:
        sent(request, "text/event-stream", b"")
        live.streams.add(request)
        return Deferred()  # cancelled once nobody looks on
