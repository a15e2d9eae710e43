"""The public addresses of a contest's site, and the function behind each."""

# The addresses for people who sign in are in members.py.

import os
import re
import time
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from klein import Klein
from msgspec import Struct
from twisted.internet.defer import Deferred, maybeDeferred
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from ..pages import match_list
from ..pages.contest_page import contest_page, live_page, search_page, standings_page
from ..pages.rendering import PICTURE, read_picture, with_address, with_shared_files
from ..pages.replay_page import LOOKS, head_at_turn, split_page
from ..pages.replays import page_path
from ..pages.tournament_json import TournamentReport
from .contest_json import ContestCard
from .event_streams import EventStreams
from .feed import ATOM, list_announced, list_results, make_feed
from .feed import PATH as FEED
from .guarded_routes import Visitor, VisitorCard, find_visitor
from .http import (
    HTML,
    JSON,
    PLAIN_TEXT,
    compress,
    find_address,
    is_cached,
    is_for_programs,
    may_compress,
    read_turn,
    refusal,
    refuse,
    refuse_method,
    send,
    send_file,
    send_head_and_file,
    send_pieces,
    send_reply,
    send_unchanging,
    stream_events,
)
from .live import LiveTables
from .members import Members, add_members
from .openapi import PATH, openapi
from .published import Found, find_public_file, has_replay, is_on_request
from .rate_limit import RateLimit, TooOften
from .replay_maker import ReplayMaker
from .visitors import Visitors
from .workshop import Workshop

ROBOTS = (
    b"User-agent: *\nDisallow: /api/\nDisallow: /author\nDisallow: /organiser\nDisallow: /search\nDisallow: /*?turn=\n"
)
"""robots.txt, which asks crawlers to avoid the pages that are made for one visitor or for members."""
FAVICON = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAMAAABEpIrGAAAAD1BMVEX///8AcrLCTgAAelqKP5X0m+XeAAAAAXRSTlMAQObYZgAA"
    "AChJREFUeNpjYKACYEQGDAxMyGBUwSBTQDlgRgYMDCzIYFTBIFNAIQAACvAGm1F+0zoAAAAASUVORK5CYII="
)
"""Icon of the site: a table of four tiles, as PNG. Browsers accept PNG at /favicon.ico."""
_REPLAY = re.compile(r"replays/((?!verify\.)[\w.-]+)\.html")
"""Path of the page of a match in a tournament's folder."""
_SITE = "../../../"
"""The first page of the site, relative to the page of a match."""
WHOLE = b"whole"
"""Field of the query that requests the page of a match as one file, which contains its style and script."""
FindVisitor = Callable[[Any], Visitor | None]
"""Request -> signed-in person who sent it."""
PAGES_A_MINUTE = 300
"""Most pages a minute that are made for one address: a whole class behind it may page through replays."""

STANDINGS = 50
"""Most lines of a tournament's standings on the page of all standings; the tournament's report has the others."""
_MATCHES = 100
"""Most ended matches in an organiser's list; the name of an older match has to be typed."""


class SiteContent(Struct, frozen=True, kw_only=True):
    """Everything that the site shows to everybody."""

    title: str
    about: str
    """Description of the contest, in Markdown."""
    address: str
    """Public address of the site, with a slash at the end; empty if it is not known."""
    card: Callable[..., ContestCard]
    """Returns the state of the contest; its argument is the most lines of each tournament's standings."""
    folders: Mapping[str, Path]
    """Name of a tournament -> folder of its records."""
    is_over: Callable[[str], bool]
    public_key: bytes
    """Public key that verifies the records, as a PEM file."""
    streams: EventStreams
    live: LiveTables
    report: Callable[[str], TournamentReport | None]
    """Name of a tournament -> its report; None if there is none yet."""
    search: Callable[[str], Found]


def make_site(content: SiteContent, members: Members, reactor: Any, *, is_behind_proxy: bool = False) -> Visitors:
    """Return the site, as a Twisted factory.

    Args:
        content: content that the site shows to everybody.
        members: services for people who may sign in.
        reactor: Twisted's reactor.
        is_behind_proxy: true if a web server in front passes on all requests, with the addresses of the visitors.
    """
    resource = make_app(content, members).resource()
    return Visitors(resource, reactor, members.body_limits.find, is_behind_proxy=is_behind_proxy)


def make_app(content: SiteContent, members: Members) -> Klein:
    """Return a Klein application with all addresses of the site."""
    made = _Made(
        content,
        members.workshop,
        members.replays,
        RateLimit("pages like this one from your address", PAGES_A_MINUTE, members.now),
    )
    app = _public(content, made, partial(find_visitor, sessions=members.sessions))
    add_members(app, members, partial(_is_shown, content.folders), partial(_newest_matches, content))
    return app


def _is_shown(folders: Mapping[str, Path], tournament: str, match: str) -> bool:
    """Return whether the replay of a match is public."""
    folder = folders.get(tournament)
    return folder is not None and has_replay(folder, match)


def _newest_matches(content: SiteContent, name: str) -> list[tuple[str, Sequence[str]]]:
    """Return the open matches of a tournament and the last ended ones, with the names by seat."""
    report = content.report(name)
    ended = () if report is None else report.entries[: -_MATCHES - 1 : -1]
    cards = (card for card in content.card().tournaments if card.name == name)
    open_matches = [(match.match, match.names) for card in cards for match in card.open_matches]
    return [*open_matches, *((match.fixture.match, match.names) for match in ended if match.head)]


class _Made(Struct, frozen=True):
    """Makes answers for one visitor in the workshop: boards of turns, searches, reports as JSON."""

    content: SiteContent
    workshop: Workshop
    replays: ReplayMaker
    limit: RateLimit

    async def search(self, request: Any) -> tuple[str, Found]:
        """Return the query of a request, and its results.

        Raises:
            TooOften: the address asks for such pages too often.
        """
        query = bytes((request.args.get(b"q") or [b""])[0]).decode(errors="replace").strip()
        return query, await self._make(request, self.content.search, query)

    async def feed(self, request: Any) -> bytes:
        """Return the Atom feed.

        Raises:
            TooOften: the address asks for such pages too often.
        """
        feed: bytes = await self._make(request, _make_feed, self.content)
        return feed

    def send_replay(self, request: Any, path: Path) -> Any:
        """Send the page of a match: with the board of a turn if the request names one, or as one complete file.

        Raises:
            TooOften: the address asks for such pages too often.
        """
        turn = read_turn(request)
        if turn is not None:
            return self._send_turn(request, path, turn)
        if WHOLE in request.args:
            return send_file(request, path, _hold_shared_files)
        return self.send_page(request, path)

    def send_page(self, request: Any, path: Path) -> Any:
        """Send a file of a tournament; into a page, insert the address of its preview picture."""
        address = self.content.address
        begin = partial(with_address, address=address) if address and path.suffix == ".html" else None
        return send_file(request, path, begin)

    async def _send_turn(self, request: Any, path: Path, turn: int) -> Any:
        head, file, size = await self._make(request, _begin_replay, path, turn)
        return await maybeDeferred(send_head_and_file, request, head, file, size)

    async def make_replay(self, request: Any, folder: Path, match: str) -> Any:
        """Have the page of a match made, and send it.

        Raises:
            TooOften: the address asks for such pages too often.
        """
        await self.replays.make(request, folder, match)
        page = page_path(folder, match)
        if not page.is_file():
            return refuse(
                request,
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "The page could not be made; the log says why",
            )
        return await maybeDeferred(self.send_replay, request, page)

    async def send_matches(self, request: Any, path: Path) -> Any:
        """Send those matches of a tournament that the query of a request selects.

        Raises:
            TooOften: the address asks for such pages too often.
        """
        fields = {name.decode("latin-1"): values[0].decode(errors="replace") for name, values in request.args.items()}
        page = await self._make(request, match_list.answer_query, path, match_list.read_query(fields))
        return send(request, HTML, page)

    async def send_report(self, request: Any, report: TournamentReport) -> Any:
        """Send a report as JSON."""
        is_packed = may_compress(request)
        if is_cached(request, f"{report.head}-{report.state}", is_packed=is_packed):
            return send(request, JSON, b"", cache="no-cache")
        key = (report.spec.name, report.head, report.state, is_packed)
        body = await self.workshop.make(request, find_address(request), _encode_report, report, is_packed, key=key)
        return send_pieces(request, JSON, body, cache="no-cache")

    async def _make(self, request: Any, function: Callable[..., Any], *args: Any, key: Any = None) -> Any:
        self.limit.count(find_address(request))
        return await self.workshop.make(request, find_address(request), function, *args, key=key)


def _encode_report(report: TournamentReport, is_packed: bool) -> bytes:  # noqa: FBT001  # the workshop passes it on
    body = msgspec.json.encode(report)
    return b"".join(compress([body])) if is_packed else body


def _public(content: SiteContent, made: _Made, find: FindVisitor) -> Klein:
    app = Klein()
    app.url_map.merge_slashes = False  # else an address with two slashes is redirected to an absolute one
    _add_live(app, content, find)
    _add_search(app, content, made, find)
    _add_report(app, content.report, made)

    @app.route("/", methods=["GET", "HEAD"])
    @app.route("/index.html", methods=["GET", "HEAD"], endpoint="GET /index.html")
    def _home(request: Any) -> bytes:
        return _send_made(request, content, contest_page(content.card(), content.about, find(request)))

    @app.route(FEED, methods=["GET", "HEAD"])
    async def _feed(request: Any) -> bytes:
        return send_unchanging(request, ATOM, await made.feed(request))

    @app.route("/standings", methods=["GET", "HEAD"])
    def _standings(request: Any) -> bytes:
        return _send_made(request, content, standings_page(content.card(STANDINGS), find(request)))

    @app.route("/visitor", methods=["GET", "HEAD"])
    def _visitor(request: Any) -> bytes:
        return send(request, JSON, msgspec.json.encode(VisitorCard(title=content.title, visitor=find(request))))

    @app.route("/api/contest", methods=["GET", "HEAD"])
    def _contest(request: Any) -> bytes:
        return send(request, JSON, msgspec.json.encode(content.card()))

    @app.route("/api/events", methods=["GET"])
    def _events(request: Any) -> Deferred[bytes]:
        return stream_events(request, content.streams.add)

    @app.route("/tournaments/<name>/<path:rest>", methods=["GET", "HEAD"])
    def _file(request: Any, name: str, rest: str) -> Any:
        return _send_public_file(content, made, request, name, rest)

    _add_unchanging(app, content.public_key)
    _add_refusals(app)
    return app


def _send_made(request: Any, content: SiteContent, page: str) -> bytes:
    """Send a page that was made for this visitor."""
    body = page.encode()
    return send(request, HTML, with_address(body, content.address) if content.address else body)


def _make_feed(content: SiteContent) -> bytes:
    """Return the Atom feed: the published results of each tournament, and the announcements."""
    reports = ((folder, content.report(name)) for name, folder in list(content.folders.items()))
    results = (entry for folder, report in reports if report is not None for entry in list_results(folder, report))
    return make_feed(content.title, [*results, *list_announced(content.card().announcements)])


def _add_unchanging(app: Klein, public_key: bytes) -> None:
    @app.route("/robots.txt", methods=["GET", "HEAD"])
    def _robots(request: Any) -> bytes:
        return send_unchanging(request, PLAIN_TEXT, ROBOTS)

    @app.route("/favicon.ico", methods=["GET", "HEAD"])
    def _icon(request: Any) -> bytes:
        return send_unchanging(request, "image/png", FAVICON, cache="max-age=86400")

    @app.route(f"/{PICTURE}", methods=["GET", "HEAD"])
    def _picture(request: Any) -> bytes:
        return send_unchanging(request, "image/png", read_picture(), cache="max-age=86400")

    @app.route("/key.pem", methods=["GET", "HEAD"])
    def _key(request: Any) -> bytes:
        return send_unchanging(request, "application/x-pem-file", public_key)

    @app.route(PATH, methods=["GET", "HEAD"])
    def _description(request: Any) -> bytes:
        return send_unchanging(request, JSON, openapi())


def _add_refusals(app: Klein) -> None:
    @app.handle_errors(MethodNotAllowed)
    def _wrong_method(request: Any, failure: Any) -> bytes:
        return refuse_method(request, failure.value.valid_methods or ())

    @app.handle_errors(HTTPException)
    def _error(request: Any, failure: Any) -> bytes:
        return refuse(request, HTTPStatus(failure.value.code or HTTPStatus.NOT_FOUND))

    @app.handle_errors(TooOften)
    def _too_often(request: Any, failure: Any) -> bytes:
        code, error = HTTPStatus.TOO_MANY_REQUESTS, failure.value
        if is_for_programs(request):
            return send_reply(request, refusal(code, error.what, error.remedy))
        return refuse(request, code, f"{error}.")


def _send_public_file(content: SiteContent, made: _Made, request: Any, name: str, path: str) -> Any:
    """Send a public file of a tournament, or the page of a match with a turn's board.

    Raises:
        TooOften: the address asks for such pages too often.
    """
    folder = content.folders.get(name)
    if folder is None:
        return refuse(request, HTTPStatus.NOT_FOUND)
    file = find_public_file(folder, path, is_over=content.is_over(name))
    replay = _REPLAY.fullmatch(path)
    if file is None and replay is not None and is_on_request(folder, replay[1]):
        return made.make_replay(request, folder, replay[1])
    if file is None:
        return refuse(request, HTTPStatus.NOT_FOUND)
    if path == match_list.PAGE and request.args:
        return made.send_matches(request, file)
    return made.send_page(request, file) if replay is None else made.send_replay(request, file)


def _begin_replay(path: Path, turn: int) -> tuple[bytes, BinaryIO, int]:
    """Return the first part of a match's page with the board of a turn, the file with the rest, and its length."""
    file = path.open("rb")
    head, rest = split_page(file.read())
    head = head_at_turn(head, rest, turn)
    file.seek(-len(rest), os.SEEK_CUR)
    return head.encode(), file, len(rest)


def _hold_shared_files(page: bytes) -> bytes:
    """Return the beginning of a match's page, with the style and the script that all such pages share."""
    return with_shared_files(page, LOOKS, _SITE)


def _add_live(app: Klein, content: SiteContent, find: FindVisitor) -> None:
    live = content.live

    @app.route("/live", methods=["GET", "HEAD"])
    def _live_page(request: Any) -> bytes:
        return _send_made(request, content, live_page(content.title, live.state, time.time(), find(request)))

    @app.route("/api/live", methods=["GET", "HEAD"])
    def _live_tables(request: Any) -> bytes:
        return send(request, JSON, live.whole())

    @app.route("/api/live/events", methods=["GET"])
    def _live_events(request: Any) -> Deferred[bytes]:
        return stream_events(request, live.streams.add)


def _add_search(app: Klein, content: SiteContent, made: _Made, find: FindVisitor) -> None:
    @app.route("/search", methods=["GET", "HEAD"])
    async def _search_page(request: Any) -> bytes:
        query, results = await made.search(request)
        return _send_made(request, content, search_page(content.title, query, results, find(request)))

    @app.route("/api/search", methods=["GET", "HEAD"])
    async def _search_json(request: Any) -> bytes:
        return send(request, JSON, msgspec.json.encode((await made.search(request))[1]))


def _add_report(app: Klein, find: Callable[[str], TournamentReport | None], made: _Made) -> None:
    @app.route("/api/tournaments/<name>", methods=["GET", "HEAD"])
    def _report(request: Any, name: str) -> Any:
        report = find(name)
        if report is None:
            remedy = "/api/contest lists the tournaments, and the number of matches in each report"
            return send_reply(request, refusal(HTTPStatus.NOT_FOUND, "there is no such report", remedy))
        return made.send_report(request, report)
