"""The addresses of live tables, of a search, and of reports as JSON."""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import msgspec
from klein import Klein
from twisted.internet.defer import Deferred

from ..net.http_messages import JSON, refusal
from ..pages.contest_page import live_page, search_page
from ..submissions.authors import Pace
from .answers import HTML, address_of, hides_results, replied, sent
from .live import LiveTables
from .reported import TournamentReport
from .search import Found


def add_live(app: Klein, title: str, live: LiveTables) -> None:
    """Add the page of the tables, and how they stand as JSON and as events."""

    @app.route("/live", methods=["GET", "HEAD"])
    def _live_page(request: Any) -> bytes:
        return sent(request, HTML, live_page(title, live.state, time.time()).encode())

    @app.route("/api/live", methods=["GET", "HEAD"])
    def _live_tables(request: Any) -> bytes:
        return sent(request, JSON, live.whole())

    @app.route("/api/live/events", methods=["GET"])
    def _live_events(request: Any) -> Deferred[None]:
        sent(request, "text/event-stream", b"")
        live.streams.add(request)
        return Deferred()  # cancelled once nobody looks on


def add_search(app: Klein, title: str, search: Callable[[str], Found], pace: Pace) -> None:
    """Add the page of a search, and what it found as JSON."""

    def _searched(request: Any) -> tuple[str, Found]:
        pace.count(address_of(request))
        query = bytes((request.args.get(b"q") or [b""])[0]).decode(errors="replace").strip()
        return query, search(query)

    @app.route("/search", methods=["GET", "HEAD"])
    def _search_page(request: Any) -> bytes:
        return sent(request, HTML, search_page(title, *_searched(request), hides_results(request)).encode())

    @app.route("/api/search", methods=["GET", "HEAD"])
    def _found(request: Any) -> bytes:
        return sent(request, JSON, msgspec.json.encode(_searched(request)[1]))


def add_report(app: Klein, find: Callable[[str], TournamentReport | None]) -> None:
    """Add what the reports of tournaments tell, as JSON."""

    @app.route("/api/tournaments/<name>", methods=["GET", "HEAD"])
    def _report(request: Any, name: str) -> bytes:
        report = find(name)
        if report is None:
            remedy = "/api/contest names the tournaments, and tells how many matches each report has"
            return replied(request, refusal(HTTPStatus.NOT_FOUND, "there is no such report", remedy))
        return sent(request, JSON, msgspec.json.encode(report))
