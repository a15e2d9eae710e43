"""A whole site for tests, without sockets: the answer of each address to each person."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_origin
from urllib.parse import urlencode, urljoin

import msgspec
import pytest
from msgspec import Struct, to_builtins
from msgspec.structs import fields
from twisted.internet.address import IPv4Address
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import ISSLTransport
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from zope.interface import directlyProvides  # type: ignore[import-untyped]  # it has no types

from referee.match.setup import DEFAULT_TIME
from referee.net.links.tokens import add_tokens
from referee.pages.tournament_json import VERSION, TournamentReport
from referee.plugins import find_game
from referee.web import author_service, http, organisers, replay_maker, signing_up, workshop
from referee.web.author_service import AuthorService
from referee.web.contest.intake import ActionLog
from referee.web.contest.messenger import MailAddresses
from referee.web.contest.notices import Notices
from referee.web.contest_json import (
    Announcement,
    Coming,
    ComingMatch,
    ContestCard,
    LastResult,
    Leader,
    OpenMatch,
    SignUp,
    TournamentCard,
)
from referee.web.event_streams import EventStreams, PersonStreams
from referee.web.guarded_routes import BodyLimits, MemberPages
from referee.web.live import LiveTable, LiveTables
from referee.web.members import Members
from referee.web.published import Searched, search
from referee.web.replay_maker import ReplayMaker
from referee.web.routes import SiteContent, make_site
from referee.web.sessions import Sessions, SiteRole, TokenFile
from referee.web.submissions.check_queue import CheckQueue
from referee.web.submissions.matches import AuthorsMatches
from referee.web.submissions.store import Store
from referee.web.visitors import Visitors
from referee.web.workshop import Workshop

from .services import StandInOrganiserService, StandInPractice, StandInSignUp

PAYLOAD = "<script>alert(1)</script>\"'&\u202e"
ABOUT = f"**Hello** {PAYLOAD} [a](javascript:alert(1)) ![b](http://other.host/b.png) <img src=x onerror=alert(1)>"
NOW = "2026-11-01T10:00:00Z"
ADDRESSES = [None, "tournaments/cup/entrants/bob.html"]
CARD = ContestCard(
    title=PAYLOAD,
    sign_up=SignUp.INVITATION,
    announcements=[Announcement(at="2026-12-01T18:00:00Z", by=PAYLOAD, text=PAYLOAD)],
    tournaments=[
        TournamentCard(
            name="cup",
            game="The Q game",
            format="swiss",
            entrants=2,
            state="is running",
            start=None,
            played=3,
            open_matches=[
                OpenMatch(
                    match="cup-4", names=[PAYLOAD, "bob"], addresses=ADDRESSES, round=2, opened="2026-12-01T18:00:00Z"
                )
            ],
            coming=Coming(
                matches=[ComingMatch(round=2, table=PAYLOAD, names=[PAYLOAD, "bob"], addresses=ADDRESSES)],
                left_out=3,
                why="Each begins as soon as a table and its players are free.",
                at=None,
            ),
            last=[LastResult(match="cup-1", result=PAYLOAD, address="tournaments/cup/replays/cup-1.html")],
            leaders=[Leader(place=1, name=PAYLOAD, address=None, points="2½")],
            ranked=1,
            reported=2,
            head="5eed" * 16,
            verifier=None,
        )
    ],
)
TABLE = LiveTable(
    tournament="cup",
    table=1,
    match="cup-4",
    round=2,
    names=[PAYLOAD, "bob"],
    addresses=ADDRESSES,
    opened="2026-12-01T18:00:00Z",
)


SPEC: dict[str, Any] = {
    **dict.fromkeys(("name", "game", "format"), "cup"),
    "seats": 2,
    "duplicate": False,
    "time": to_builtins(DEFAULT_TIME),
    "scoring": {},
    "tie_breaks": [],
}
"""A report's content about a spec, except for the entrants."""
REPORT = msgspec.convert(
    {
        "version": VERSION,
        "spec": {**SPEC, "entrants": [{"name": "bob", "rating": None}]},
        "head": "5eed",
        "order": "points",
        "state": "running",
        **dict.fromkeys(("played", "void"), 1),
        "disregarded": {},
        "fairness": None,
        **{field.name: () for field in fields(TournamentReport) if get_origin(field.type) is Sequence},
        "begun_at": [NOW],
    },
    TournamentReport,
)


class Answer(Struct, frozen=True):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


class _SecureTransport(StringTransport):
    """A connection over TLS."""

    def __init__(self, peer: Any) -> None:
        super().__init__(peerAddress=peer)  # type: ignore[no-untyped-call]  # Twisted has no types
        directlyProvides(self, ISSLTransport)

    def setTcpNoDelay(self, _enabled: object) -> None:
        """Do nothing; called by Twisted."""


class Browser:
    """A visitor of a site, with cookies.

    Args:
        site: that is visited.
        host: where from.
        is_secure: whether over TLS.
    """

    def __init__(self, site: Visitors, host: str = "10.0.0.1", *, is_secure: bool = False) -> None:
        self._site = site
        self._is_secure = is_secure
        self.set_cookies = list[str]()
        self.location = ""
        """The last redirect, as it was sent; answers have the whole path."""
        self.headers = dict[str, str]()
        """Headers of all its requests."""
        self._peer: Any = IPv4Address("TCP", host, 1)
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Send a request, and return the answer as far as it is there; names of headers have _ for -."""
        transport = self._asked(method, path, body, **headers)
        head, _, content = transport.value().partition(b"\r\n\r\n")
        status, *found = head.decode().split("\r\n")
        pairs = [line.split(": ", 1) for line in found]
        for at, (name, value) in enumerate(pairs):
            if name == "Location":
                self.location = value
                pairs[at] = (name, urljoin(path, value))
            if name == "Set-Cookie":
                key, _, cookie = value.partition(";")[0].partition("=")
                self.cookies[key] = cookie
                self.set_cookies.append(value)
        return Answer(int(status.split()[1]), {name.lower(): value for name, value in pairs}, content)

    def begin(self, method: str, path: str, body: bytes = b"", **headers: str) -> StringTransport:
        """Send a request, and return the connection on which its answer comes later."""
        return self._asked(method, path, body, **headers)

    def stream(self, path: str) -> StringTransport:
        """Return the connection of an answer that does not end."""
        return self._asked("GET", path, b"")

    def send(self, data: bytes) -> bytes:
        """Send bytes, and return the immediate answer."""
        transport = StringTransport(peerAddress=self._peer)
        channel = self._site.buildProtocol(self._peer)
        channel.makeConnection(transport)
        channel.dataReceived(data)
        return bytes(transport.value())

    def _asked(self, method: str, path: str, body: bytes, **headers: str) -> StringTransport:
        transport = _SecureTransport(self._peer) if self._is_secure else StringTransport(peerAddress=self._peer)
        channel = self._site.buildProtocol(self._peer)
        channel.makeConnection(transport)
        named = {name.replace("_", "-"): value for name, value in headers.items()} | self.headers
        named |= {"content-length": str(len(body))} if body or method == "PUT" else {}
        named |= {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        channel.dataReceived(f"{method} {path} HTTP/1.0\r\n{lines}\r\n".encode("latin-1") + body)
        return transport

    def fill_in(self, page: str, action: str, **fields: str) -> Answer:
        """Submit a form as a page has it."""
        shown = self.ask("GET", page).body.decode()
        token = re.search(r'name="form_token" value="(\w*)"', shown)
        body = urlencode({"form_token": token[1] if token else "", **fields}).encode()
        return self.ask("POST", action, body, content_type="application/x-www-form-urlencoded")

    def sign_in(self, token: str) -> Answer:
        """Sign in."""
        return self.fill_in("/sign-in", "/sign-in", token=token)


class TestSite:
    """A contest's site, with its authors ada and bob and its organiser ann.

    Args:
        folder: an empty one.
        patch: undone after the test: what runs in threads elsewhere runs at once here.
    """

    __test__ = False

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        for module in (author_service, http, organisers, replay_maker, signing_up):
            patch.setattr(module, "deferToThread", maybeDeferred)
        patch.setattr(workshop, "defer_to_workshop", maybeDeferred)
        self.folder = folder
        self.clock = Clock()
        self.tokens = add_tokens(folder / "authors.toml", ["ada", "bob"], may_renew=False)
        self.tokens |= add_tokens(folder / "organisers.toml", ["ann"], may_renew=False)
        self.authors, known = TokenFile(folder / "authors.toml"), TokenFile(folder / "organisers.toml")
        self.store = Store(folder / "submissions")
        self.noted = list[tuple[str, Any]]()
        self.checks = CheckQueue(self.clock, self.store, lambda: NOW, self._note, ())
        self.matches = AuthorsMatches(folder / "logs", self.store.root, find_game)
        service = AuthorService(self.store, self.checks, self.matches, self.clock.seconds, lambda: NOW, self._note)
        self.sessions = Sessions({SiteRole.AUTHOR: self.authors, SiteRole.ORGANISER: known}, self.clock.seconds)
        self.organisers = StandInOrganiserService(PAYLOAD, Notices(ActionLog(folder), lambda: None))
        self.practice = StandInPractice(PAYLOAD)
        self.sign_up = StandInSignUp(PAYLOAD)
        stand_ins: dict[str, Any] = {
            "organisers": self.organisers,
            "practice": self.practice,
            "sign_up": self.sign_up,
        }
        self.members = Members(
            sessions=self.sessions,
            body_limits=BodyLimits(self.sessions, self.authors),
            pages=MemberPages(PAYLOAD),
            authors=service,
            streams=PersonStreams(self.clock, lambda person: self.checks.stamp(person.name)),
            **stand_ins,
            mail=MailAddresses(folder / ".mail.json"),
            workshop=Workshop(self.clock.seconds),
            replays=ReplayMaker(self.clock.seconds, self._note),
            now=self.clock.seconds,
            note=self._note,
        )
        self.content = self._content()
        self.site = make_site(self.content, self.members, self.clock)

    def _note(self, event: str, /, **facts: Any) -> None:
        self.noted.append((event, facts))

    def _content(self) -> SiteContent:
        live = LiveTables(self.clock, "after")
        live.open_match(TABLE)
        folder = self.folder / "logs" / "cup"
        folder.mkdir(parents=True)
        for name in ("report.html", "standings.csv", "tournament.json", "../secret.html"):
            (folder / name).write_text("content")
        (folder / "replays").mkdir()
        (folder / "replays" / "cup-1.html").touch()
        (folder / "entrants").mkdir()
        (folder / "entrants" / "bob.html").touch()
        names = [PAYLOAD, "bob"]
        matches = [("cup-1", names), ("cup-2", names)]
        self.searched = [
            Searched(
                name="cup", folder=folder, head="5eed" * 16, is_over=False, entrants=[("bob", "bob")], matches=matches
            )
        ]
        return SiteContent(
            title=PAYLOAD,
            about=ABOUT,
            address="https://contest.example.org/",
            card=lambda _leaders=0: CARD,
            folders={"cup": folder},
            is_over=lambda _name: False,
            public_key=b"-----BEGIN PUBLIC KEY-----\n",
            streams=EventStreams(self.clock, lambda: msgspec.json.encode(CARD)),
            live=live,
            report=lambda name: REPORT if name == "cup" else None,
            search=lambda query: search(query, self.searched),
        )

    def visitor(self) -> Browser:
        """Return somebody who is not signed in."""
        return Browser(self.site)

    def program(self, name: str) -> Browser:
        """Return a person's program, which sends the token with each request."""
        browser = self.visitor()
        browser.headers["authorization"] = f"Bearer {self.tokens[name]}"
        return browser

    def signed_in(self, name: str) -> Browser:
        """Return somebody who is."""
        browser = self.visitor()
        assert browser.sign_in(self.tokens[name]).status == 303
        return browser
