"""The addresses of the site: the answers to each kind of person, with their headers."""

import re
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred
from twisted.internet.testing import StringTransport

from referee.pages.contest_page import contest_page
from referee.pages.match_list import MOST_SHOWN, MatchLine, MatchList, matches_page
from referee.pages.replay_frames import fold_record
from referee.pages.replay_page import replay_page
from referee.pages.replays import NOTES, ReplayNotes
from referee.pages.summary import MatchNotes
from referee.plugins import find_game
from referee.record.reader import read_record
from referee.web import workshop
from referee.web.contest_json import ContestCard, SignUp
from referee.web.live import LiveState
from referee.web.routes import PAGES_A_MINUTE, make_site
from referee.web.visitors import HEADERS

from .sites import CARD, PAYLOAD, TABLE, Browser, TestSite

GOLDEN = Path(__file__).parents[1] / "golden" / "illegal-move.jsonl"

PEER: Any = IPv4Address("TCP", "10.0.0.1", 1)
ANSWERS = [
    ("GET", "/", 200, "text/html; charset=utf-8"),
    ("HEAD", "/", 200, "text/html; charset=utf-8"),
    ("GET", "/api/contest", 200, "application/json"),
    ("GET", "/live", 200, "text/html; charset=utf-8"),
    ("GET", "/api/live", 200, "application/json"),
    ("GET", "/key.pem", 200, "application/x-pem-file"),
    ("HEAD", "/tournaments/cup/report.html", 200, "text/html; charset=utf-8"),
    ("HEAD", "/tournaments/cup/standings.csv", 200, "text/csv; charset=utf-8"),
    ("GET", "/tournaments/cup/tournament.json", 404, "text/html; charset=utf-8"),
    ("GET", "/tournaments/cup/../../secret.html", 404, "text/html; charset=utf-8"),
    ("GET", "/tournaments/cup/..%2f..%2fsecret.html", 404, "text/html; charset=utf-8"),
    ("GET", "/tournaments/cup/%2e%2e/secret.html", 404, "text/html; charset=utf-8"),
    ("GET", "/tournaments/cup/report.html%00", 404, "text/html; charset=utf-8"),
    ("GET", "/tournaments/../secret.html", 404, "text/html; charset=utf-8"),
    ("GET", "/tournaments/league/report.html", 404, "text/html; charset=utf-8"),
    ("GET", "/nothing", 404, "text/html; charset=utf-8"),
    ("POST", "/", 405, "text/html; charset=utf-8"),
    ("DELETE", "/tournaments/cup/report.html", 405, "text/html; charset=utf-8"),
]


@pytest.mark.parametrize(("method", "path", "status", "content_type"), ANSWERS)
def test_what_each_address_answers(contest: TestSite, method: str, path: str, status: int, content_type: str) -> None:
    """Each answer has the headers that protect it from other sites."""
    answer = contest.visitor().ask(method, path)
    assert (answer.status, answer.headers["content-type"]) == (status, content_type)
    assert {name.lower(): value for name, value in HEADERS.items()}.items() <= answer.headers.items()
    assert (method == "HEAD") == (answer.body == b"")


@pytest.mark.parametrize("data", [b"GET /%ff%fe HTTP/1.0\r\n\r\n", b"BREW / HTTP/1.0\r\n\r\n"])
def test_no_answer_is_without_the_headers(contest: TestSite, data: bytes) -> None:
    """This holds for answers to invalid requests, too."""
    transport = StringTransport(peerAddress=PEER)
    channel = contest.site.buildProtocol(PEER)
    channel.makeConnection(transport)
    channel.dataReceived(data)
    head = transport.value().decode().lower()
    assert head.startswith("http/1.0 4")
    for name in HEADERS:
        assert f"\r\n{name.lower()}: " in head


def test_the_api_tells_what_pages_show(contest: TestSite) -> None:
    """The API has it as JSON, and as the first event."""
    body = contest.visitor().ask("GET", "/api/contest").body
    assert msgspec.json.decode(body, type=ContestCard) == CARD
    events = contest.visitor().ask("GET", "/api/events")
    assert (events.status, events.headers["content-type"]) == (200, "text/event-stream")
    assert b"data: " + msgspec.json.encode(CARD) + b"\n\n" in events.body
    tables = contest.visitor().ask("GET", "/api/live").body
    assert msgspec.json.encode(LiveState(spectators="after", is_whole=True, tables=[TABLE])) == tables
    assert b"data: " + tables + b"\n\n" in contest.visitor().ask("GET", "/api/live/events").body


OWN = ("http", "key.pem", "api/", "tournaments/", "sign-in", "sign-up", "live", "search", "./")
"""Beginnings of addresses on the first pages; http is one in the organiser's words."""


class Alive(HTMLParser):
    """Everything that a browser would run, or fetch from elsewhere."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found = list[str]()
        self.scripts = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that a browser would act on."""
        self.scripts += tag == "script"
        self.found += self._hostile(dict(attrs))

    @staticmethod
    def _hostile(attributes: dict[str, str | None]) -> Iterator[str]:
        for name, value in attributes.items():
            is_elsewhere = name == "href" and not (value or "").startswith(OWN)
            if name.startswith("on") or name == "src" or is_elsewhere:
                yield f"{name}={value}"


def test_texts_of_others_stay_texts(contest: TestSite) -> None:
    """Names, titles and the organiser's Markdown bring no script, no handler and no address of another host."""
    page = contest.visitor().ask("GET", "/").body.decode()
    own = Alive(contest_page(ContestCard(title="", sign_up=SignUp.CLOSED, announcements=[], tournaments=[]), ""))
    for shown in (page, contest.visitor().ask("GET", "/live").body.decode()):
        assert Alive(shown).scripts == own.scripts
        assert Alive(shown).found == []
    assert "<strong>Hello</strong>" in page
    assert "\u202e" not in page


def test_a_board_is_drawn_where_no_script_runs(contest: TestSite) -> None:
    """It is the board of the requested turn, from the replay."""
    folded = fold_record(read_record(GOLDEN), find_game)
    replay = contest.folder / "logs" / "cup" / "replays" / "cup-1.html"
    replay.write_text(replay_page(folded, "verify.html#x"))
    visitor, path = contest.visitor(), "/tournaments/cup/replays/cup-1.html"
    for query, boards in (
        ("", 0),
        ("?turn=1", 1),
        ("?turn=999999999", 1),
        ("?turn=-1", 0),
        ("?turn=1e9", 0),
    ):
        shown = visitor.ask("GET", path + query).body.decode()
        assert shown.count('<figure class="drawn">') == boards, query


RANGES = [
    ("bytes=4-", 206, b"4567", "bytes 4-7/8"),
    ("bytes=0-", 206, b"01234567", "bytes 0-7/8"),
    ("bytes=2-3", 206, b"23", "bytes 2-3/8"),
    ("bytes=6-99", 206, b"67", "bytes 6-7/8"),
    ("bytes=8-", 416, b"", "bytes */8"),
    ("bytes=99-100", 416, b"", "bytes */8"),
    ("bytes=-99", 200, b"01234567", None),
    ("bytes=3-2", 200, b"01234567", None),
    ("bytes=0-1,4-", 200, b"01234567", None),
    ("lines=4-", 200, b"01234567", None),
    ("bytes=4-\xff", 200, b"01234567", None),
    (f"bytes={'9' * 5000}-", 200, b"01234567", None),
]


@pytest.mark.forges
def test_a_replay_is_made_when_somebody_asks_for_it(contest: TestSite) -> None:
    """Another process makes it, with a shared script or one inside; a false record has no replay."""
    folder, visitor = contest.folder / "logs" / "cup", contest.visitor()
    names = ("cup-8", "cup-9")
    noted = ReplayNotes(report="../report.html", site="../../../", matches=dict.fromkeys(names, MatchNotes()))
    (folder / "replays" / NOTES).write_bytes(msgspec.json.encode(noted))
    (folder / "cup-9.jsonl").write_bytes(GOLDEN.read_bytes())
    (folder / "cup-8.jsonl").write_bytes(GOLDEN.read_bytes().replace(b"red", b"blue"))
    (folder / "cup-7.jsonl").write_bytes(GOLDEN.read_bytes())
    path = "/tournaments/cup/replays/cup-9.html"
    assert not (folder / "replays" / "cup-9.html").exists()
    for address, is_whole in ((path, False), (path, False), (f"{path}?turn=1", False), (f"{path}?whole=yes", True)):
        answer = visitor.ask("GET", address)
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert (b'<script type="module">' in answer.body) is is_whole
        assert (b'src="replay.js"' in answer.body) is not is_whole
        assert b'href="?whole=yes"' in answer.body
    assert visitor.ask("GET", "/tournaments/cup/cup-9.jsonl").status == 200
    tag = visitor.ask("GET", path).headers["etag"]
    assert visitor.ask("GET", path, if_none_match=tag).status == 304
    refused = visitor.ask("GET", "/tournaments/cup/replays/cup-8.html")
    assert (refused.status, b"could not be made" in refused.body) == (500, True)
    assert [event for event, _ in contest.noted] == ["replay-failed"]
    for hidden in ("cup-7", "cup-6", "..%2fcup-9", "notes"):
        assert visitor.ask("GET", f"/tournaments/cup/replays/{hidden}.html").status == 404
    assert visitor.ask("GET", "/tournaments/cup/cup-7.jsonl").status == 404
    assert visitor.ask("GET", f"/tournaments/cup/replays/{NOTES}").status == 404


def test_matches_are_filtered_where_no_script_runs(contest: TestSite) -> None:
    """The list has matches that fit the query of an address, newest first, with a link to the next ones.

    An unknown query finds all.
    """
    names = ["ada", "bob", PAYLOAD]
    lines = [
        MatchLine(f"cup-{number}", number, "", [0, 1], [1, 2], [3, 1], [], [], 9, 0, True, True, True, [])
        for number in range(MOST_SHOWN + 9, 0, -1)
    ]
    foul = MatchLine("cup-0", 0, "", [2, 0], [2, 1], [1, 3], ["timeout", ""], [], 9, 0, True, True, True, [])
    links: Any = dict.fromkeys(("report", "home", "site", "records", "replays", "entrants", "head"), "")
    plain: Any = {"names": names, "pages": names, "sentences": ["{0} met {1}"], "rulings": [], "causes": ["timeout"]}
    matches = MatchList(title="cup", **links, **plain, versions=1, matches=[*lines, foul])
    folder = contest.folder / "logs" / "cup"
    (folder / "matches.html").write_text(matches_page(matches), encoding="utf-8")
    visitor, path = contest.visitor(), "/tournaments/cup/matches.html"

    def _found(query: str) -> tuple[list[str], str]:
        shown = visitor.ask("GET", f"{path}?{query}")
        assert (shown.status, PAYLOAD.encode() in shown.body) == (200, False)
        text = shown.body.decode()
        return re.findall(r"<tr><td>(cup-\d+)", text), re.findall(r'id="count">(.*?)<', text)[0]

    newest = [line.match for line in lines]
    assert _found("entrant=ada&result=won&page=1") == (newest[:MOST_SHOWN], "1 to 50 of 60, newest first")
    assert _found("entrant=ada&result=won&page=2")[0] == [*newest[MOST_SHOWN:], "cup-0"]
    assert _found("foul=any") == (["cup-0"], "1 to 1 of 1, newest first")
    assert _found("entrant=ada&foul=any") == ([], "no match fits")
    assert _found(urlencode({"entrant": PAYLOAD, "foul": "timeout"}))[0] == ["cup-0"]
    for odd in ("%ff=1", "page=x", "page=" + "9" * 5000, "page=-1", "entrant=&x=y", "="):
        assert _found(odd)[0] == newest[:MOST_SHOWN]
    assert _found("entrant=nobody&opponent=%ff")[0] == []


@pytest.mark.parametrize(("asked", "status", "body", "part"), RANGES)
def test_who_follows_heads_gets_what_came_since(
    contest: TestSite, asked: str, status: int, body: bytes, part: str | None
) -> None:
    """It gets bytes from one on, or up to another; for an unknown range or a condition, the whole file."""
    (contest.folder / "logs" / "cup.heads").write_bytes(b"01234567")
    visitor, path = contest.visitor(), "/tournaments/cup/heads"
    answer = visitor.ask("GET", path, range=asked)
    assert (answer.status, answer.body, answer.headers.get("content-range")) == (status, body, part)
    assert (answer.headers["content-length"], answer.headers["accept-ranges"]) == (str(len(body)), "bytes")
    for whole in (
        visitor.ask("HEAD", path, range=asked),
        visitor.ask("GET", path, range=asked, if_range="Mon, 23 Nov 2026 19:00:00 GMT"),
    ):
        assert (whole.status, whole.headers["content-length"]) == (200, "8")
    page = visitor.ask("GET", "/tournaments/cup/report.html", range=asked)
    assert (page.status, page.body, "accept-ranges" in page.headers) == (200, b"content", False)


def test_what_is_made_for_who_asks_is_paced(contest: TestSite) -> None:
    """The visitor's own address counts, also behind a proxy. Files are not limited, and others do not wait."""
    proxy: Any = make_site(contest.content, contest.members, contest.clock, is_behind_proxy=True)
    hasty, other = Browser(proxy), Browser(proxy)
    hasty.headers, other.headers = {"x-forwarded-for": "192.0.2.1"}, {"x-forwarded-for": "192.0.2.2"}
    turn = "/tournaments/cup/replays/cup-1.html?turn=1"
    made = ("/search?q=bob", "/api/search?q=bob", turn)
    for _ in range(PAGES_A_MINUTE):
        assert hasty.ask("GET", "/search").status == 200
    said = "more than 300 pages like this one from your address a minute"
    for path in made:
        answer = hasty.ask("GET", path)
        assert (answer.status, said in answer.body.decode(), b"try again in 1 s" in answer.body) == (429, True, True)
    assert msgspec.json.decode(hasty.ask("GET", "/api/search").body)["error"] == said
    for path in ("/", turn.partition("?")[0], "/tournaments/cup/report.html"):
        assert hasty.ask("GET", path).status == 200
    assert other.ask("GET", turn).status == 200
    contest.clock.advance(60)
    assert hasty.ask("GET", turn).status == 200


MADE = [
    "/tournaments/cup/replays/cup-1.html?turn=5",
    "/search?q=bob",
    "/api/search?q=bob",
    "/api/tournaments/cup",
]


@pytest.mark.parametrize("path", MADE)
def test_nothing_that_takes_long_is_made_while_others_wait(
    contest: TestSite, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """It is made in a thread, and all other requests are answered before the first of hundreds is made."""
    waiting = list[tuple[Deferred[Any], Any]]()

    def defer(function: Any, *args: Any) -> Deferred[Any]:
        waiting.append((Deferred(), partial(function, *args)))
        return waiting[-1][0]

    monkeypatch.setattr(workshop, "defer_to_workshop", defer)
    asked = [contest.visitor().stream(path) for _ in range(250)]
    assert ([transport.value() for transport in asked], len(waiting)) == ([b""] * 250, 1)
    for other in ("/", "/key.pem", "/tournaments/cup/report.html"):
        assert Browser(contest.site, "10.0.0.2").ask("GET", other).status == 200
    while waiting:
        done, make = waiting.pop()
        done.callback(make())
    assert {transport.value().partition(b"\r\n")[0] for transport in asked} == {b"HTTP/1.0 200 OK"}


def test_a_slow_reader_has_little_of_an_answer_held(contest: TestSite) -> None:
    """However long the page is, the next piece is read once the last one was taken, and all of it arrives."""
    replay = contest.folder / "logs" / "cup" / "replays" / "cup-1.html"
    replay.write_bytes(b'<body><script type="application/json" id="data">null</script>' + b"x" * 1_000_000)
    for query in ("?turn=5", ""):
        transport: Any = SlowTransport(peerAddress=PEER)  # type: ignore[no-untyped-call]  # Twisted has no types
        channel = contest.site.buildProtocol(PEER)
        channel.makeConnection(transport)
        channel.dataReceived(b"GET /tournaments/cup/replays/cup-1.html" + query.encode() + b" HTTP/1.0\r\n\r\n")
        assert len(transport.value()) < 200_000
        while not transport.disconnecting:
            transport.take()
        assert transport.value().partition(b"\r\n\r\n")[2] == replay.read_bytes()


class SlowTransport(StringTransport):
    """A connection that takes nothing more after each write until the test wants it."""

    def write(self, data: bytes) -> None:
        """Accept the bytes, and pause."""
        super().write(data)  # type: ignore[no-untyped-call]  # Twisted has no types
        if self.producer is not None and len(data) > 1000:
            self.producer.pauseProducing()

    def take(self) -> None:
        """Accept more."""
        assert self.producer is not None
        self.producer.resumeProducing()


SITE_ADDRESSES = [
    ("GET", "/tournaments/cup//x", 404, None),
    ("GET", "/tournaments//cup/report.html", 404, None),
    ("POST", "/", 405, "GET, HEAD, OPTIONS"),
    ("PUT", "/sign-in", 405, "GET, HEAD, OPTIONS, POST"),
    ("GET", "/sign-out", 405, "OPTIONS, POST"),
    ("OPTIONS", "/tournaments/cup/report.html", 204, "GET, HEAD, OPTIONS"),
    ("GET", f"/tournaments/cup/{'a' * 300}.jsonl", 404, None),
    ("GET", f"/tournaments/cup/replays/{'%C3%A4' * 100}.html?turn=1", 404, None),
    ("HEAD", "/tournaments/cup/replays/cup-1.html?turn=1", 200, None),
]
API_ADDRESSES = [
    ("GET", "/api", 404, None),
    ("GET", "/api/", 404, None),
    ("GET", "/api/nothing", 404, None),
    ("GET", "//api/nothing", 404, None),
    ("GET", "/%61pi/nothing", 404, None),
    ("GET", "/api/contest/", 404, None),
    ("GET", "/api//contest", 404, None),
    ("GET", "/api/tournaments/none", 404, None),
    ("GET", "/api/%ff", 400, None),
    ("POST", "/api/contest", 405, "GET, HEAD, OPTIONS"),
    ("GET", "/api/sign-up", 405, "OPTIONS, POST"),
    ("PUT", "/api/practice", 405, "GET, HEAD, OPTIONS, POST"),
    ("POST", "/api/events", 405, "GET, HEAD, OPTIONS"),
    ("POST", "/submissions", 405, "GET, HEAD, OPTIONS, PUT"),
    ("PUT", "/matches", 405, "GET, HEAD, OPTIONS"),
    ("GET", "/matches/", 404, None),
    ("GET", "/matches//", 404, None),
    ("GET", "/submissions/nothing", 401, None),
    ("GET", "/submissions/%ff", 400, None),
]


@pytest.mark.parametrize(("method", "path", "status", "allow"), SITE_ADDRESSES + API_ADDRESSES)
def test_no_address_leads_elsewhere_and_methods_are_named(
    contest: TestSite, method: str, path: str, status: int, allow: str | None
) -> None:
    """Requests of programs are answered in JSON, whatever is wrong with them."""
    answer = contest.visitor().ask(method, path)
    assert (answer.status, answer.headers.get("allow"), "location" in answer.headers) == (status, allow, False)
    if (method, path, status, allow) in API_ADDRESSES:
        assert answer.headers["content-type"] == "application/json"
        assert msgspec.json.decode(answer.body, type=dict[str, str]).keys() == {"error", "remedy"}
    assert contest.noted == []


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/submissions/", 404, None),
        ("GET", "/submissions/7", 404, None),
        ("PUT", "/submissions/7", 405, "GET, HEAD"),
        ("GET", "/submissions/7/present", 405, "PUT"),
        ("HEAD", "/submissions", 200, None),
        ("HEAD", "/matches", 200, None),
        ("HEAD", "/matches/none", 404, None),
        ("GET", "/matches/none/x", 404, None),
        ("GET", f"/matches/{'a' * 5000}", 404, None),
    ],
)
def test_the_authors_service_names_its_methods(
    contest: TestSite, method: str, path: str, status: int, allow: str | None
) -> None:
    """The programs of authors get them as JSON; HEAD is answered like GET."""
    answer = contest.program("ada").ask(method, path)
    assert (answer.status, answer.headers.get("allow")) == (status, allow)
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/api/events", "/api/live/events"])
def test_the_head_of_events_ends(contest: TestSite, path: str) -> None:
    """A HEAD request adds no follower."""
    assert contest.visitor().ask("HEAD", path).status == 200
    assert (len(contest.content.streams), len(contest.content.live.streams)) == (0, 0)
