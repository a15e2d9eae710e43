"""The addresses of the site: who asks what gets what, and with which headers."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from referee.pages.contest_page import contest_page, refusal_page
from referee.site.cards import ContestCard, Leader, OpenMatch, TournamentCard
from referee.site.event_streams import EventStreams
from referee.site.routes import SiteContent, site_of
from referee.site.visitors import HEADERS, Visitors

PEER: Any = IPv4Address("TCP", "10.0.0.1", 1)
PAYLOAD = "<script>alert(1)</script>\"'&\u202e"
CARD = ContestCard(
    title=PAYLOAD,
    tournaments=[
        TournamentCard(
            name="cup",
            game="The Q game",
            format="swiss",
            entrants=2,
            state="is played",
            start=None,
            played=3,
            open_matches=[OpenMatch(match="cup-4", names=[PAYLOAD, "bob"], round=2, opened="2026-12-01T18:00:00Z")],
            leaders=[Leader(place=1, name=PAYLOAD, points="2½")],
            reported=2,
        )
    ],
)
ABOUT = f"**Hello** {PAYLOAD} [a](javascript:alert(1)) ![b](http://other.host/b.png) <img src=x onerror=alert(1)>"
ANSWERS = [
    ("GET", "/", 200, "text/html; charset=utf-8"),
    ("HEAD", "/", 200, "text/html; charset=utf-8"),
    ("GET", "/api/contest", 200, "application/json"),
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


@pytest.fixture
def site(tmp_path: Path) -> Visitors:
    """Return the site of a contest with one tournament that is played."""
    folder = tmp_path / "cup"
    folder.mkdir()
    for name in ("report.html", "standings.csv", "tournament.json", "../secret.html"):
        (folder / name).write_text("content")
    content = SiteContent(
        card=lambda: CARD,
        home=lambda: contest_page(CARD, ABOUT),
        refused=refusal_page,
        folders={"cup": folder},
        is_over=lambda _name: False,
        public_key=b"-----BEGIN PUBLIC KEY-----\n",
        streams=EventStreams(Clock(), lambda: msgspec.json.encode(CARD)),
    )
    return site_of(content, Clock())


def asked(site: Visitors, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of an answer."""
    transport = StringTransport(peerAddress=PEER)
    channel = site.buildProtocol(PEER)
    channel.makeConnection(transport)
    channel.dataReceived(f"{method} {path} HTTP/1.0\r\n\r\n".encode("latin-1"))
    head, _, body = transport.value().partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(status.split()[1]), headers, body


@pytest.mark.parametrize(("method", "path", "status", "content_type"), ANSWERS)
def test_what_each_address_answers(site: Visitors, method: str, path: str, status: int, content_type: str) -> None:
    """With the headers that let no other site make use of it."""
    found, headers, body = asked(site, method, path)
    assert (found, headers["content-type"]) == (status, content_type)
    assert {name.lower(): value.lower() for name, value in HEADERS.items()}.items() <= headers.items()
    assert (method == "HEAD") == (body == b"")


@pytest.mark.parametrize("data", [b"GET /%ff%fe HTTP/1.0\r\n\r\n", b"BREW / HTTP/1.0\r\n\r\n"])
def test_no_answer_is_without_the_headers(site: Visitors, data: bytes) -> None:
    """Whoever makes it."""
    transport = StringTransport(peerAddress=PEER)
    channel = site.buildProtocol(PEER)
    channel.makeConnection(transport)
    channel.dataReceived(data)
    head = transport.value().decode().lower()
    assert head.startswith("http/1.0 4")
    for name in HEADERS:
        assert f"\r\n{name.lower()}: " in head


def test_the_api_tells_what_pages_show(site: Visitors) -> None:
    """As JSON, and as the first of the events."""
    body = asked(site, "GET", "/api/contest")[2]
    assert msgspec.json.decode(body, type=ContestCard) == CARD
    status, headers, events = asked(site, "GET", "/api/events")
    assert (status, headers["content-type"]) == (200, "text/event-stream")
    assert b"data: " + msgspec.json.encode(CARD) + b"\n\n" in events


class Alive(HTMLParser):
    """What a browser would run, or fetch from elsewhere."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found = list[str]()
        self.scripts = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of it."""
        self.scripts += tag == "script"
        self.found += self._hostile(dict(attrs))

    @staticmethod
    def _hostile(attributes: dict[str, str | None]) -> Iterator[str]:
        for name, value in attributes.items():
            if (
                name.startswith("on")
                or name == "src"
                or (name == "href" and (value or "")[:4] not in ("http", "key.", "api/", "tour"))
            ):
                yield f"{name}={value}"


def test_texts_of_others_stay_texts(site: Visitors) -> None:
    """Names, titles and the organiser's Markdown bring no script, no handler and no address of another host."""
    page = asked(site, "GET", "/")[2].decode()
    own = Alive(contest_page(ContestCard(title="", tournaments=[]), ""))
    assert Alive(page).scripts == own.scripts
    assert Alive(page).found == []
    assert "<strong>Hello</strong>" in page
    assert "\u202e" not in page
