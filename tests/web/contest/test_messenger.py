"""Webhooks and mail: what is sent to whom, how it is signed, and what happens when nobody takes it."""

import hashlib
import hmac
import json
import socketserver
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from twisted.internet.defer import maybeDeferred
from twisted.internet.task import Clock

from referee.errors import BadRequest
from referee.web.contest import messenger
from referee.web.contest.contest_file import MailServer
from referee.web.contest.messenger import (
    ADDRESSES,
    MAILS_AN_HOUR,
    MOST_WAITING,
    RETRY_S,
    SECRET,
    MailAddresses,
    Messenger,
    Outbox,
    post,
    send_mail,
)

FOUL = {"seat": 1, "cause": "crashed", "detail": "exit status 1: /home/organiser/bots/bob/player.py failed"}
FACTS = {"match": "cup-1", "names": ["ada", "bob"], "fouls": [FOUL], "result": "ada beat bob", "head": "5eed"}
URL = "https://receiver.example.org/hook"
SERVER = MailServer(host="127.0.0.1", port=25, sender="contest@example.org")


class Sent:
    """Stand-in for the network, which stores the messages."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.posts = list[tuple[str, bytes, dict[str, Any]]]()
        self.mails = list[tuple[str, ...]]()
        monkeypatch.setattr(messenger, "deferToThread", maybeDeferred)
        monkeypatch.setattr(messenger, "post", lambda url, key, body: self.posts.append((url, key, json.loads(body))))
        monkeypatch.setattr(messenger, "send_mail", lambda _, *mail: self.mails.append(mail))


def test_a_result_goes_to_the_organisers_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is signed with a key in a file that only its owner can read; nothing is sent during a freeze."""
    sent = Sent(monkeypatch)
    told = Messenger(Clock(), tmp_path, "Contest", "", URL, None, lambda *_, **__: None)
    told.report_result("cup", FACTS, is_frozen=True)
    assert sent.posts == []
    told.report_result("cup", FACTS, is_frozen=False)
    ((url, key, body),) = sent.posts
    assert (url, key) == (URL, (tmp_path / SECRET).read_bytes().strip())
    assert (tmp_path / SECRET).stat().st_mode & 0o077 == 0
    assert body == {
        "event": "match-over",
        "tournament": "cup",
        "match": "cup-1",
        "names": ["ada", "bob"],
        "result": "ada beat bob",
        "expelled": {"bob": "crashed"},
        "head": "5eed",
    }


def test_an_author_is_told_of_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An author with a mailbox gets a few messages an hour, without paths of the host, even in a freeze."""
    sent, clock = Sent(monkeypatch), Clock()
    told = Messenger(
        clock, tmp_path, "Contest\u202e", "https://contest.example.org/", None, SERVER, lambda *_, **__: None
    )
    told.report_result("cup", FACTS, is_frozen=True)
    assert sent.mails == []
    told.addresses.set("bob", "bob@example.org")
    told.addresses.set("ada", "ada@example.org")
    for _ in range(MAILS_AN_HOUR + 3):
        told.report_result("cup", FACTS, is_frozen=True)
    assert len(sent.mails) == MAILS_AN_HOUR
    to, subject, text = sent.mails[0]
    assert (to, subject) == ("bob@example.org", r"Contest\u202e: your program crashed in cup-1")
    assert ("player.py failed" in text, "/home" in text) == (True, False)
    assert "https://contest.example.org/author/matches/cup/cup-1\n" in text


@pytest.mark.parametrize(
    "address",
    [
        "bob",
        "@example.org",
        "bob@",
        "bob@host",
        "a b@example.org",
        "bob@example.org\nBcc: eve@example.org",
        "b,c@d.org",
    ],
)
def test_what_is_no_mailbox_is_refused(tmp_path: Path, address: str) -> None:
    """An address can't add a second receiver or a line of a header."""
    with pytest.raises(BadRequest, match="not a mail address"):
        MailAddresses(tmp_path / ADDRESSES).set("bob", address)


def test_mailboxes_outlive_the_server(tmp_path: Path) -> None:
    """They are in a file that only its owner can read."""
    MailAddresses(tmp_path / ADDRESSES).set("bob", "bob@example.org")
    again = MailAddresses(tmp_path / ADDRESSES)
    assert (again.find("bob"), again.find("ada")) == ("bob@example.org", "")
    assert (tmp_path / ADDRESSES).stat().st_mode & 0o077 == 0
    again.set("bob", "")
    assert MailAddresses(tmp_path / ADDRESSES).find("bob") == ""


def test_a_message_is_tried_again_and_then_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later messages wait; their number is bounded, and the log names those that were lost."""
    monkeypatch.setattr(messenger, "deferToThread", maybeDeferred)
    clock, noted, tries = Clock(), list[tuple[str, Any]](), list[int]()
    outbox = Outbox(clock, lambda event, **facts: noted.append((event, facts)))

    def _fail() -> None:
        tries.append(1)
        raise OSError("nobody is there")

    outbox.add("first", _fail)
    done = list[int]()
    for number in range(MOST_WAITING + 5):
        outbox.add("next", lambda number=number: done.append(number))  # type: ignore[misc]  # bound at once
    assert (len(tries), done) == (1, [])
    for wait_s in RETRY_S:
        clock.advance(wait_s)
    assert len(tries) == 1 + len(RETRY_S)
    assert noted == [("message-lost", {"about": "first", "error": "nobody is there"})]
    assert done == list(range(5, MOST_WAITING + 5))


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[Any]]]:
    """Return the address of an HTTP server, and the list of its requests; it redirects requests for /away."""
    kept = list[Any]()

    class _Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.append((self.path, self.headers, body))
            self.send_response(307 if self.path == "/away" else 204)
            self.send_header("Location", "/inside")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), _Receiver) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", kept
        server.shutdown()


def test_a_receiver_can_check_the_signature(receiver: tuple[str, list[Any]]) -> None:
    """It is an HMAC of the time and the body; a redirect is an error and leads nowhere."""
    address, kept = receiver
    post(f"{address}/hook", b"key", b'{"a":1}')
    ((_, headers, body),) = kept
    signed = headers["Referee-Timestamp"].encode() + b"." + body
    assert headers["Referee-Signature"] == f"sha256={hmac.new(b'key', signed, hashlib.sha256).hexdigest()}"
    with pytest.raises(OSError, match="307"):
        post(f"{address}/away", b"key", b"{}")
    assert [path for path, *_ in kept] == ["/hook", "/away"]


def test_a_mail_reaches_its_server() -> None:
    """The server gets it with subject, text, and one receiver."""
    lines = list[bytes]()

    class _Smtp(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            is_data = False
            for line in self.rfile:
                lines.append(line.strip())
                if is_data and line != b".\r\n":
                    continue
                is_data = line.upper().startswith(b"DATA")
                is_last = line.upper().startswith(b"QUIT")
                self.wfile.write(b"354 go on\r\n" if is_data else b"221 bye\r\n" if is_last else b"250 well\r\n")
                if is_last:
                    return

    with socketserver.TCPServer(("127.0.0.1", 0), _Smtp) as server:
        thread = Thread(target=server.handle_request, daemon=True)
        thread.start()
        to = MailServer(host="127.0.0.1", port=server.server_address[1], sender="contest@example.org")
        send_mail(to, "bob@example.org", "Contest: your program crashed", "KeyError: 7")
        thread.join(5)
    assert b"rcpt TO:<bob@example.org>" in lines
    assert {b"Subject: Contest: your program crashed", b"KeyError: 7"} <= set(lines)
